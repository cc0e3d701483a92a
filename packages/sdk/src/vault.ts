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

/**
 * A vault connection: one account at another service that a user of your product has connected. Only the vault
 * executor, a program that you run, has the credential of the account.
 */
export type VaultConnection = Answer<typeof vaultPlatform.connection>['connection']
/**
 * The state of a link that `Vault` created for a person. The link leads to the Connect page, on which the person
 * connects an account.
 */
export type VaultSession = Answer<typeof vaultPlatform.session>['session']

/** A URL of your product, to which the server sends webhooks about connections. */
export type VaultWebhookEndpoint = Answer<typeof vaultPlatform.createWebhook>['endpoint']

/** The settings of `createVault`. */
export interface VaultSettings
  extends ExecutorSettings,
    Pick<ClientSettings, 'baseUrl' | 'fetch' | 'timeoutMs' | 'allowInsecure'> {
  /**
   * An API key of the vault for the backend of a product: `skv_...`. Keep it secret: everyone who has it can create
   * links in the name of the product.
   */
  key: string
  /** The URL of the Connect page, to which the links lead. Default: `/connect` on the server. */
  connectUrl?: string
}

/** A link to the Connect page, for one person. */
export interface VaultLink {
  /** The link. Open it in the person's browser. Everyone who has the link can use it until it expires. */
  url: string
  /**
   * The id of the link. `session` of `Vault` returns the state of the link, such as whether the account is connected.
   */
  sessionId: string
  /** The time at which the link expires: ISO 8601, UTC. */
  expiresAt: string
  /**
   * The vault executor whose address and fingerprint of the key are in the link. The Connect page encrypts credentials
   * for this key.
   */
  executor: VaultIdentity
}

/**
 * The settings of a link, without the executor. The client adds the address of the executor and the fingerprint of its
 * key.
 */
type NewSession = Omit<Body<typeof vaultPlatform.createSession>, 'executor'>
/** Limits a list of connections to one person (`userRef`) or one status. `limit` is the length of a page. */
type Filter = { userRef?: string; status?: VaultConnection['status']; cursor?: string; limit?: number }

/** The vault client for the backend of a product. See `createVault`. */
export interface Vault {
  /**
   * Creates a link with which a person connects an account. `connectionId` in the result is the id of the new
   * connection.
   */
  connect(
    session: Omit<NewSession, 'purpose' | 'connectionId'>,
  ): Promise<VaultLink & { connectionId: string; method: VaultConnection['method'] }>
  /** Creates a link with which a person connects an account again, for an existing connection. */
  reconnect(session: Omit<NewSession, 'purpose'> & { connectionId: string }): Promise<VaultLink>
  /** Creates a link with which a person can see and revoke their connections. */
  manage(session: Body<typeof vaultPlatform.createManageSession>): Promise<VaultLink>
  /** Returns the state of a link. */
  session(sessionId: string): Promise<VaultSession>
  /**
   * Lists connections, one page at a time. To get the next page, pass `nextCursor` as `cursor`. On the last page,
   * `nextCursor` is null.
   */
  connections(filter?: Filter): Promise<{ connections: VaultConnection[]; nextCursor: string | null }>
  /** Returns one connection. */
  connection(connectionId: string): Promise<VaultConnection>
  /** Revokes a connection. From then on, the vault executor refuses every request that uses this connection. */
  revoke(connectionId: string): Promise<VaultConnection>
  /**
   * Deletes all data of one person: connections with their credentials, links, and webhooks that are not delivered yet.
   * The server sends no webhook about this. A second call for the same person throws no error.
   *
   * @param userRef the product's own id of the person.
   * @returns the number of deleted objects, and a digest. After this call, the audit log shows the digest instead of
   *   the id of the person.
   * @example await vault.eraseUser('user-1')
   */
  eraseUser(userRef: string): Promise<Answer<typeof vaultPlatform.eraseUser>>
  /**
   * Makes the vault executor send a request to a provider, with the credential of a connection. Returns the response of
   * the provider, even if its status is an error. The body is a stream, so you can read it only once. If the response
   * contains the credential, the executor removes the credential. The client sends the request once, and does not
   * repeat it after an error. `timeoutMs` limits the time until the response begins.
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
   * Sets the status of a connection to `active` again, for example after an outage of the provider. The next `fetch`
   * shows whether the credential of the connection still works.
   *
   * @throws RefusedError `conflict` if the person must connect the account again, because the refresh token is missing
   *   or no longer works, or because the credential is a browser session. RefusedError `user_mismatch`, `not_found`,
   *   `connection_revoked`, `unauthorized`. UnavailableError as for `fetch`.
   * @example await vault.reactivate({ userRef: 'user-1', connectionId })
   */
  reactivate(call: { userRef: string; connectionId: string }): Promise<{ status: 'active' }>
  /**
   * Opens browsers that are signed in to the account of a connection, for sites that have no API.
   *
   * @throws The errors of `fetch`; `conflict` if the page or the stored login does not have the field that you want to
   *   fill, or if a person is signing in on this page. UnavailableError `limit_reached` if the executor cannot open
   *   more browsers now.
   */
  browser: VaultBrowsers
  /** Registers the URLs to which the server sends webhooks. */
  webhooks: VaultWebhooks
}

/**
 * The functions that register the URLs to which the server sends webhooks about connections. Check the webhooks that
 * you receive with `verifyWebhook`.
 */
export interface VaultWebhooks {
  /**
   * Lists the registered URLs. If `available` is false, the server has no server key. It then cannot sign webhooks, so
   * it sends none.
   */
  list(): Promise<Answer<typeof vaultPlatform.webhooks>>
  /** Registers a URL. The result contains the secret of the webhook, which the server does not show again. */
  create(webhook: Body<typeof vaultPlatform.createWebhook>): Promise<Answer<typeof vaultPlatform.createWebhook>>
  /** Deletes a URL. The server then sends no more webhooks to this URL. */
  delete(webhookId: string): Promise<void>
  /** Makes the server send a webhook of the type `ping` to the URL at once. Returns the result. */
  test(webhookId: string): Promise<Answer<typeof vaultPlatform.testWebhook>>
}

/**
 * Creates the vault client for the backend of a product. The client creates links for users, lists their connections,
 * and sends requests with the connected accounts. Only the vault executor, a program that you run, has the credentials
 * of these accounts. The executor sends the requests, so the credentials never pass through this client.
 *
 * A link contains the address of the executor and the fingerprint of its key. The client gets both from the executor,
 * so that the server cannot put in its own key. The client remembers the address and the fingerprint for a minute. If
 * the server refuses them, the client asks the executor again. You therefore need not restart the backend after
 * somebody replaces the executor or its key.
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

/** The content of a webhook: a request that the server sent to your URL. */
export interface VaultWebhook {
  /** The id of the webhook. If the server sends the webhook again, the id is the same. */
  id: string
  /** The event: `connection.ready`, `connection.reauth_required`, `connection.revoked`, or `ping` for a test. */
  type: string
  /** The time of the event: ISO 8601, UTC. */
  createdAt: string
  /** The id of the vault project. */
  projectId: string
  /** The connection that the event is about. Null for a `ping`. */
  data: { connection: VaultConnection | null }
}

/**
 * A request that your URL received, and the secret with which `verifyWebhook` checks that the request is a webhook of
 * the server.
 */
export interface VaultWebhookRequest {
  /** The whole secret of the webhook, `whsec_...`, as `webhooks.create` returned it. */
  secret: string
  /** The headers of the request. Their names must be in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** The body exactly as you received it. Do not parse it and serialize it again. */
  body: string
  /** How many seconds the time of the webhook may differ from the clock of this machine. Default: 300. */
  toleranceSeconds?: number
  /** A function that returns the present time. For tests. */
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
