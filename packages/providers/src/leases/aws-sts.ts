import {
  AssumeRoleCommand,
  type AssumeRoleCommandInput,
  GetCallerIdentityCommand,
  STSClient,
  STSServiceException,
} from '@aws-sdk/client-sts'
import { cloudTtlDefaultMaxSeconds } from '@skerry/contract/leases/facts'
import { handlerOn } from '../aws.ts'
import { type Outbound, OutboundError } from '../outbound.ts'
import { errorTextOf, fromOutbound, ProviderError } from '../provider-error.ts'
import { checkConfig, waitLimits } from './checks.ts'
import type { Issued, Lease, LeaseSession, LeaseTarget, TargetFacts } from './provider.ts'
import { nothingLeft } from './removal.ts'

// AWS STS AssumeRole. A single session cannot be revoked: only a policy on the role ends sessions, and it ends all of
// them.

type Config = LeaseTarget<'cloud-a'>['config']

interface AccessKey {
  accessKeyId: string
  secretAccessKey: string
}

export async function open(target: LeaseTarget<'cloud-a'>, outbound: Outbound): Promise<LeaseSession<'cloud-a'>> {
  const { config, credential } = target
  checkConfig(config)
  const key = readAccessKey(credential)
  const own = `https://sts.${config.region}.amazonaws.com`
  const origin = outbound.origin('cloud-a', own)
  const client = new STSClient({
    region: config.region,
    credentials: key,
    maxAttempts: 2,
    // Without an endpoint, the SDK chooses the host, because it knows the hosts of every partition.
    ...(origin === own ? {} : { endpoint: origin }),
    requestHandler: handlerOn(outbound, waitLimits(outbound).answerMs),
  })
  const secrets = [key.secretAccessKey]
  return {
    verify: () => verify(client, config, secrets),
    create: (lease) => create(client, config, lease, secrets),
    revoke: async () => nothingLeft,
    list: async () => [],
    close: async () => client.destroy(),
  }
}

function readAccessKey(credential: string): AccessKey {
  const refuse = (why: string) => new ProviderError('invalid', `base credential: ${why}`)
  let key: Partial<AccessKey> | null
  try {
    key = JSON.parse(credential)
  } catch {
    throw refuse('is not JSON')
  }
  const { accessKeyId, secretAccessKey } = key ?? {}
  if (typeof accessKeyId !== 'string' || typeof secretAccessKey !== 'string' || secretAccessKey === '')
    throw refuse('must be a JSON object with accessKeyId and secretAccessKey')
  if (accessKeyId.startsWith('ASIA'))
    throw refuse('is a temporary key of a session; use the access key of an IAM user (AKIA...)')
  if (!/^[A-Z0-9]{16,128}$/.test(accessKeyId)) throw refuse('accessKeyId is not an access key id')
  return { accessKeyId, secretAccessKey }
}

/**
 * Assumes the role for the longest time that the target allows. A lower cap of the role shows here, not at the first
 * lease.
 */
async function verify(client: STSClient, config: Config, secrets: string[]): Promise<TargetFacts> {
  const seconds = config.maxTtlSeconds ?? cloudTtlDefaultMaxSeconds
  const { Arn = '' } = await failing(client.send(new GetCallerIdentityCommand({})), seconds, secrets)
  await failing(client.send(new AssumeRoleCommand(assumption(config, 'skerry-verify', seconds))), seconds, secrets)
  return {
    server: `AWS STS ${config.region}`,
    notes: [
      `The base credential is ${Arn}.`,
      'A session stays valid until it expires. Revoking a lease only marks it as revoked in Skerry.',
    ],
  }
}

async function create(
  client: STSClient,
  config: Config,
  lease: Lease<'cloud-a'>,
  secrets: string[],
): Promise<Issued<'cloud-a'>> {
  const session = `skerry-${lease.id}`
  const command = new AssumeRoleCommand(assumption(config, session, lease.ttlSeconds))
  const { Credentials } = await failing(client.send(command), lease.ttlSeconds, secrets)
  const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = Credentials ?? {}
  if (!AccessKeyId || !SecretAccessKey || !SessionToken || !Expiration)
    throw new ProviderError('failed', 'the answer contains no credentials')
  return {
    resourceRef: session,
    result: { region: config.region, roleArn: config.roleArn, expiresAt: Expiration.toISOString() },
    credential: JSON.stringify({
      accessKeyId: AccessKeyId,
      secretAccessKey: SecretAccessKey,
      sessionToken: SessionToken,
    }),
  }
}

/** CloudTrail shows the session name beside every action of the lease. */
function assumption(config: Config, session: string, seconds: number): AssumeRoleCommandInput {
  return {
    RoleArn: config.roleArn,
    RoleSessionName: session,
    DurationSeconds: seconds,
    ExternalId: config.externalId,
    Policy: config.sessionPolicy,
  }
}

const reasons: Readonly<Record<string, ProviderError['reason']>> = {
  AccessDenied: 'denied',
  ExpiredToken: 'denied',
  ExpiredTokenException: 'denied',
  InvalidClientTokenId: 'denied',
  SignatureDoesNotMatch: 'denied',
  MalformedPolicyDocument: 'invalid',
  PackedPolicyTooLarge: 'invalid',
  RegionDisabledException: 'unsupported',
  Throttling: 'rate_limited',
  ThrottlingException: 'rate_limited',
  ValidationError: 'invalid',
}

async function failing<T>(sent: Promise<T>, seconds: number, secrets: readonly string[]): Promise<T> {
  try {
    return await sent
  } catch (error) {
    if (error instanceof OutboundError) throw fromOutbound(error)
    if (!(error instanceof STSServiceException)) throw new ProviderError('failed', 'the answer cannot be read')
    const errorText = errorTextOf(error.message, secrets) ?? error.name
    if (error.name === 'ValidationError' && /DurationSeconds/i.test(error.message))
      throw new ProviderError('invalid', `${seconds} s is more than this target allows: ${capOf(error.message)}`)
    throw new ProviderError(reasons[error.name] ?? 'failed', `${error.name}: ${errorText}`)
  }
}

const capOf = (message: string) =>
  /chaining/i.test(message)
    ? '3600 s, because the base credential is itself a session of a role'
    : 'the MaxSessionDuration of the role, which is 3600 s by default; set maxTtlSeconds to the same value'
