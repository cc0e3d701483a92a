import { type JsonAnswer, type JsonRequest, sendJson, statusFailure } from '../http.ts'
import type { Outbound } from '../outbound.ts'
import { errorTextOf, ProviderError } from '../provider-error.ts'
import { headerCredential } from './checks.ts'
import { oneByOne, withRevisions } from './one-by-one.ts'
import type { SyncChanges, SyncConnection, SyncEntry, SyncFacts, SyncPlace, SyncSession } from './provider.ts'

// Secrets of Hugging Face Spaces, through the Hub’s API (https://huggingface.co/.well-known/openapi.json). There is no
// call for several names, and the API never returns values.

const ORIGIN = 'https://huggingface.co'

export function describe(place: SyncPlace<'ml-spaces'>): SyncFacts {
  return {
    // The Hub ignores case in names.
    places: [`space/${place.destination.repoId.toLowerCase()}`],
    limits: {
      name: {
        pattern: '^[A-Za-z][A-Za-z0-9_]*$',
        words: 'letters, digits and underscores, beginning with a letter',
        reserved: ['SPACE_*'],
        form: 'exact',
        prefix: '',
      },
      valueBytesMax: null,
      emptyValues: true,
      totalBytesMax: null,
      pushNamesMax: 50,
      pushIntervalMs: 1000,
    },
    effects: ['The Space restarts once for each secret that is written or removed.'],
  }
}

export function open(connection: SyncConnection<'ml-spaces'>, outbound: Outbound): SyncSession {
  const token = headerCredential(connection.credential)
  const space = `${outbound.origin('ml-spaces', ORIGIN)}/api/spaces/${connection.destination.repoId}`
  let mayWrite = false

  async function call(request: Omit<JsonRequest, 'headers'>, value = ''): Promise<JsonAnswer> {
    const answer = await sendJson(outbound, { ...request, headers: { authorization: `Bearer ${token}` } })
    const failure = statusFailure(answer, outbound.now(), readErrorText(answer.body, [token, value]))
    if (failure?.reason !== 'rate_limited') {
      if (failure) throw failure
      return answer
    }
    throw new ProviderError('rate_limited', failure.message, failure.retryAfterMs ?? windowEndMs(answer))
  }

  /** Refuses a static Space, because it sends its secrets to every visitor’s browser. */
  async function refuseStatic(): Promise<void> {
    if (mayWrite) return
    const { body } = await call({ method: 'GET', url: space })
    if ((body as { sdk?: unknown } | undefined)?.sdk === 'static')
      throw new ProviderError('unsupported', 'the Space is static, so it would show its secrets to every visitor')
    mayWrite = true
  }

  async function list(): Promise<SyncEntry[]> {
    const secrets = await call({ method: 'GET', url: `${space}/secrets` })
    const variables = await call({ method: 'GET', url: `${space}/variables` })
    const locked = 'The Space has a public variable with this name.'
    return [
      ...entries(secrets.body).map(([name, { updatedAt }]) => ({ name, revision: updatedAt ?? null })),
      ...entries(variables.body).map(([name]) => ({ name, revision: null, locked })),
    ]
  }

  return {
    async verify() {
      await refuseStatic()
      await call({ method: 'GET', url: `${space}/secrets` })
      return { notes: [] }
    },
    list,
    async push(changes: SyncChanges) {
      await refuseStatic()
      const url = `${space}/secrets`
      const outcome = await oneByOne(changes, {
        async write({ name, value }) {
          await call({ method: 'POST', url, json: { key: name, value } }, value)
          return { revision: null, memo: null }
        },
        async remove({ name }) {
          await call({ method: 'DELETE', url, json: { key: name } }).catch(unlessMissing)
        },
      })
      return await withRevisions(outcome, list)
    },
  }
}

function entries(body: unknown): [string, { updatedAt?: string }][] {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new ProviderError('failed', 'the answer contains no list of names')
  return Object.entries(body)
}

function unlessMissing(error: unknown): void {
  if (!(error instanceof ProviderError && error.reason === 'missing')) throw error
}

/** `RateLimit: "api";r=0;t=42` names the seconds until the window ends. */
function windowEndMs({ headers }: JsonAnswer): number | undefined {
  const [, seconds] = /;t=(\d{1,6})/.exec(headers.ratelimit ?? '') ?? []
  return seconds === undefined ? undefined : Number(seconds) * 1000
}

function readErrorText(body: unknown, secrets: readonly string[]): string | null {
  const error = (body as { error?: unknown } | undefined)?.error
  return typeof error === 'string' ? errorTextOf(error, secrets) : null
}
