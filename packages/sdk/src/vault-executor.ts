import { parseBaseUrl } from './base-url.ts'
import type { ClientSettings } from './client.ts'
import { clientError, invalid } from './errors.ts'
import { checkHeaders, openAnswer, send } from './transport.ts'

/** A request that the executor sends to a provider. */
interface VaultRequest {
  /** The HTTP method: GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS. */
  method: string
  /** An `https:` URL that the rules of the provider allow. It must not contain a placeholder (see `headers`). */
  url: string
  /**
   * The headers. A value may contain the placeholder `{{skerry:API_KEY}}` or `{{skerry:ACCESS_TOKEN}}`, which the
   * executor replaces with the credential. If the request has no placeholder, the executor puts in the credential as
   * the provider requires it.
   */
  headers?: Record<string, string>
  /** The body as a text. It may contain the same placeholders as a header. */
  body?: string
}

/** A request to a provider, and the connection whose credential the request uses. */
export interface VaultFetch {
  /**
   * The product's own id of the person. If the connection belongs to another person, the executor refuses the request.
   */
  userRef: string
  /** The id of the connection. */
  connectionId: string
  request: VaultRequest
  /**
   * If you abort this signal, the client aborts the request. If the response has already begun, the client stops
   * reading the body.
   */
  signal?: AbortSignal
}

/** A browser that is open for a connection. */
interface VaultLease {
  /** The id of the open browser, `vls_...`. Pass it to the other functions of `VaultBrowsers`. */
  leaseId: string
  /** The id of the DevTools session of the browser, for programs that use the DevTools protocol themselves. */
  sessionId: string
  /** The id of the DevTools target of the page, for the same programs. */
  targetId: string
  /** The time at which the browser closes by itself: ISO 8601, UTC. */
  expiresAt: string
  /** True if the browser is signed in at the site. */
  signedIn: boolean
}

/**
 * An open browser: the product's own id of the person whose account the browser uses, and the `leaseId` from `open`.
 */
type OfLease = { userRef: string; leaseId: string }

/** The functions with which the backend of a product uses a browser in the vault executor. */
export interface VaultBrowsers {
  /**
   * Starts a browser with the saved session of the connection, for example the cookies of the last sign-in.
   * `keepAliveMs` is the time in milliseconds after which the browser closes by itself, from 10,000 to 1,800,000 (30
   * minutes). Default: 300,000 (5 minutes).
   */
  open(call: { userRef: string; connectionId: string; keepAliveMs?: number }): Promise<VaultLease>
  /**
   * Fills a field of the sign-in page with the stored login of the connection. This works only on pages of the origins
   * where people sign in to the provider.
   */
  fill(call: OfLease & { field: 'username' | 'password' | 'totp' }): Promise<{ filled: true }>
  /**
   * Closes the browser. The executor saves the session, so that the next browser is signed in, unless `save` is false
   * or the settings of the site forbid it. `signedIn` in the result says whether the browser was still signed in. It is
   * null if the executor did not check this.
   */
  release(call: OfLease & { save?: boolean }): Promise<{ saved: boolean; signedIn: boolean | null }>
  /**
   * Creates a link (`liveViewUrl`) with which the person can sign in again, in this browser. `expiresAt` is the time at
   * which the link expires: ISO 8601, UTC.
   */
  reauth(call: OfLease): Promise<{ liveViewUrl: string; expiresAt: string }>
}

/** The settings with which a client reaches the vault executor. */
export interface ExecutorSettings extends Pick<ClientSettings, 'fetch' | 'timeoutMs' | 'allowInsecure'> {
  /** The URL of the vault executor. */
  executorUrl: string
  /** The token that callers send to the executor. It is the executor's setting `SKERRY_EXECUTOR_TOKEN`. */
  executorToken: string
  /** A function that returns the present time, in milliseconds since 1970. For tests. */
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

/**
 * The address of a vault executor and the fingerprint of its key, for a link. The client gets both from the executor
 * itself, and not from the server.
 */
export interface VaultIdentity {
  /** The origin at which browsers reach the executor: `https://executor.example.com`. */
  origin: string
  /** The thumbprint (RFC 7638) of the public key for which credentials are now encrypted. */
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
