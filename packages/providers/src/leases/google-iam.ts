import { cloudTtlDefaultMaxSeconds } from '@skerry/contract/leases/facts'
import { accessToken, everything, readServiceAccountKey, type ServiceAccountKey } from '../google.ts'
import { sendJson, statusFailure } from '../http.ts'
import type { Outbound } from '../outbound.ts'
import { errorTextOf, ProviderError } from '../provider-error.ts'
import { checkConfig, waitLimits } from './checks.ts'
import type { Issued, Lease, LeaseSession, LeaseTarget, TargetFacts } from './provider.ts'
import { nothingLeft } from './removal.ts'

// Google IAM Credentials generateAccessToken. A token cannot be revoked.

type Config = LeaseTarget<'cloud-b'>['config']

const ORIGIN = 'https://iamcredentials.googleapis.com'

export async function open(target: LeaseTarget<'cloud-b'>, outbound: Outbound): Promise<LeaseSession<'cloud-b'>> {
  const { config, credential } = target
  checkConfig(config)
  const session = new GoogleSession(config, readServiceAccountKey(credential, 'base credential'), outbound)
  return {
    verify: () => session.verify(),
    create: (lease) => session.create(lease),
    revoke: async () => nothingLeft,
    list: async () => [],
    close: async () => {},
  }
}

class GoogleSession {
  private readonly config: Config
  private readonly key: ServiceAccountKey
  private readonly outbound: Outbound
  private token: string | undefined

  constructor(config: Config, key: ServiceAccountKey, outbound: Outbound) {
    this.config = config
    this.key = key
    this.outbound = outbound
  }

  /**
   * Creates a token with the longest lifetime that the target allows. A lower cap shows here, not at the first lease.
   */
  async verify(): Promise<TargetFacts> {
    await this.generate(this.config.maxTtlSeconds ?? cloudTtlDefaultMaxSeconds)
    return {
      server: 'Google IAM Credentials',
      notes: [
        `The base credential is ${this.key.client_email}.`,
        'A token stays valid until it expires. Revoking a lease only marks it as revoked in Skerry.',
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
    const answer = await sendJson(this.outbound, {
      method: 'POST',
      url: `${this.outbound.origin('cloud-b', ORIGIN)}/v1/projects/-/serviceAccounts/${encodeURIComponent(serviceAccount)}:generateAccessToken`,
      headers: { authorization: `Bearer ${token}` },
      json: {
        scope: this.scopes(),
        lifetime: `${seconds}s`,
        ...(delegates.length === 0 ? {} : { delegates: delegates.map((name) => `projects/-/serviceAccounts/${name}`) }),
      },
      timeoutMs: waitLimits(this.outbound).answerMs,
    })
    const { accessToken, expireTime, error } = (answer.body ?? {}) as Partial<GenerateAnswer>
    if (answer.status === 400 && /lifetime/i.test(error?.message ?? '')) throw aboveCap(seconds)
    const failure = statusFailure(answer, this.outbound.now(), errorTextOf(error?.message ?? '', [token]))
    if (failure) throw failure
    if (typeof accessToken !== 'string' || Number.isNaN(Date.parse(expireTime ?? '')))
      throw new ProviderError('failed', 'the answer contains no access token')
    return { accessToken, expireTime: expireTime as string }
  }

  /** The access token of the base credential, cached for the session. */
  private async baseToken(): Promise<string> {
    if (this.token !== undefined) return this.token
    this.token = await accessToken(this.key, this.outbound, 'cloud-b')
    return this.token
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
    `${seconds} s is more than this account allows: 3600 s, or 43200 s if the organization policy iam.allowServiceAccountCredentialLifetimeExtension lists the account`,
  )
