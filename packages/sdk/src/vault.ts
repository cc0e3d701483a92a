import type { Answer, Body } from '@skerry/contract/endpoint'
import type { vaultPlatform } from '@skerry/contract/vault-platform'
import { encodeUtf8 } from '@skerry/crypto/base64url'
import { parseBaseUrl } from './base-url.ts'
import { type ClientSettings, createClient } from './client.ts'
import { clientError, invalid, SkerryError } from './errors.ts'
import { checkHeaders, send } from './transport.ts'

export type VaultConnection = Answer<typeof vaultPlatform.connection>['connection']
export type VaultSession = Answer<typeof vaultPlatform.session>['session']

export type VaultWebhookEndpoint = Answer<typeof vaultPlatform.createWebhook>['endpoint']

export interface VaultSettings extends Pick<ClientSettings, 'baseUrl' | 'fetch' | 'timeoutMs' | 'allowInsecure'> {
  /** A platform key, `skv_...`. For a product's backend: its holder can make links in the product's name. */
  key: string
  /** Where the project's executor is reached. */
  executorUrl: string
  /** The token that the executor asks its callers for. */
  executorToken: string
  /** Where people are sent; `/connect` of the server unless given. */
  connectUrl?: string
}

/** A link to send a person to, and the session by which to ask what became of it. */
export interface VaultLink {
  url: string
  sessionId: string
  expiresAt: string
}

type NewSession = Body<typeof vaultPlatform.createSession>
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
 * The vault for a product's backend: links for its users, and what they have connected. Credentials are the executor's; none
 * comes through here.
 *
 * A link names the executor and its key as the executor itself tells them, once for each client: the server cannot put its
 * own in.
 *
 * @throws SkerryError `invalid_request` for settings that cannot work. The operations throw RefusedError, UnavailableError,
 *   SkerryError `malformed_answer`.
 * @example
 * const vault = createVault({ baseUrl, key, executorUrl, executorToken })
 * const { url } = await vault.connect({ userRef: 'user-1', providerId: 'acme', returnUrl: 'https://app.example.com/done' })
 */
export function createVault(settings: VaultSettings): Vault {
  const { key, connectUrl, executorUrl: _, executorToken: _token, ...rest } = settings
  const { vaultPlatform } = createClient({ ...rest, credential: { bearer: key } })
  const base = (connectUrl ?? `${parseBaseUrl(settings.baseUrl, insecure(settings))}/connect`).replace(/\/$/, '')
  const identify = identityOf(settings)
  const linkOf = async ({ id, token, expiresAt }: { id: string; token: string; expiresAt: string }) => {
    const { origin, thumbprint } = await identify()
    const fragment = `t=${token}&x=${encodeURIComponent(origin)}&k=${thumbprint}`
    return { url: `${base}/#${fragment}`, sessionId: id, expiresAt }
  }
  return {
    async connect(body) {
      const { session } = await vaultPlatform.createSession({ body })
      const { connectionId, method } = session
      return { ...(await linkOf(session)), connectionId, method }
    },
    async reconnect(body) {
      return linkOf((await vaultPlatform.createSession({ body: { ...body, purpose: 'reconnect' } })).session)
    },
    async manage(body) {
      return linkOf((await vaultPlatform.createManageSession({ body })).session)
    },
    session: async (connectSessionId) => (await vaultPlatform.session({ params: { connectSessionId } })).session,
    connections: (query = {}) => vaultPlatform.connections({ query }),
    connection: async (id) => (await vaultPlatform.connection({ params: { vaultConnectionId: id } })).connection,
    revoke: async (id) => (await vaultPlatform.revoke({ params: { vaultConnectionId: id } })).connection,
    webhooks: {
      list: () => vaultPlatform.webhooks(),
      create: (body) => vaultPlatform.createWebhook({ body }),
      delete: async (id) => void (await vaultPlatform.deleteWebhook({ params: { vaultWebhookId: id } })),
      test: (id) => vaultPlatform.testWebhook({ params: { vaultWebhookId: id } }),
    },
  }
}

const insecure = ({ allowInsecure = false }: VaultSettings) => ({ allowInsecure })

interface Identity {
  origin: string
  thumbprint: string
}

/** Asks once; a failure is asked again. */
function identityOf(settings: VaultSettings): () => Promise<Identity> {
  const { executorUrl, executorToken } = settings
  const transport = {
    baseUrl: parseBaseUrl(executorUrl, insecure(settings)),
    fetch: settings.fetch ?? ((url: string, init: RequestInit) => globalThis.fetch(url, init)),
    timeoutMs: settings.timeoutMs ?? 30_000,
    ...{ attempts: 3, backoffMs: 200, retryAfterMaxMs: 10_000, answerMaxBytes: 64 * 1024, secrets: [executorToken] },
  }
  const headers = { accept: 'application/json', authorization: `Bearer ${executorToken}` }
  checkHeaders(headers)
  let known: Promise<Identity> | undefined
  return () => {
    known ??= send(transport, { method: 'GET', path: '/v1/identity', headers }).then(({ text }) => readIdentity(text))
    known.catch(() => {
      known = undefined
    })
    return known
  }
}

function readIdentity(text: string): Identity {
  const { origin, thumbprint } = (parse(text) ?? {}) as Partial<Record<string, unknown>>
  const isOrigin = typeof origin === 'string' && URL.parse(origin)?.origin === origin
  if (!isOrigin || typeof thumbprint !== 'string' || !/^[A-Za-z0-9_-]{43}$/.test(thumbprint))
    throw clientError('malformed_answer', 'not the identity of an executor')
  return { origin, thumbprint }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
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
 * @example const { type, data } = await verifyWebhook({ secret, headers: request.headers, body: rawBody })
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
  const event = parse(body) as VaultWebhook | null | undefined
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
