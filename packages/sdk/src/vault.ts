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
  /**
   * An API key of the vault for the backend of a product, `skv_...`. Anyone who has the key can create links in the
   * name of the product.
   */
  key: string
  /** The address of the Connect page for the links. Default: `/connect` on the server. */
  connectUrl?: string
}

/**
 * A link for a person. `session(sessionId)` of `Vault` returns the state of the link, such as whether the person has
 * connected the account.
 */
export interface VaultLink {
  url: string
  sessionId: string
  expiresAt: string
  /** The executor that the link names, with its key. */
  executor: VaultIdentity
}

type NewSession = Omit<Body<typeof vaultPlatform.createSession>, 'executor'>
type Filter = { userRef?: string; status?: VaultConnection['status']; cursor?: string; limit?: number }

export interface Vault {
  /** Creates a link with which a person connects an account. The new connection will have the id `connectionId`. */
  connect(
    session: Omit<NewSession, 'purpose' | 'connectionId'>,
  ): Promise<VaultLink & { connectionId: string; method: VaultConnection['method'] }>
  /** Creates a link with which a person connects the account of one of their connections again. */
  reconnect(session: Omit<NewSession, 'purpose'> & { connectionId: string }): Promise<VaultLink>
  /** Creates a link with which a person can see and revoke their connections. */
  manage(session: Body<typeof vaultPlatform.createManageSession>): Promise<VaultLink>
  session(sessionId: string): Promise<VaultSession>
  connections(filter?: Filter): Promise<{ connections: VaultConnection[]; nextCursor: string | null }>
  connection(connectionId: string): Promise<VaultConnection>
  revoke(connectionId: string): Promise<VaultConnection>
  /**
   * Deletes all data of one person: connections with their credentials, links, and webhooks that are not delivered yet.
   * The server sends no webhook about this. You can call the function again.
   *
   * @returns the number of deleted objects, and a digest. From now on, the audit log shows the digest and not the
   *   person's id.
   * @example await vault.eraseUser('user-1')
   */
  eraseUser(userRef: string): Promise<Answer<typeof vaultPlatform.eraseUser>>
  /**
   * Makes the executor send a request to a provider, with the credential of a connection. Returns the response of the
   * provider, whatever its status. The body is a stream, so you can read it once. If the provider repeats the
   * credential in the response, the executor removes it. The request is not repeated. `timeoutMs` limits the time until
   * the response begins.
   *
   * @throws RefusedError of the executor: `invalid_request`, `not_allowed`, `user_mismatch`, `not_found`,
   *   `connection_revoked`, `reauth_required`, `body_too_large`, `unauthorized`. UnavailableError: `provider_failed` if
   *   the provider did not answer, `unavailable` or `timeout` if the executor or the Skerry server did not answer.
   * @example
   * const request = { method: 'GET', url: 'https://api.example.com/v1/things' }
   * const response = await vault.fetch({ userRef: 'user-1', connectionId, request })
   */
  fetch(call: VaultFetch): Promise<Response>
  /**
   * Sets a connection to `active` again, for example after an outage of the provider. The next `fetch` shows whether
   * its credential still works.
   *
   * @throws RefusedError `conflict` if the person must connect the account again, because the refresh token is lost or
   *   the credential is a browser session. `user_mismatch`, `not_found`, `connection_revoked`, `unauthorized`.
   *   UnavailableError as for `fetch`.
   * @example await vault.reactivate({ userRef: 'user-1', connectionId })
   */
  reactivate(call: { userRef: string; connectionId: string }): Promise<{ status: 'active' }>
  /**
   * Opens and drives browsers, for sites that have no API.
   *
   * @throws The errors of `fetch`; `conflict` if the page or the login has no such field, or if a person is signing in
   *   on this page. UnavailableError `limit_reached` if the executor cannot open more browsers now.
   */
  browser: VaultBrowsers
  webhooks: VaultWebhooks
}

/**
 * Registers the URLs to which the server sends webhooks about connections. Check received webhooks with
 * `verifyWebhook`.
 */
export interface VaultWebhooks {
  /** `available` is false if the server has no server key. It then sends no webhooks, because it cannot sign them. */
  list(): Promise<Answer<typeof vaultPlatform.webhooks>>
  /** Registers a URL. The result contains the secret of the webhook, which the server does not show again. */
  create(webhook: Body<typeof vaultPlatform.createWebhook>): Promise<Answer<typeof vaultPlatform.createWebhook>>
  delete(webhookId: string): Promise<void>
  /** Makes the server send a webhook of the type `ping` at once. Returns the result. */
  test(webhookId: string): Promise<Answer<typeof vaultPlatform.testWebhook>>
}

/**
 * Creates the vault client for the backend of a product. It creates links for users, lists their connections, and sends
 * requests with the connected accounts. Only the executor has the credentials of these accounts. They never pass
 * through this client.
 *
 * A link names the executor and its key. The client gets both from the executor itself, so that the server cannot put
 * in its own key. The client caches them for a minute. If the server refuses them, the client asks the executor again.
 * Therefore you need not restart the backend after a rotation of the key or a replacement of the executor.
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
  /** The id of the webhook. If the server sends the webhook again, the id is the same. */
  id: string
  type: string
  createdAt: string
  projectId: string
  /** `connection` is null in a `ping`. */
  data: { connection: VaultConnection | null }
}

export interface VaultWebhookRequest {
  /** The whole secret, `whsec_...`. */
  secret: string
  /** The request headers, with names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** The body exactly as you received it. Do not parse it and serialize it again. */
  body: string
  /** How much the clock of the server may differ from the clock of this machine. Default: 300 s. */
  toleranceSeconds?: number
  /** The clock. For tests. */
  now?: () => Date
}

/**
 * Verifies the signature of a webhook, and returns its content. The names of the headers may begin with
 * `skerry-webhook-` or with `seekrit-webhook-`.
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
