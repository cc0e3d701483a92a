import type { Answer, Body } from '@skerry/contract/endpoint'
import type { leases } from '@skerry/contract/leases/endpoints'
import type { LeaseConfig, LeaseResult, LeaseTag } from '@skerry/contract/leases/providers'
import { decodeUtf8 } from '@skerry/crypto/base64url'
import { generateKeyPair, type PrivateKey } from '@skerry/crypto/keys'
import { nativePasswordHash, newLeasePassword, redisVerifier, scramVerifier } from '@skerry/crypto/lease-verifiers'
import { newId } from '@skerry/crypto/random'
import { newSshKeyPair, readSshCertificate, type SshKeyPair } from '@skerry/crypto/ssh'
import { unwrapKey } from '@skerry/crypto/wrap'
import { clientError, invalid } from './errors.ts'

// Defines for each kind of lease what is made on this machine before the request, and how the answer is checked and
// opened.

type MintBody = Body<typeof leases.create>
/** The response of the server to a request for a lease. */
type MintAnswer = Answer<typeof leases.create>
/** A lease in a response of the server. It does not contain the credential. */
type Lease = MintAnswer['lease']
type Target = LeaseWish['target']

/** A lease target in a response of the server, for example a database on which Skerry makes short-lived accounts. */
export type LeaseTarget = Answer<typeof leases.createTarget>['target']

/** The lease that you want. */
export interface LeaseWish {
  orgId: string
  /** The target on which the lease is made: a row of `listLeaseTargets`. */
  target: Pick<LeaseTarget, 'id' | 'provider' | 'config'> & { name?: string | undefined }
  /** The lifetime of the lease in seconds. Each target has its own limit. */
  ttlSeconds: number
  /**
   * The name of the new account. Only for PostgreSQL, MySQL and Redis. Default: a new name that begins with `lease_`.
   */
  roleName?: string | undefined
  /** The login names for which an SSH certificate is valid. Required for SSH. Not allowed for other targets. */
  principals?: readonly string[] | undefined
  /**
   * If you abort this signal, the call ends. If the function has already received the lease, it revokes the lease. If
   * the server made a lease that the function has not received, this lease expires by itself.
   */
  signal?: AbortSignal | undefined
}

/** The databases for which the SDK makes the password itself. */
type DatabaseTag = 'postgres' | 'mysql' | 'redis'
/** The address of a database, and the name of the new account. */
type LeaseConnection = LeaseResult<'postgres'>

/**
 * A lease with the credential that a program needs to sign in to the target. The fields depend on the `provider` of the
 * target. Neither the SDK nor the server stores the secret parts.
 *
 * - `postgres`, `mysql`, `redis`, `mongodb`: the address and the account in `connection`, and the `password`.
 * - `ssh`: the `certificate`, the login names in `principals`, and the `key` for which the certificate is valid.
 * - for AWS: temporary credentials for the role `roleArn`.
 * - for Google Cloud: an access token for `serviceAccount`.
 */
export type MadeLease =
  | { provider: DatabaseTag; lease: Lease; connection: LeaseConnection; password: string }
  | { provider: 'ssh'; lease: Lease; certificate: string; principals: string[]; key: SshKeyPair }
  | { provider: 'cloud-a'; lease: Lease; region: string; roleArn: string; credential: RoleSession }
  | { provider: 'cloud-b'; lease: Lease; serviceAccount: string; scopes: string[]; accessToken: string }
  | { provider: 'mongodb'; lease: Lease; connection: LeaseConnection & { authSource: string }; password: string }

/** Temporary credentials of AWS, as AWS STS returns them. */
interface RoleSession {
  accessKeyId: string
  secretAccessKey: string
  sessionToken: string
}

export interface Prepared {
  body: Pick<MintBody, 'roleName' | 'verifier' | 'publicKey' | 'principals' | 'recipientPublicKey'>
  open: (answer: MintAnswer) => Promise<MadeLease>
}

/**
 * Makes the secret part of a lease request: a new password with its verifier, or a new key. `open` checks the answer
 * against the wish. `createLease` does all of it. Use this function if another program sends the request.
 *
 * @throws SkerryError `invalid_request` for a wish that its provider cannot grant. `open` throws `malformed_answer`;
 *   the caller must then revoke the lease.
 * @example const { body, open } = await prepareLease({ orgId, target, ttlSeconds: 600 })
 */
export async function prepareLease(wish: LeaseWish): Promise<Prepared> {
  const { provider } = wish.target
  if (wish.principals !== undefined && provider !== 'ssh')
    throw invalid('principals: only SSH certificates have principals')
  if (wish.roleName !== undefined && !(provider in verifiers))
    throw invalid('roleName: only database accounts have a role name')
  const { body, open } = await preparations[provider](wish)
  const checkedOpen: Prepared['open'] = async (answer) => {
    checkLease(answer.lease, wish)
    return open(answer)
  }
  return { body, open: checkedOpen }
}

function checkLease(lease: Lease, { target, ttlSeconds }: LeaseWish): void {
  const livesMs = Date.parse(lease.expiresAt) - Date.parse(lease.createdAt)
  if (lease.targetId !== target.id || lease.provider !== target.provider)
    throw clientError('malformed_answer', 'the lease belongs to another target')
  if (livesMs !== ttlSeconds * 1000)
    throw clientError('malformed_answer', 'the lease does not have the lifetime that was asked for')
  if (lease.status !== 'active') throw clientError('malformed_answer', `the lease is ${lease.status}`)
}

const verifiers = { postgres: scramVerifier, mysql: nativePasswordHash, redis: redisVerifier } as const

const preparations: Record<LeaseTag, (wish: LeaseWish) => Promise<Prepared>> = {
  postgres: (wish) => prepareAccount('postgres', wish),
  mysql: (wish) => prepareAccount('mysql', wish),
  redis: (wish) => prepareAccount('redis', wish),
  ssh: prepareCertificate,
  'cloud-a': prepareRole,
  'cloud-b': prepareAccessToken,
  mongodb: prepareMongodb,
}

/** `lease_` and 16 letters and digits, so that no account has this name by chance. */
function newRoleName(): string {
  const id = newId('lease')
  return `lease_${id.slice(-16).toLowerCase()}`
}

async function prepareAccount(provider: DatabaseTag, wish: LeaseWish): Promise<Prepared> {
  const { roleName = newRoleName(), target } = wish
  const password = newLeasePassword()
  const verifier = await verifiers[provider](password)
  return {
    body: { roleName, verifier },
    open: async ({ lease, connection }) => {
      const { expiresAt } = lease
      check(connection, { ...addressOf(provider, target), username: roleName, expiresAt })
      return { provider, lease, connection: connection!, password }
    },
  }
}

/** The address at which a target’s leases sign in. The logical database of Redis is 0 by default. */
function addressOf(provider: DatabaseTag, target: Target): Pick<LeaseConnection, 'host' | 'port' | 'database'> {
  if (provider === 'redis') {
    const { host, port, db = 0 } = configOf<'redis'>(target).connection
    return { host, port, database: db }
  }
  const { host, port, database } = configOf<'postgres' | 'mysql'>(target).connection
  return { host, port, database }
}

async function prepareCertificate({ target, principals }: LeaseWish): Promise<Prepared> {
  if (principals === undefined || principals.length === 0) throw invalid('principals: name at least one')
  const key = await newSshKeyPair()
  return {
    body: { publicKey: key.publicKey, principals: [...principals] },
    open: async ({ lease, ssh }) => {
      const { caPublicKey } = configOf<'ssh'>(target)
      check(ssh, { principals: [...principals], caPublicKey, expiresAt: lease.expiresAt })
      checkCertificate(ssh!.certificate, { key, lease, principals, caPublicKey })
      return { provider: 'ssh', lease, certificate: ssh!.certificate, principals: [...principals], key }
    },
  }
}

interface CertificateWish {
  key: SshKeyPair
  lease: Lease
  principals: readonly string[]
  caPublicKey: string
}

function checkCertificate(certificate: string, { key, lease, principals, caPublicKey }: CertificateWish): void {
  const read = readSshCertificate(certificate)
  check(
    {
      publicKey: read.publicKey,
      principals: read.principals,
      validBeforeSeconds: read.validBeforeSeconds,
      keyId: read.keyId,
      caPublicKey: read.caPublicKey,
    },
    {
      publicKey: key.publicKey,
      principals: [...principals],
      validBeforeSeconds: Math.floor(Date.parse(lease.expiresAt) / 1000),
      keyId: lease.id,
      // Without the comment that people write after a key.
      caPublicKey: caPublicKey.split(' ').slice(0, 2).join(' '),
    },
  )
}

async function prepareRole({ target }: LeaseWish): Promise<Prepared> {
  const { privateKey, publicKeyJwk } = await generateKeyPair()
  return {
    body: { recipientPublicKey: publicKeyJwk },
    open: async ({ lease, cloudA }) => {
      const { region, roleArn } = configOf<'cloud-a'>(target)
      check(cloudA, { region, roleArn })
      const credential = parseSession(await opened(cloudA!, privateKey))
      return { provider: 'cloud-a', lease, region, roleArn, credential }
    },
  }
}

function parseSession(json: string): RoleSession {
  try {
    const { accessKeyId, secretAccessKey, sessionToken } = JSON.parse(json)
    if ([accessKeyId, secretAccessKey, sessionToken].every((one) => typeof one === 'string'))
      return { accessKeyId, secretAccessKey, sessionToken }
  } catch {
    // The parser's message may quote the credential, so the error below replaces it.
  }
  throw clientError('malformed_answer', 'the credential is not an access key with a session token')
}

async function prepareAccessToken({ target }: LeaseWish): Promise<Prepared> {
  const { privateKey, publicKeyJwk } = await generateKeyPair()
  return {
    body: { recipientPublicKey: publicKeyJwk },
    open: async ({ lease, cloudB }) => {
      const { serviceAccount } = configOf<'cloud-b'>(target)
      check(cloudB, { serviceAccount })
      const { scopes } = cloudB!
      return { provider: 'cloud-b', lease, serviceAccount, scopes, accessToken: await opened(cloudB!, privateKey) }
    },
  }
}

async function prepareMongodb({ target }: LeaseWish): Promise<Prepared> {
  const { privateKey, publicKeyJwk } = await generateKeyPair()
  return {
    body: { recipientPublicKey: publicKeyJwk },
    open: async ({ lease, mongodb }) => {
      const { connection: address, authSource = 'admin' } = configOf<'mongodb'>(target)
      const { host, port, database } = address
      check(mongodb, { host, port, database, authSource })
      const { username, expiresAt } = mongodb!
      const connection = { host, port, database, username, authSource, expiresAt }
      return { provider: 'mongodb', lease, connection, password: await opened(mongodb!, privateKey) }
    },
  }
}

const opened = async ({ wrappedCredential }: { wrappedCredential: string }, privateKey: PrivateKey) =>
  decodeUtf8(await unwrapKey(wrappedCredential, privateKey))

/** The rows of the contract define the config of each provider. */
const configOf = <T extends LeaseTag>({ config }: Target) => config as unknown as LeaseConfig<T>

/** Checks that each requested member came back unchanged. */
function check(came: object | undefined, wanted: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(wanted))
    if (JSON.stringify((came as Record<string, unknown> | undefined)?.[name]) !== JSON.stringify(value))
      throw clientError('malformed_answer', `the lease does not have the ${name} that was asked for`)
}
