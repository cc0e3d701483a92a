import { createPrivateKey } from 'node:crypto'
import { cloudTtlDefaultMaxSeconds } from '@skerry/contract/lease-providers'
import { JWT } from 'google-auth-library'
import { sendJson, statusFailure } from '../http.ts'
import { type Outside, OutsideError, type OutsideRequest } from '../outside.ts'
import { ProviderError, safeText } from '../provider-error.ts'
import { answerMs, checkConfig } from './checks.ts'
import type { Issued, Lease, LeaseSession, LeaseTarget, TargetFacts } from './provider.ts'

// Google IAM Credentials generateAccessToken. No token can be taken back.

type Config = LeaseTarget<'cloud-b'>['config']

const ORIGIN = 'https://iamcredentials.googleapis.com'
const everything = 'https://www.googleapis.com/auth/cloud-platform'

interface ServiceAccountKey {
  client_email: string
  private_key: string
  private_key_id: string
}

export async function open(target: LeaseTarget<'cloud-b'>, outside: Outside): Promise<LeaseSession<'cloud-b'>> {
  const { config, credential, origin } = target
  checkConfig(config)
  const session = new GoogleSession(config, readKey(credential), outside, origin)
  return {
    verify: () => session.verify(),
    create: (lease) => session.create(lease),
    revoke: async () => {},
    list: async () => [],
    close: async () => {},
  }
}

/** Its `token_uri` is not read: the key would decide where its own signature is sent. */
function readKey(credential: string): ServiceAccountKey {
  const refuse = (why: string) => new ProviderError('invalid', `base credential: ${why}`)
  let key: Record<string, unknown> | null
  try {
    key = JSON.parse(credential)
  } catch {
    throw refuse('is not JSON')
  }
  const { type, client_email, private_key, private_key_id, universe_domain = 'googleapis.com' } = key ?? {}
  if (type !== 'service_account') throw refuse('is not the key of a service account')
  if (universe_domain !== 'googleapis.com') throw refuse('is of another universe than googleapis.com')
  if (typeof client_email !== 'string' || typeof private_key !== 'string' || typeof private_key_id !== 'string')
    throw refuse('lacks client_email, private_key or private_key_id')
  try {
    createPrivateKey(private_key)
  } catch {
    throw refuse('its private_key cannot be read')
  }
  return { client_email, private_key, private_key_id }
}

class GoogleSession {
  private readonly config: Config
  private readonly key: ServiceAccountKey
  private readonly outside: Outside
  private readonly origin: string | undefined
  private token: string | undefined

  constructor(config: Config, key: ServiceAccountKey, outside: Outside, origin: string | undefined) {
    this.config = config
    this.key = key
    this.outside = outside
    this.origin = origin
  }

  /** Makes a token that lives as long as the target may allow: a cap shows itself now, and not at a mint. */
  async verify(): Promise<TargetFacts> {
    await this.generate(this.config.maxTtlSeconds ?? cloudTtlDefaultMaxSeconds)
    return {
      server: 'Google IAM Credentials',
      notes: [
        `The base credential is ${this.key.client_email}.`,
        'A token stays valid until it expires: revoking a lease marks the ledger alone.',
      ],
    }
  }

  async create(lease: Lease<'cloud-b'>): Promise<Issued<'cloud-b'>> {
    const { accessToken, expireTime } = await this.generate(lease.ttlSeconds)
    const { serviceAccount } = this.config
    return {
      resourceRef: serviceAccount,
      result: { serviceAccount, scopes: this.scopes(), expiresAt: new Date(expireTime).toISOString() },
      credential: accessToken,
    }
  }

  private scopes(): string[] {
    return this.config.scopes ?? [everything]
  }

  private async generate(seconds: number): Promise<{ accessToken: string; expireTime: string }> {
    const { serviceAccount, delegates = [] } = this.config
    const token = await this.baseToken()
    const answer = await sendJson(this.outside, {
      method: 'POST',
      url: `${this.origin ?? ORIGIN}/v1/projects/-/serviceAccounts/${encodeURIComponent(serviceAccount)}:generateAccessToken`,
      headers: { authorization: `Bearer ${token}` },
      json: {
        scope: this.scopes(),
        lifetime: `${seconds}s`,
        ...(delegates.length === 0 ? {} : { delegates: delegates.map((name) => `projects/-/serviceAccounts/${name}`) }),
      },
      timeoutMs: answerMs,
    })
    const { accessToken, expireTime, error } = (answer.body ?? {}) as Partial<GenerateAnswer>
    if (answer.status === 400 && /lifetime/i.test(error?.message ?? '')) throw aboveCap(seconds)
    const failure = statusFailure(answer, this.outside.now(), safeText(error?.message ?? '', [token]))
    if (failure) throw failure
    if (typeof accessToken !== 'string' || Number.isNaN(Date.parse(expireTime ?? '')))
      throw new ProviderError('failed', 'the answer holds no access token')
    return { accessToken, expireTime: expireTime as string }
  }

  /** The token of the base credential, kept for the session. */
  private async baseToken(): Promise<string> {
    if (this.token !== undefined) return this.token
    let broken: OutsideError | undefined
    const client = new JWT({
      email: this.key.client_email,
      key: this.key.private_key,
      keyId: this.key.private_key_id,
      scopes: [everything],
      transporterOptions: {
        fetchImplementation: fetchOn(this.outside, this.origin, (error) => {
          broken = error
        }),
      },
    })
    try {
      const { token } = await client.getAccessToken()
      if (!token) throw new ProviderError('failed', 'the answer holds no access token')
      this.token = token
      return token
    } catch (error) {
      if (error instanceof ProviderError) throw error
      if (broken) throw new ProviderError('unreachable', broken.message)
      const { status, message } = error as { status?: number; message?: string }
      const said = safeText(message ?? '', []) ?? ''
      throw new ProviderError(status !== undefined && status < 500 ? 'denied' : 'failed', `token exchange: ${said}`)
    }
  }
}

interface GenerateAnswer {
  accessToken: string
  expireTime: string
  error: { message?: string }
}

const aboveCap = (seconds: number) =>
  new ProviderError(
    'invalid',
    `${seconds} s is above the cap of this account: 3600 s, unless the organization policy iam.allowServiceAccountCredentialLifetimeExtension lists it, and then 43200 s`,
  )

/** `fetch` for the library, which sends nothing but the exchange of the signed assertion. */
function fetchOn(outside: Outside, origin: string | undefined, onFailure: (error: OutsideError) => void): typeof fetch {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input)
    const headers = Object.fromEntries(new Headers(init.headers))
    const answer = await outside
      .send({
        method: (init.method ?? 'GET') as OutsideRequest['method'],
        url: origin === undefined ? url.href : `${origin}${url.pathname}`,
        headers,
        body: String(init.body ?? ''),
        timeoutMs: answerMs,
      })
      .catch((error: unknown) => {
        if (error instanceof OutsideError) onFailure(error)
        throw error
      })
    return new Response(Buffer.from(answer.body), { status: answer.status, headers: { ...answer.headers } })
  }
}
