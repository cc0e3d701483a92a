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
  /** A platform key, `skv_...`. For a product's backend: its holder can make links in the product's name. */
  key: string
  /** Where people are sent; `/connect` of the server unless given. */
  connectUrl?: string
}

/** A link to send a person to, and the session by which to ask what became of it. */
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
  /** A link with which a person connects an account. `connectionId` is what the connection will be called. */
  connect(
    session: Omit<NewSession, 'purpose' | 'connectionId'>,
  ): Promise<VaultLink & { connectionId: string; method: VaultConnection['method'] }>
  /** A link with which a person repairs a connection of theirs. */
  reconnect(session: Omit<NewSession, 'purpose'> & { connectionId: string }): Promise<VaultLink>
  /** A link with which a person sees and revokes what they have connected. */
  manage(session: Body<typeof vaultPlatform.createManageSession>): Promise<VaultLink>
  session(sessionId: string): Promise<VaultSession>
  connections(filter?: Filter): Promise<{ connections: VaultConnection[]; nextCursor: string | null }>
  connection(connectionId: string): Promise<VaultConnection>
  revoke(connectionId: string): Promise<VaultConnection>
  /**
   * Deletes everything of one person: connections with their credentials, links, and webhook deliveries. No webhook is told. Again
   * is fine.
   *
   * @returns how much was deleted, and the digest by which the audit log goes on naming the person.
   * @example await vault.eraseUser('user-1')
   */
  eraseUser(userRef: string): Promise<Answer<typeof vaultPlatform.eraseUser>>
  /**
   * Has the executor send a request to a provider, with the credential of a connection -> the provider's answer, whatever its
   * status, as it comes in: its body can be read once. What the provider repeats of the credential is taken out. It is sent
   * once, and `timeoutMs` is for the beginning of the answer.
   *
   * @throws RefusedError of the executor: `invalid_request`, `not_allowed`, `user_mismatch`, `not_found`,
   *   `connection_revoked`, `reauth_required`, `body_too_large`, `unauthorized`. UnavailableError: `provider_failed` where the
   *   provider did not answer, `unavailable` and `timeout` where the executor or its server did not.
   * @example
   * const request = { method: 'GET', url: 'https://api.example.com/v1/things' }
   * const response = await vault.fetch({ userRef: 'user-1', connectionId, request })
   */
  fetch(call: VaultFetch): Promise<Response>
  /**
   * Makes a connection `active` again whose credential may still be good, for example after an outage of the provider. The next
   * `fetch` finds out.
   *
   * @throws RefusedError `conflict` where only the person can repair it: a refresh token that is gone, or a browser session.
   *   `user_mismatch`, `not_found`, `connection_revoked`, `unauthorized`. UnavailableError as `fetch`.
   * @example await vault.reactivate({ userRef: 'user-1', connectionId })
   */
  reactivate(call: { userRef: string; connectionId: string }): Promise<{ status: 'active' }>
  /**
   * Browsers for sites that have no API.
   *
   * @throws as `fetch`; `conflict` where the page or the login has no such field, or a person is signing in there.
   *   UnavailableError `limit_reached` where as many browsers are open as the executor allows.
   */
  browser: VaultBrowsers
  webhooks: VaultWebhooks
}

/** Where the server tells of what happens to connections; `verifyWebhook` is for what it sends. */
export interface VaultWebhooks {
  /** `available` is false where the server cannot sign, and so sends nothing. */
  list(): Promise<Answer<typeof vaultPlatform.webhooks>>
  /** The secret is shown this once. */
  create(webhook: Body<typeof vaultPlatform.createWebhook>): Promise<Answer<typeof vaultPlatform.createWebhook>>
  delete(webhookId: string): Promise<void>
  /** Sends a `ping` now, and tells what came of it. */
  test(webhookId: string): Promise<Answer<typeof vaultPlatform.testWebhook>>
}

/**
 * The vault for a product's backend: links for its users, what they have connected, and the use of it. Credentials are the
 * executor's; none comes through here.
 *
 * A link names the executor and its key. Both come from the executor itself, so that the server cannot put its own in. They
 * are kept for a minute, and asked for again when the server refuses them: a rotated key or a replaced executor needs no
 * restart of the backend.
 *
 * @throws SkerryError `invalid_request` for settings that cannot work. The operations throw RefusedError, UnavailableError,
 *   SkerryError `malformed_answer`.
 * @example
 * const executor = { executorUrl: 'https://executor.example.com', executorToken: token }
 * const vault = createVault({ baseUrl, key: 'skv_...', ...executor })
 * const { url } = await vault.connect({ userRef: 'user-1', providerId: 'acme', returnUrl: 'https://app.example.com/done' })
 */
export function createVault(settings: VaultSettings): Vault {
  const { key, connectUrl, executorUrl: _, executorToken: _token, ...rest } = settings
  if (!/^skv_[A-Za-z0-9_-]+$/.test(key)) throw invalid('key: a platform key of the vault project expected (skv_...)')
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
  /** The same each time that it is delivered. */
  id: string
  type: string
  createdAt: string
  projectId: string
  /** null for a `ping`. */
  data: { connection: VaultConnection | null }
}

export interface VaultWebhookRequest {
  /** `whsec_...`, whole. */
  secret: string
  /** By their names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** As it came, byte for byte: not parsed and written anew. */
  body: string
  /** How far the sender's clock may be from this one; 300 unless given. */
  toleranceSeconds?: number
  /** For tests. */
  now?: () => Date
}

/**
 * Verifies a webhook, and gives what it tells. The headers may be named `skerry-webhook-...` or `seekrit-webhook-...`.
 *
 * @throws SkerryError `invalid_request` for one that is not signed with this secret, is too old, or is of another form.
 * @example const { type, data } = await verifyWebhook({ secret: 'whsec_...', headers, body })
 */
export async function verifyWebhook(request: VaultWebhookRequest): Promise<VaultWebhook> {
  const { secret, body, toleranceSeconds = 300, now = () => new Date() } = request
  const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((name) => headerOf(request, name))
  const seconds = /^\d{1,12}$/.test(timestamp ?? '') ? Number(timestamp) : Number.NaN
  const isFresh = Math.abs(now().getTime() / 1000 - seconds) <= toleranceSeconds
  if (!isFresh) throw invalid('the timestamp of the webhook is missing, or too far from now')
  const [, hex] = /^v1=([0-9a-f]{64})$/.exec(signature ?? '') ?? []
  if (hex === undefined || !(await isSigned(secret, `${id}.${timestamp}.${body}`, hex)))
    throw invalid('the webhook is not signed with this secret')
  const event = parseJson(body) as VaultWebhook | null | undefined
  if (event?.id !== id) throw invalid('the body of the webhook has another id than its header')
  return event as VaultWebhook
}

function headerOf({ headers }: VaultWebhookRequest, name: string): string | undefined {
  const value = headers[`skerry-webhook-${name}`] ?? headers[`seekrit-webhook-${name}`]
  return typeof value === 'string' ? value : undefined
}

/** WebCrypto compares in constant time. */
async function isSigned(secret: string, text: string, hex: string): Promise<boolean> {
  if (secret === '') throw new SkerryError('invalid_request', 'secret: is empty')
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', encodeUtf8(secret), algorithm, false, ['verify'])
  const signature = Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
  return crypto.subtle.verify('HMAC', key, signature, encodeUtf8(text))
}
