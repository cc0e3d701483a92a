import { createHash } from 'node:crypto'
import { type JsonAnswer, type JsonRequest, sendJson, statusFailure } from '../http.ts'
import type { Outbound } from '../outbound.ts'
import { errorTextOf, ProviderError } from '../provider-error.ts'

/** How one destination is called: what each request carries, and how it says that it refuses. */
export interface Api {
  outbound: Outbound
  headers: Readonly<Record<string, string>>
  credential: string
  /** What an error body says, in the words or codes of the destination; null where it says nothing. */
  readErrorText(body: unknown): string | null
  /** A refusal that the status does not show, or shows wrongly. Null leaves it to the status. */
  refusal?(answer: JsonAnswer, errorText: string | null): ProviderError | null
  /** When to come again after too many requests, where it is not said by `Retry-After`. */
  pauseMs?(answer: JsonAnswer, now: Date): number | undefined
}

/** A list of more pages is refused: a list without end would keep a run for ever. */
const pagesMax = 200

/** Where a destination asks for a pause and does not say how long. */
const pauseMs = 60_000

/** Sends one request, and throws the refusal that its answer is. `values` are those in the request: no reason repeats them. */
export async function call(api: Api, request: JsonRequest, values: readonly string[] = []): Promise<JsonAnswer> {
  const { outbound, headers } = api
  const answer = await sendJson(outbound, { ...request, headers: { ...headers, ...request.headers } })
  const errorText = api.readErrorText(answer.body)
  const safe = errorText === null ? null : errorTextOf(errorText, [api.credential, bareOf(api.credential), ...values])
  const refusal = api.refusal?.(answer, safe) ?? statusFailure(answer, outbound.now(), safe)
  if (refusal === null) return answer
  if (refusal.reason !== 'rate_limited' || refusal.retryAfterMs) throw refusal
  const wait = api.pauseMs?.(answer, outbound.now())
  throw new ProviderError('rate_limited', refusal.message, wait && wait > 0 ? wait : pauseMs)
}

/**
 * Reads a list page by page. `read` gets the cursor of the page, null for the first one, and answers the rows with the next
 * cursor, null after the last page. A list that does not end is refused, because its first part would pass for all of it: names
 * in the rest would look as if they were not there.
 */
export async function readPages<Row, Cursor>(
  what: string,
  read: (cursor: Cursor | null) => Promise<{ rows: readonly Row[]; next: Cursor | null }>,
): Promise<Row[]> {
  const all: Row[] = []
  let cursor: Cursor | null = null
  for (let page = 0; page < pagesMax; page++) {
    const { rows, next }: { rows: readonly Row[]; next: Cursor | null } = await read(cursor)
    all.push(...rows)
    if (next === null) return all
    cursor = next
  }
  throw new ProviderError('failed', `the list of ${what} does not end`)
}

/** A credential may be given with its scheme. */
const bareOf = (credential: string) => credential.trim().replace(/^\S+\s+/, '')

/** The credential without spaces around it and without a scheme. Refuses what no header can carry. */
export function tokenOf(credential: string): string {
  const token = credential.trim().replace(/^Bearer\s+/i, '')
  if (!/^[\u0021-\u007e]+$/.test(token))
    throw new ProviderError('invalid', 'the access token is empty, or holds spaces or control characters')
  return token
}

/** For removals: what is gone already counts as removed. */
export function ignoreMissing(error: unknown): void {
  if (!(error instanceof ProviderError && error.reason === 'missing')) throw error
}

/** A revision for destinations that show values: it changes with the value, and can be stored in its place. */
export const digestOf = (value: string) => createHash('sha256').update(value).digest('base64url')

/** Keeps the shape of an answer honest: an object, or nothing that can be worked with. */
export function objectOf(body: unknown, what: string): Record<string, unknown> {
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    throw new ProviderError('failed', `the answer holds no ${what}`)
  return body as Record<string, unknown>
}

/** The same for a list of objects. */
export function listOf(body: unknown, what: string): Record<string, unknown>[] {
  if (!Array.isArray(body)) throw new ProviderError('failed', `the answer holds no list of ${what}`)
  return body.map((each) => objectOf(each, what))
}
