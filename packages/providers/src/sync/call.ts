import { createHash } from 'node:crypto'
import { type JsonAnswer, type JsonRequest, sendJson, statusFailure } from '../http.ts'
import type { Outbound } from '../outbound.ts'
import { errorTextOf, ProviderError } from '../provider-error.ts'

/** The API of one destination: the headers of each request, and how its refusals are recognized. */
export interface Api {
  outbound: Outbound
  headers: Readonly<Record<string, string>>
  credential: string
  /** Reads the error text of a body, in the words or codes of the destination. Null if there is none. */
  readErrorText(body: unknown): string | null
  /** Detects a refusal that the status does not show, or shows wrongly. Null if the status decides. */
  refusal?(answer: JsonAnswer, errorText: string | null): ProviderError | null
  /** Returns how long to wait after too many requests, if `Retry-After` does not say it. */
  pauseMs?(answer: JsonAnswer, now: Date): number | undefined
}

/** A longer list is refused, because a run would never finish a list without end. */
const pagesMax = 200

/** The pause if a destination requests one and names no time. */
const pauseMs = 60_000

/**
 * Sends one request, and throws if its answer is a refusal. Errors never repeat the `values` that the request contains.
 */
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
 * Reads a list page by page. `read` gets the cursor of the page, null for the first one. It returns the rows and the
 * next cursor, null after the last page. A list that does not end is refused, because the names in its unread rest
 * would seem to be missing.
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
  throw new ProviderError('failed', `the list of ${what} is too long`)
}

/** Removes the scheme with which a credential may be given. */
const bareOf = (credential: string) => credential.trim().replace(/^\S+\s+/, '')

/**
 * Returns the credential without spaces around it and without a scheme. Refuses characters that no header can carry.
 */
export function tokenOf(credential: string): string {
  const token = credential.trim().replace(/^Bearer\s+/i, '')
  if (!/^[\u0021-\u007e]+$/.test(token))
    throw new ProviderError('invalid', 'the access token is empty or contains spaces or control characters')
  return token
}

/** Ignores that the object to remove is already missing: it counts as removed. */
export function ignoreMissing(error: unknown): void {
  if (!(error instanceof ProviderError && error.reason === 'missing')) throw error
}

/**
 * A revision for destinations that show values. The revision changes with the value, and can be stored instead of the
 * value.
 */
export const digestOf = (value: string) => createHash('sha256').update(value).digest('base64url')

/** Returns the body if it is an object, and throws if it is not. */
export function objectOf(body: unknown, what: string): Record<string, unknown> {
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    throw new ProviderError('failed', `the answer contains no ${what}`)
  return body as Record<string, unknown>
}

/** Returns the body if it is a list of objects, and throws if it is not. */
export function listOf(body: unknown, what: string): Record<string, unknown>[] {
  if (!Array.isArray(body)) throw new ProviderError('failed', `the answer contains no list of ${what}`)
  return body.map((each) => objectOf(each, what))
}
