import { parseBaseUrl } from './base-url.ts'
import type { ClientSettings } from './client.ts'
import { clientError, invalid } from './errors.ts'
import { checkHeaders, openAnswer, send } from './transport.ts'

/** A request that a provider is to get. */
interface VaultRequest {
  /** GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS. */
  method: string
  /** https, and covered by a rule of the provider. It can hold no placeholder. */
  url: string
  /** May hold `{{skerry:API_KEY}}` or `{{skerry:ACCESS_TOKEN}}`; without one, the executor puts the credential in itself. */
  headers?: Record<string, string>
  /** Text, with placeholders as in headers. */
  body?: string
}

/** A request, and the connection with whose credential it is sent. */
export interface VaultFetch {
  userRef: string
  connectionId: string
  request: VaultRequest
  /** Gives the request up, also while its answer is read. */
  signal?: AbortSignal
}

/** A browser that is open for a connection. */
interface VaultLease {
  /** `vls_...`; what the other calls ask for. */
  leaseId: string
  /** For programs that speak the DevTools protocol themselves. */
  sessionId: string
  targetId: string
  /** When the browser ends by itself: ISO 8601, UTC. */
  expiresAt: string
  /** Whether the site lets the browser in as its person. */
  signedIn: boolean
}

type OfLease = { userRef: string; leaseId: string }

export interface VaultBrowsers {
  /** Starts a browser as its person left it. `keepAliveMs`: milliseconds, 10,000 to 1,800,000; 300,000 unless given. */
  open(call: { userRef: string; connectionId: string; keepAliveMs?: number }): Promise<VaultLease>
  /** Fills a field of the sign-in page with the stored login. Only at the origins where people sign in. */
  fill(call: OfLease & { field: 'username' | 'password' | 'totp' }): Promise<{ filled: true }>
  /** Ends the browser. Its session is kept unless `save` is false; `signedIn` is null where nobody looked. */
  release(call: OfLease & { save?: boolean }): Promise<{ saved: boolean; signedIn: boolean | null }>
  /** A link with which the person signs in again, in this browser. `expiresAt` is ISO 8601, UTC. */
  reauth(call: OfLease): Promise<{ liveViewUrl: string; expiresAt: string }>
}

/** How the executor is reached. */
export interface ExecutorSettings extends Pick<ClientSettings, 'fetch' | 'timeoutMs' | 'allowInsecure'> {
  /** Where the project's executor is reached. */
  executorUrl: string
  /** The token that the executor asks its callers for. */
  executorToken: string
  /** The clock, milliseconds since 1970. For tests. */
  now?: () => number
}

export interface VaultExecutor {
  /** The executor's own answer, kept for a minute. A failed request is not kept. */
  identity(): Promise<VaultIdentity>
  /** Asks the executor again at the next call of `identity`: the server has refused the one that is kept. */
  forgetIdentity(): void
  fetch(call: VaultFetch): Promise<Response>
  reactivate(call: { userRef: string; connectionId: string }): Promise<{ status: 'active' }>
  browser: VaultBrowsers
}

/** What a link names of the executor, as the executor itself says. */
export interface VaultIdentity {
  /** Where browsers reach it: `https://executor.example.com`. */
  origin: string
  /** RFC 7638 thumbprint of its current wrapping key. */
  thumbprint: string
}

/** After a rotation of the executor's key, links name the new key within this time. */
const identityMaxAgeMs = 60_000

/** What a product's backend asks the executor for, with its token. */
export function openExecutor(settings: ExecutorSettings): VaultExecutor {
  const { executorUrl, executorToken, allowInsecure = false } = settings
  const transport = {
    baseUrl: parseBaseUrl(executorUrl, { allowInsecure, setting: 'executorUrl' }),
    fetch: settings.fetch ?? ((url: string, init: RequestInit) => globalThis.fetch(url, init)),
    timeoutMs: settings.timeoutMs ?? 30_000,
    ...{ attempts: 3, backoffMs: 200, retryAfterMaxMs: 10_000, answerMaxBytes: 64 * 1024, secrets: [executorToken] },
  }
  if (!/^[\x21-\x7e]+$/.test(executorToken))
    throw invalid('executorToken: printable ASCII without spaces expected, as SKERRY_EXECUTOR_TOKEN of the executor')
  const asking = { accept: 'application/json', authorization: `Bearer ${executorToken}` }
  checkHeaders(asking)
  const headers = { ...asking, 'content-type': 'application/json' }
  const post = async <T>(path: string, body: object, shape: Shape): Promise<T> =>
    read<T>((await send(transport, { method: 'POST', path, headers, body: JSON.stringify(body) })).text, shape)
  const askIdentity = async () =>
    read<VaultIdentity>(
      (await send(transport, { method: 'GET', path: '/v1/identity', headers: asking })).text,
      shapes.identity,
    )
  return {
    ...keepIdentity(askIdentity, settings.now ?? Date.now),
    async fetch({ signal, userRef, connectionId, request }) {
      const body = JSON.stringify({ userRef, connectionId, request })
      const outgoing = { method: 'POST', path: '/v1/fetch', headers, body, ...(signal && { signal }) }
      // The executor marks its own refusals: all else is the provider's answer, whatever its status.
      const isRefused = ({ headers }: { headers: Pick<Headers, 'get'> }) => headers.get('x-skerry-vault-error') !== null
      return (await openAnswer(transport, outgoing, isRefused)) as Response
    },
    reactivate: (call) => post('/v1/reactivate', call, shapes.reactivated),
    browser: {
      open: (call) => post('/v1/browser/open', call, shapes.lease),
      fill: (call) => post('/v1/browser/fill', call, shapes.filled),
      release: (call) => post('/v1/browser/release', call, shapes.released),
      reauth: (call) => post('/v1/browser/reauth', call, shapes.asked),
    },
  }
}

/** Calls that come together ask once. A clock that was set back does not make an identity last longer. */
function keepIdentity(ask: () => Promise<VaultIdentity>, now: () => number) {
  let kept: { answer: Promise<VaultIdentity>; askedAtMs: number } | undefined
  const isFresh = (askedAtMs: number) => askedAtMs <= now() && now() - askedAtMs < identityMaxAgeMs
  return {
    identity(): Promise<VaultIdentity> {
      if (kept && isFresh(kept.askedAtMs)) return kept.answer
      const asked = { answer: ask(), askedAtMs: now() }
      kept = asked
      asked.answer.catch(() => {
        if (kept === asked) kept = undefined
      })
      return asked.answer
    },
    forgetIdentity() {
      kept = undefined
    },
  }
}

/** What each member of an answer has to be. */
type Shape = Record<string, (value: unknown) => boolean>

const isText = (value: unknown) => typeof value === 'string' && value !== ''
const isFlag = (value: unknown) => typeof value === 'boolean'
const isTime = (value: unknown) => typeof value === 'string' && !Number.isNaN(Date.parse(value))

const shapes = {
  identity: {
    origin: (value) => typeof value === 'string' && URL.parse(value)?.origin === value,
    thumbprint: (value) => typeof value === 'string' && /^[A-Za-z0-9_-]{43}$/.test(value),
  },
  lease: { leaseId: isText, sessionId: isText, targetId: isText, expiresAt: isTime, signedIn: isFlag },
  reactivated: { status: (value) => value === 'active' },
  filled: { filled: (value) => value === true },
  released: { saved: isFlag, signedIn: (value) => value === null || isFlag(value) },
  asked: { liveViewUrl: (value) => isText(value) && URL.canParse(String(value)), expiresAt: isTime },
} satisfies Record<string, Shape>

function read<T>(text: string, shape: Shape): T {
  const found = parseJson(text) as Record<string, unknown> | null | undefined
  const wrong = Object.keys(shape).find((name) => !shape[name]!(found?.[name]))
  if (wrong !== undefined) throw clientError('malformed_answer', `not what an executor answers: ${wrong}`)
  return found as T
}

/** Undefined for what is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
