import { parseBaseUrl } from './base-url.ts'
import type { ClientSettings } from './client.ts'
import { clientError, invalid } from './errors.ts'
import { checkHeaders, openAnswer, send } from './transport.ts'

/** A request that the executor sends to a provider. */
interface VaultRequest {
  /** GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS. */
  method: string
  /** An https URL that a rule of the provider covers. It may contain no placeholder. */
  url: string
  /**
   * May contain `{{skerry:API_KEY}}` or `{{skerry:ACCESS_TOKEN}}`. Without a placeholder, the executor inserts the
   * credential itself.
   */
  headers?: Record<string, string>
  /** Text, with placeholders as in headers. */
  body?: string
}

/** A request, and the connection whose credential it uses. */
export interface VaultFetch {
  userRef: string
  connectionId: string
  request: VaultRequest
  /** Aborts the request, even while its answer is being read. */
  signal?: AbortSignal
}

/** A browser that is open for a connection. */
interface VaultLease {
  /** The id to pass to the other calls, `vls_...`. */
  leaseId: string
  /** The DevTools session and target, for programs that speak the DevTools protocol themselves. */
  sessionId: string
  targetId: string
  /** When the browser closes by itself: ISO 8601, UTC. */
  expiresAt: string
  /** Whether the site treats the browser as signed in. */
  signedIn: boolean
}

type OfLease = { userRef: string; leaseId: string }

export interface VaultBrowsers {
  /**
   * Starts a browser with the session that its person left. `keepAliveMs`: milliseconds, 10,000 to 1,800,000. Default:
   * 300,000.
   */
  open(call: { userRef: string; connectionId: string; keepAliveMs?: number }): Promise<VaultLease>
  /** Fills a field of the sign-in page with the stored login. Works only at the origins where people sign in. */
  fill(call: OfLease & { field: 'username' | 'password' | 'totp' }): Promise<{ filled: true }>
  /** Closes the browser. Its session is saved unless `save` is false. `signedIn` is null if that was not checked. */
  release(call: OfLease & { save?: boolean }): Promise<{ saved: boolean; signedIn: boolean | null }>
  /** Creates a link with which the person signs in again, in this browser. `expiresAt` is ISO 8601, UTC. */
  reauth(call: OfLease): Promise<{ liveViewUrl: string; expiresAt: string }>
}

/** How the executor is reached. */
export interface ExecutorSettings extends Pick<ClientSettings, 'fetch' | 'timeoutMs' | 'allowInsecure'> {
  /** The URL of the project's executor. */
  executorUrl: string
  /** The token that callers must send to the executor. */
  executorToken: string
  /** The clock, milliseconds since 1970. For tests. */
  now?: () => number
}

export interface VaultExecutor {
  /** Fetches the executor's identity and caches it for a minute. A failure is not cached. */
  identity(): Promise<VaultIdentity>
  /** Makes the next call of `identity` ask the executor again. Used when the server has refused the cached identity. */
  forgetIdentity(): void
  fetch(call: VaultFetch): Promise<Response>
  reactivate(call: { userRef: string; connectionId: string }): Promise<{ status: 'active' }>
  browser: VaultBrowsers
}

/** The executor's identity in a link. The identity comes from the executor itself, and not from the server. */
export interface VaultIdentity {
  /** The origin at which browsers reach it: `https://executor.example.com`. */
  origin: string
  /** RFC 7638 thumbprint of its current wrapping key. */
  thumbprint: string
}

/** After a rotation of the executor's key, links name the new key within this time. */
const identityMaxAgeMs = 60_000

/** Creates the client with which a product's backend calls the executor. */
export function openExecutor(settings: ExecutorSettings): VaultExecutor {
  const { executorUrl, executorToken, allowInsecure = false } = settings
  const transport = {
    baseUrl: parseBaseUrl(executorUrl, { allowInsecure, setting: 'executorUrl' }),
    fetch: settings.fetch ?? ((url: string, init: RequestInit) => globalThis.fetch(url, init)),
    timeoutMs: settings.timeoutMs ?? 30_000,
    ...{ attempts: 3, backoffMs: 200, retryAfterMaxMs: 10_000, answerMaxBytes: 64 * 1024, secrets: [executorToken] },
  }
  if (!/^[\x21-\x7e]+$/.test(executorToken))
    throw invalid(
      'executorToken: must be printable ASCII without spaces, the same as SKERRY_EXECUTOR_TOKEN of the executor',
    )
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
      // The executor marks its own refusals with this header. Every other answer comes from the provider, whatever its
      // status.
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

/** Caches the identity. Concurrent calls share one request. A clock that is set back does not extend the cache time. */
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

/** The check for each member of an answer. */
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
  if (wrong !== undefined) throw clientError('malformed_answer', `it is not the answer of an executor (${wrong})`)
  return found as T
}

/** Returns undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
