import type { LeaseConfig, LeaseTag } from '@skerry/contract/leases/providers'
import { isNamed } from '@skerry/contract/prefixes'
import { encodeUtf8 } from '@skerry/crypto/base64url'
import { wrapKey } from '@skerry/crypto/wrap'
import { sealAdminSecret } from './admin-secrets.ts'
import type { Client } from './client.ts'
import { invalid, SkerryError } from './errors.ts'
import type { KnownState } from './known-state.ts'
import { type LeaseTarget, type LeaseWish, type MadeLease, prepareLease } from './lease-making.ts'
import { madeLease, provisionerOf } from './provisioned-leases.ts'
import type { ServiceToken } from './tokens.ts'

export type { LeaseTarget, MadeLease } from './lease-making.ts'
export type { Lease } from './provisioned-leases.ts'

/** As many as the server gives on one page. */
const pageLimit = 100

/**
 * Registers a target. The admin credential is wrapped to the key of the organization's broker, so **the server can read it**
 * when it signs in to the target: the person who is asked for it should be told. Where the config names a provisioner, it is
 * wrapped to the key of that service token instead, and the server cannot read it; the target is `untested` until the
 * provisioner has signed in.
 *
 * @param provisionerKeyJwk public key of the provisioner's token, which the caller has compared: needed where the config names
 *   a provisioner.
 * @param adminSecret what `adminSecret` of the provider's row in the contract says: a connection string, a private key, JSON.
 * @throws RefusedError `invalid_request`, `forbidden`, `conflict` (the target refused the credential, or cannot be reached);
 *   UnavailableError.
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
 * Replaces the credential of a target; it counts once it has signed in. For whom it is wrapped: as `createLeaseTarget`.
 *
 * @param settings.knownState refuses a target whose settings are not those of before: the credential is given for them.
 * @throws as `createLeaseTarget`; RollbackError.
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
      throw invalid(`provisionerKeyJwk: the public key of ${tokenId} is needed, after it was compared`)
    return sealAdminSecret({ adminSecret, config }, provisionerKeyJwk)
  }
  const { publicKeyJwk } = await client.leases.brokerKey({ params: { orgId } })
  return wrapKey(encodeUtf8(adminSecret), publicKeyJwk)
}

/**
 * The service token of a provisioner, with its public key.
 *
 * @throws SkerryError `not_found`; RefusedError `forbidden`; UnavailableError.
 * @example const { publicKeyJwk } = await findProvisioner(client, orgId, tokenId)
 */
export async function findProvisioner(client: Client, orgId: string, tokenId: string): Promise<ServiceToken> {
  let cursor: string | undefined
  do {
    const query = { limit: pageLimit, ...(cursor === undefined ? {} : { cursor }) }
    const { tokens, nextCursor } = await client.tokens.list({ params: { orgId }, query })
    const found = tokens.find(({ id, revokedAt }) => id === tokenId && revokedAt === null)
    if (found) return found
    cursor = nextCursor ?? undefined
  } while (cursor !== undefined)
  throw new SkerryError('not_found', `there is no service token ${tokenId}`)
}

/**
 * Every target of an organization.
 *
 * @throws RefusedError `forbidden`; UnavailableError.
 * @example const targets = await listLeaseTargets(client, orgId)
 */
export async function listLeaseTargets(client: Client, orgId: string): Promise<LeaseTarget[]> {
  const all: LeaseTarget[] = []
  let cursor: string | undefined
  do {
    const query = { limit: pageLimit, ...(cursor === undefined ? {} : { cursor }) }
    const { targets, nextCursor } = await client.leases.targets({ params: { orgId }, query })
    all.push(...targets)
    cursor = nextCursor ?? undefined
  } while (cursor !== undefined)
  return all
}

/**
 * One target, by its name or id.
 *
 * @throws SkerryError `not_found`; as `listLeaseTargets`.
 * @example const target = await findLeaseTarget(client, orgId, 'shop')
 */
export async function findLeaseTarget(client: Client, orgId: string, wanted: string): Promise<LeaseTarget> {
  const targets = await listLeaseTargets(client, orgId)
  const found = targets.find((target) => isNamed(wanted, 'leaseTarget', target))
  if (found) return found
  throw new SkerryError('not_found', `there is no lease target ${wanted}`)
}

/**
 * Mints a lease, and checks that what came back is what was asked for: names, addresses, the lifetime, for SSH the key, the
 * principals and the authority. A lease that is anything else is revoked, and nothing of it handed out.
 *
 * The password of a database account and the private key of a certificate are made here and never leave. What a cloud or
 * MongoDB makes comes wrapped to a key that lives for this call. Where a provisioner makes the account, it is waited for, a
 * minute and a half at most.
 *
 * @param wish.knownState refuses a target that leads elsewhere than before (address, port, TLS). Without it, a hostile server
 *   chooses where the caller sends the password.
 * @throws RollbackError; RefusedError `invalid_request` (with the limit, for a lifetime), `conflict` (what the target said), `forbidden`;
 *   UnavailableError, after which a lease may exist that nobody can use and that ends by itself; SkerryError
 *   `malformed_answer`, `invalid_request`.
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
