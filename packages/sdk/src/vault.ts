import type { Answer, Body } from '@skerry/contract/endpoint'
import type { vaultPlatform } from '@skerry/contract/vault/platform'
import { encodeUtf8 } from '@skerry/crypto/base64url'
import { parseBaseUrl } from './base-url.ts'
import { type ClientSettings, createClient } from './client.ts'
import { invalid, RefusedError, SkerryError } from './errors.ts'
import {
  type ExecutorSettings,
  openExecutor,
  parseJson,
  type VaultBrowsers,
  type VaultFetch,
  type VaultIdentity,
} from './vault-executor.ts'

export type VaultConnection = Answer<typeof vaultPlatform.connection>['connection']
export type VaultSession = Answer<typeof vaultPlatform.session>['session']

export type VaultWebhookEndpoint = Answer<typeof vaultPlatform.createWebhook>['endpoint']

export interface VaultSettings
  extends ExecutorSettings,
    Pick<ClientSettings, 'baseUrl' | 'fetch' | 'timeoutMs' | 'allowInsecure'> {
  /** A platform key, `skv_...`, for a product's backend. Anyone who has it can create links in the product's name. */
  key: string
  /** The page that people are sent to. Default: `/connect` of the server. */
  connectUrl?: string
}

/** A link to send to a person, and the id of its session, which later shows the result. */
export interface VaultLink {
  url: string
  sessionId: string
  expiresAt: string
  /** The executor that the link names, and its key. */
  executor: VaultIdentity
}

type NewSession = Omit<Body<typeof vaultPlatform.createSession>, 'executor'>
type Filter = { userRef?: string; status?: VaultConnection['status']; cursor?: string; limit?: number }

export interface Vault {
  /** Creates a link with which a person connects an account. `connectionId` is the id of the future connection. */
  connect(
    session: Omit<NewSession, 'purpose' | 'connectionId'>,
  ): Promise<VaultLink & { connectionId: string; method: VaultConnection['method'] }>
  /** Creates a link with which a person repairs one of their connections. */
  reconnect(session: Omit<NewSession, 'purpose'> & { connectionId: string }): Promise<VaultLink>
  /** Creates a link with which a person sees and revokes their connections. */
  manage(session: Body<typeof vaultPlatform.createManageSession>): Promise<VaultLink>
  session(sessionId: string): Promise<VaultSession>
  connections(filter?: Filter): Promise<{ connections: VaultConnection[]; nextCursor: string | null }>
  connection(connectionId: string): Promise<VaultConnection>
  revoke(connectionId: string): Promise<VaultConnection>
  /**
   * Deletes everything of one person: connections with their credentials, links, and webhook deliveries. The deletion
   * sends no webhook. You may call this function again.
   *
   * @returns how much was deleted, and the digest that names the person in the audit log from then on.
   * @example await vault.eraseUser('user-1')
   */
  eraseUser(userRef: string): Promise<Answer<typeof vaultPlatform.eraseUser>>
  /**
   * Makes the executor send a request to a provider, with the credential of a connection. Returns the provider's
   * answer, whatever its status, while it arrives: its body can be read once. If the provider repeats the credential,
   * the executor redacts it. The request is sent once, and `timeoutMs` limits the wait for the beginning of the answer.
   *
   * @throws RefusedError of the executor: `invalid_request`, `not_allowed`, `user_mismatch`, `not_found`,
   *   `connection_revoked`, `reauth_required`, `body_too_large`, `unauthorized`. UnavailableError: `provider_failed` if
   *   the provider did not answer, `unavailable` and `timeout` if the executor or its server did not.
   * @example
   * const request = { method: 'GET', url: 'https://api.example.com/v1/things' }
   * const response = await vault.fetch({ userRef: 'user-1', connectionId, request })
   */
  fetch(call: VaultFetch): Promise<Response>
  /**
   * Sets a connection to `active` again if its credential may still be good, for example after an outage of the
   * provider. The next `fetch` shows whether the credential is good.
   *
   * @throws RefusedError `conflict` if only the person can repair it, because the refresh token is gone or it is a
   *   browser session. `user_mismatch`, `not_found`, `connection_revoked`, `unauthorized`. UnavailableError as for
   *   `fetch`.
   * @example await vault.reactivate({ userRef: 'user-1', connectionId })
   */
  reactivate(call: { userRef: string; connectionId: string }): Promise<{ status: 'active' }>
  /**
   * Browsers for sites that have no API.
   *
   * @throws The errors of `fetch`; `conflict` if the page or the login has no such field, or a person is signing in
   *   there. UnavailableError `limit_reached` if the executor's maximum number of browsers is open.
   */
  browser: VaultBrowsers
  webhooks: VaultWebhooks
}

/**
 * Registers the URLs to which the server sends webhooks about connections. Check received webhooks with
 * `verifyWebhook`.
 */
export interface VaultWebhooks {
  /** `available` is false if the server has no key to sign webhooks with, so that the server sends no webhooks. */
  list(): Promise<Answer<typeof vaultPlatform.webhooks>>
  /** The secret is returned only this once. */
  create(webhook: Body<typeof vaultPlatform.createWebhook>): Promise<Answer<typeof vaultPlatform.createWebhook>>
  delete(webhookId: string): Promise<void>
  /** Sends a `ping` now and returns the result. */
  test(webhookId: string): Promise<Answer<typeof vaultPlatform.testWebhook>>
}

/**
 * Creates the vault client for a product's backend: it creates links for users, lists their connections and uses them.
 * Only the executor has credentials; none passes through this client.
 *
 * A link names the executor and its key. The name and the key come from the executor itself, so that the server cannot
 * substitute its own. The client caches both for a minute, and fetches both again when the server refuses them. A
 * rotated key or a replaced executor therefore needs no restart of the backend.
 *
 * @throws SkerryError `invalid_request` if a setting is wrong. The functions of the vault throw RefusedError,
 *   UnavailableError, SkerryError `malformed_answer`.
 * @example
 * const executor = { executorUrl: 'https://executor.example.com', executorToken: token }
 * const vault = createVault({ baseUrl, key: 'skv_...', ...executor })
 * const { url } = await vault.connect({ userRef: 'user-1', providerId: 'acme', returnUrl: 'https://app.example.com/done' })
 */
export function createVault(settings: VaultSettings): Vault {
  const { key, connectUrl, executorUrl: _, executorToken: _token, ...rest } = settings
  if (!/^skv_[A-Za-z0-9_-]+$/.test(key)) throw invalid('key: must be a platform key of the vault project (skv_...)')
  const { vaultPlatform } = createClient({ ...rest, credential: { bearer: key } })
  const { baseUrl, allowInsecure = false } = settings
  const base = (connectUrl ?? `${parseBaseUrl(baseUrl, { allowInsecure })}/connect`).replace(/\/$/, '')
  const executor = openExecutor(settings)
  const linkOf = (session: { id: string; token: string; expiresAt: string }, identity: VaultIdentity): VaultLink => {
    const [{ id, token, expiresAt }, { origin, thumbprint }] = [session, identity]
    const fragment = `t=${token}&x=${encodeURIComponent(origin)}&k=${thumbprint}`
    return { url: `${base}/#${fragment}`, sessionId: id, expiresAt, executor: identity }
  }
  const createSession = async (body: NewSession & { purpose?: 'reconnect' }) => {
    const create = async (identity: VaultIdentity) => {
      const { session } = await vaultPlatform.createSession({ body: { ...body, executor: identity } })
      return { session, link: linkOf(session, identity) }
    }
    const kept = await executor.identity()
    try {
      return await create(kept)
    } catch (error) {
      if (!(error instanceof RefusedError) || error.code !== 'conflict') throw error
      executor.forgetIdentity()
      const current = await executor.identity()
      if (current.origin === kept.origin && current.thumbprint === kept.thumbprint) throw error
      return create(current)
    }
  }
  return {
    async connect(body) {
      const { session, link } = await createSession(body)
      const { connectionId, method } = session
      return { ...link, connectionId, method }
    },
    reconnect: async (body) => (await createSession({ ...body, purpose: 'reconnect' })).link,
    async manage(body) {
      const identity = await executor.identity()
      return linkOf((await vaultPlatform.createManageSession({ body })).session, identity)
    },
    session: async (connectSessionId) => (await vaultPlatform.session({ params: { connectSessionId } })).session,
    connections: (query = {}) => vaultPlatform.connections({ query }),
    connection: async (id) => (await vaultPlatform.connection({ params: { vaultConnectionId: id } })).connection,
    revoke: async (id) => (await vaultPlatform.revoke({ params: { vaultConnectionId: id } })).connection,
    eraseUser: (userRef) => vaultPlatform.eraseUser({ params: { userRef } }),
    fetch: executor.fetch,
    reactivate: executor.reactivate,
    browser: executor.browser,
    webhooks: {
      list: () => vaultPlatform.webhooks(),
      create: (body) => vaultPlatform.createWebhook({ body }),
      delete: async (id) => void (await vaultPlatform.deleteWebhook({ params: { vaultWebhookId: id } })),
      test: (id) => vaultPlatform.testWebhook({ params: { vaultWebhookId: id } }),
    },
  }
}

export interface VaultWebhook {
  /** The same in every delivery of this webhook. */
  id: string
  type: string
  createdAt: string
  projectId: string
  /** null for a `ping`. */
  data: { connection: VaultConnection | null }
}

export interface VaultWebhookRequest {
  /** The whole secret, `whsec_...`. */
  secret: string
  /** The request headers, with names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** The body as received, byte for byte: not parsed and serialized again. */
  body: string
  /** How far the sender's clock may differ from this one. Default: 300 s. */
  toleranceSeconds?: number
  /** The clock. For tests. */
  now?: () => Date
}

/**
 * Verifies a webhook and returns its content. The headers may be named `skerry-webhook-...` or `seekrit-webhook-...`.
 *
 * @throws SkerryError `invalid_request` if the webhook is not signed with this secret, is too old, or is malformed.
 * @example const { type, data } = await verifyWebhook({ secret: 'whsec_...', headers, body })
 */
export async function verifyWebhook(request: VaultWebhookRequest): Promise<VaultWebhook> {
  const { secret, body, toleranceSeconds = 300, now = () => new Date() } = request
  const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((name) => headerOf(request, name))
  const seconds = /^\d{1,12}$/.test(timestamp ?? '') ? Number(timestamp) : Number.NaN
  const isFresh = Math.abs(now().getTime() / 1000 - seconds) <= toleranceSeconds
  if (!isFresh) throw invalid('the timestamp of the webhook is missing, or differs too much from the current time')
  const [, hex] = /^v1=([0-9a-f]{64})$/.exec(signature ?? '') ?? []
  if (hex === undefined || !(await isSigned(secret, `${id}.${timestamp}.${body}`, hex)))
    throw invalid('the webhook is not signed with this secret')
  const event = parseJson(body) as VaultWebhook | null | undefined
  if (event?.id !== id) throw invalid('the webhook’s body and header have different ids')
  return event as VaultWebhook
}

function headerOf({ headers }: VaultWebhookRequest, name: string): string | undefined {
  const value = headers[`skerry-webhook-${name}`] ?? headers[`seekrit-webhook-${name}`]
  return typeof value === 'string' ? value : undefined
}

/** WebCrypto compares in constant time. */
async function isSigned(secret: string, text: string, hex: string): Promise<boolean> {
  if (secret === '') throw new SkerryError('invalid_request', 'secret: must not be empty')
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', encodeUtf8(secret), algorithm, false, ['verify'])
  const signature = Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
  return crypto.subtle.verify('HMAC', key, signature, encodeUtf8(text))
}
