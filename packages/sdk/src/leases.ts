import type { LeaseConfig, LeaseTag } from '@skerry/contract/leases/providers'
import { isNamed } from '@skerry/contract/prefixes'
import { encodeUtf8 } from '@skerry/crypto/base64url'
import { wrapKey } from '@skerry/crypto/wrap'
import { sealAdminSecret } from './admin-secrets.ts'
import type { Client } from './client.ts'
import { invalid, SkerryError } from './errors.ts'
import type { KnownState } from './known-state.ts'
import { type LeaseTarget, type LeaseWish, type MadeLease, prepareLease } from './lease-making.ts'
import { pagesOf } from './pages.ts'
import { madeLease, provisionerOf } from './provisioned-leases.ts'
import type { ServiceToken } from './tokens.ts'

export type { LeaseTarget, MadeLease } from './lease-making.ts'
export type { Lease } from './provisioned-leases.ts'

/** The most rows that the server returns on one page. */
const pageLimit = 100

/**
 * Registers a target, for example a database on which Skerry makes short-lived accounts. The admin credential is
 * wrapped for the broker, a part of the server. **The server can therefore read the credential** when it signs in to
 * the target. Tell this to the person who enters the credential. If the config names a provisioner (a program in your
 * own network), the credential is wrapped for the provisioner's token, and the server cannot read it. The target is
 * then `untested` until the provisioner has signed in.
 *
 * @param provisionerKeyJwk the public key of the provisioner's token. Compare its words first. Required if the config
 *   names a provisioner.
 * @param adminSecret depends on the provider: for example a connection string, a private key or JSON. The row of the
 *   provider in the contract describes it under `adminSecret`.
 * @throws RefusedError `invalid_request`, `forbidden`, `conflict` (the target refused the credential, or cannot be
 *   reached); UnavailableError.
 * @example
 * const target = await createLeaseTarget(client, { orgId, name: 'shop', config, adminSecret: 'postgres://...' })
 */
export async function createLeaseTarget(
  client: Client,
  settings: {
    orgId: string
    name?: string
    config: LeaseConfig<LeaseTag>
    adminSecret: string
    provisionerKeyJwk?: string | undefined
  },
): Promise<LeaseTarget> {
  const { orgId, name, config } = settings
  const wrappedAdminSecret = await wrapAdminSecret(client, settings)
  const body = { ...(name === undefined ? {} : { name }), config, wrappedAdminSecret }
  return (await client.leases.createTarget({ params: { orgId }, body })).target
}

/**
 * Replaces the admin credential of a target. The server uses the new credential only after it has signed in with it.
 * The credential is wrapped for the same key as in `createLeaseTarget`.
 *
 * @param settings.knownState with a known state, the function refuses a target whose settings have changed since you
 *   saw it last.
 * @throws The errors of `createLeaseTarget`; RollbackError.
 * @example await replaceAdminSecret(client, target, { orgId, adminSecret: 'postgres://...' })
 */
export async function replaceAdminSecret(
  client: Client,
  target: Pick<LeaseTarget, 'id' | 'provider' | 'config'> & { name?: string | undefined },
  settings: { orgId: string; adminSecret: string; provisionerKeyJwk?: string | undefined; knownState?: KnownState },
): Promise<LeaseTarget> {
  const { orgId, knownState } = settings
  const { id: targetId, config: stored } = target
  await knownState?.check({ targets: [{ orgId, ...target }] })
  const config = stored as unknown as LeaseConfig<LeaseTag>
  const wrappedAdminSecret = await wrapAdminSecret(client, { ...settings, config })
  return (await client.leases.updateTarget({ params: { orgId, targetId }, body: { wrappedAdminSecret } })).target
}

interface ToWrap {
  orgId: string
  config: LeaseConfig<LeaseTag>
  adminSecret: string
  provisionerKeyJwk?: string | undefined
}

async function wrapAdminSecret(client: Client, { orgId, config, adminSecret, provisionerKeyJwk }: ToWrap) {
  const tokenId = provisionerOf(config)
  if (tokenId !== null) {
    if (provisionerKeyJwk === undefined)
      throw invalid(`provisionerKeyJwk: compare the public key of ${tokenId}, then pass it here`)
    return sealAdminSecret({ adminSecret, config }, provisionerKeyJwk)
  }
  const { publicKeyJwk } = await client.leases.brokerKey({ params: { orgId } })
  return wrapKey(encodeUtf8(adminSecret), publicKeyJwk)
}

/**
 * Finds the service token of a provisioner, with its public key.
 *
 * @throws SkerryError `not_found`; RefusedError `forbidden`; UnavailableError.
 * @example const { publicKeyJwk } = await findProvisioner(client, orgId, tokenId)
 */
export async function findProvisioner(client: Client, orgId: string, tokenId: string): Promise<ServiceToken> {
  const read = (page: object) => client.tokens.list({ params: { orgId }, query: { limit: pageLimit, ...page } })
  for await (const { tokens } of pagesOf(read)) {
    const found = tokens.find(({ id, revokedAt }) => id === tokenId && revokedAt === null)
    if (found) return found
  }
  throw new SkerryError('not_found', `there is no service token ${tokenId}`)
}

/**
 * Lists all lease targets of an organization.
 *
 * @throws RefusedError `forbidden`; UnavailableError.
 * @example const targets = await listLeaseTargets(client, orgId)
 */
export async function listLeaseTargets(client: Client, orgId: string): Promise<LeaseTarget[]> {
  const all: LeaseTarget[] = []
  const read = (page: object) => client.leases.targets({ params: { orgId }, query: { limit: pageLimit, ...page } })
  for await (const { targets } of pagesOf(read)) all.push(...targets)
  return all
}

/**
 * Finds a target by its name or its id.
 *
 * @throws SkerryError `not_found`; the errors of `listLeaseTargets`.
 * @example const target = await findLeaseTarget(client, orgId, 'shop')
 */
export async function findLeaseTarget(client: Client, orgId: string, wanted: string): Promise<LeaseTarget> {
  const targets = await listLeaseTargets(client, orgId)
  const found = targets.find((target) => isNamed(wanted, 'leaseTarget', target))
  if (found) return found
  throw new SkerryError('not_found', `there is no lease target ${wanted}`)
}

/**
 * Makes a lease, a short-lived account on a target. The function compares the response with the request: names,
 * addresses and the lifetime, and for SSH the key, the principals and the authority. If something differs, the function
 * revokes the lease and throws an error.
 *
 * The function makes the password of a database account, or the private key of a certificate, on this machine. They
 * never leave it. A cloud and MongoDB make the credential themselves. It arrives encrypted with a key that exists only
 * during this call. If a provisioner makes the account, the function waits for it, 90 seconds at most.
 *
 * @param wish.knownState with a known state, the function refuses a target that has another address, port or TLS mode
 *   than before. Without a known state, a hostile server could choose the address to which you send the password.
 * @throws RollbackError; RefusedError `invalid_request` (if the lifetime is too long, the message has the limit),
 *   `conflict` (with the message of the target), `forbidden`; UnavailableError. A lease may exist that nobody can use.
 *   It expires by itself; SkerryError `malformed_answer`, `invalid_request`.
 * @example
 * const made = await createLease(client, { orgId, target, ttlSeconds: 600 })
 * if (made.provider === 'postgres') console.log(`${made.connection.username}@${made.connection.host}`)
 */
export async function createLease(client: Client, wish: LeaseWish & { knownState?: KnownState }): Promise<MadeLease> {
  const { orgId, target, ttlSeconds, signal, knownState } = wish
  await knownState?.check({ targets: [{ orgId, ...target }] })
  const prepared = await prepareLease(wish)
  const body = { provider: target.provider, targetId: target.id, ttlSeconds, ...prepared.body }
  const answer = await client.leases.create({ params: { orgId }, body }, signal ? { signal } : {})
  try {
    const lease = await madeLease(client, answer.lease, wish)
    return await prepared.open({ ...answer, lease })
  } catch (error) {
    await client.leases.revoke({ params: { orgId, leaseId: answer.lease.id } }).catch(() => {})
    throw error
  }
}
