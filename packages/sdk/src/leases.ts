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
 * Registers a lease target, for example a database on which Skerry makes short-lived accounts. The function wraps the
 * admin credential for the broker, a part of the server. **The server can therefore read the credential.** The server
 * needs the credential to sign in to the target. Tell the person who enters the credential that the server can read it.
 *
 * `config` can name a provisioner, a program in your own network that makes the accounts instead of the server. The
 * function then wraps the credential for the token of the provisioner, and the server cannot read it. The target has
 * the status `untested` until the provisioner has signed in to the target.
 *
 * @param settings.provisionerKeyJwk the public key of the provisioner's token, a JWK as a JSON string. Compare the
 *   words of this key first. Required if `config` names a provisioner.
 * @param settings.adminSecret the admin credential of the target, for example a connection string or a private key. Its
 *   form depends on the kind of the target. `docs/leases.md` describes each kind.
 * @throws RefusedError `invalid_request`; RefusedError `forbidden`; RefusedError `conflict` if the target refused the
 *   credential or cannot be reached; UnavailableError.
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
 * Replaces the admin credential of a target. The server uses the new credential only after a successful sign-in to the
 * target. As in `createLeaseTarget`, the function wraps the credential for the broker or for the provisioner.
 *
 * @param settings.knownState if you give a known state, the function refuses a target whose settings have changed since
 *   this client saw it last.
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
 * Finds the service token of a provisioner by the id of the token. A provisioner is a program in your own network that
 * makes the accounts of leases. The result contains the public key of the token. This key comes from the server, so
 * compare the words of the key before you use it.
 *
 * @throws SkerryError `not_found` if the organization has no token with this id, or if the token is revoked;
 *   RefusedError `forbidden`; UnavailableError.
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
 * Finds a lease target by its name or its id.
 *
 * @throws SkerryError `not_found` if no target has this name or id; the errors of `listLeaseTargets`.
 * @example const target = await findLeaseTarget(client, orgId, 'shop')
 */
export async function findLeaseTarget(client: Client, orgId: string, wanted: string): Promise<LeaseTarget> {
  const targets = await listLeaseTargets(client, orgId)
  const found = targets.find((target) => isNamed(wanted, 'leaseTarget', target))
  if (found) return found
  throw new SkerryError('not_found', `there is no lease target ${wanted}`)
}

/**
 * Makes a lease: a short-lived account or credential on a target. The function compares the response with the request:
 * the target, names, addresses and the lifetime. For SSH, it also compares the key, the login names and the certificate
 * authority. If something differs, the function revokes the lease and throws an error.
 *
 * For PostgreSQL, MySQL and Redis, the function makes the password on this machine. For SSH, it makes the private key
 * here. The server gets neither the password nor the private key. For AWS, Google Cloud and MongoDB, the credential is
 * not made here. The server sends it, encrypted with a key that exists only during this call. If a provisioner in your
 * network makes the account, the function waits for the account, at most 90 seconds.
 *
 * @param wish.knownState if you give a known state, the function refuses a target whose address or other settings have
 *   changed. Without a known state, a hostile server could choose the address to which you send the password.
 * @throws RollbackError if a setting of the target has changed; RefusedError `forbidden`, `invalid_request` if the
 *   lifetime is too long (the message says the limit), `conflict` if the lease cannot be made (the message says why);
 *   SkerryError `malformed_answer` if the response differs from the request, `invalid_request` if `wish` is wrong;
 *   UnavailableError. The server may have made a lease, but nobody has its credential. The lease expires by itself.
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
