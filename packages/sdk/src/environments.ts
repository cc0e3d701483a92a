import type { branches } from '@skerry/contract/branches/endpoints'
import type { Answer } from '@skerry/contract/endpoint'
import type { envs } from '@skerry/contract/envs/endpoints'
import { isClient } from '@skerry/contract/grants/readers'
import { limits } from '@skerry/contract/limits'
import type { Bytes } from '@skerry/crypto/base64url'
import { newDek } from '@skerry/crypto/secret'
import { wrapKey } from '@skerry/crypto/wrap'
import type { Client } from './client.ts'
import type { WriterDirectory } from './directory/writer.ts'
import { type EnvironmentKey, environmentKeyOf } from './environment-key.ts'
import { invalid } from './errors.ts'
import { callerAmong, type Holder, type OwnKeys, type ParentGrantee, type Rekeying, withNewKey } from './rekey-body.ts'

export type { ParentGrantee, Rekeying } from './rekey-body.ts'

/** An environment in a response of the server. */
export type Environment = Answer<typeof envs.get>['environment']
/** A branch in a response of the server. */
export type Branch = Answer<typeof branches.create>['branch']

/** The settings of a new environment. The environment belongs to an application or to a group. */
export type NewEnvironment = {
  orgId: string
  name: string
  slug: string
  /**
   * The public recovery key of the organization, if the organization has one. The function then also wraps the new
   * environment key for the recovery key, so that custodians can recover it. The recovery key comes from the server, so
   * a hostile server could send its own key. Give only a key whose words somebody has compared.
   */
  recoveryPublicKeyJwk?: string
  /**
   * The slug that the user typed for the application or the group. Only a client that signs changes of the signed
   * directory uses this slug. If the application or group has another slug, the client refuses to sign.
   */
  owner?: string | undefined
} & ({ appId: string } | { groupId: string })

/**
 * Creates an environment with a new key, and wraps the key for the caller. Nobody else can read the environment yet.
 * The function returns the key, with which you can write secrets and grant access.
 *
 * @param publicKeyJwk the public key of the caller, that is, of the service token or of the signed-in person.
 * @throws RefusedError `forbidden` if the caller is not an admin or is a machine client, `conflict` if the slug is in
 *   use, `not_found` if the application or group does not exist; CryptoError `malformed_key` if `publicKeyJwk` is not
 *   valid; UnavailableError.
 * @example
 * const { environment, key } = await createEnvironment(client, { orgId, appId, name: 'Production', slug: 'production' },
 *   publicKeyJwk)
 */
export async function createEnvironment(
  client: Client,
  place: NewEnvironment,
  publicKeyJwk: string,
): Promise<{ environment: Environment; key: EnvironmentKey }> {
  const { orgId, name, slug, recoveryPublicKeyJwk, owner } = place
  const key = await environmentKeyOf(newDek())
  const body = { name, slug, ...(await wrapped(key, publicKeyJwk, recoveryPublicKeyJwk)) }
  const options = { typed: { owner } }
  const { environment } =
    'appId' in place
      ? await client.apps.createEnv({ params: { orgId, appId: place.appId }, body }, options)
      : await client.groups.createEnv({ params: { orgId, groupId: place.groupId }, body }, options)
  return { environment, key }
}

/** The settings of a new branch. */
export interface NewBranch {
  orgId: string
  /** The id of the parent. The parent is an environment of an application, and is not itself a branch. */
  envId: string
  slug: string
  name?: string
  /** The lifetime in seconds, 1 to 2,592,000 (30 days). Default: 7 days. null: no expiry. */
  ttlSeconds?: number | null
  /**
   * The public recovery key of the organization, if the organization has one. The function then also wraps the key of
   * the branch for the recovery key, so that custodians can recover it. Give only a recovery key whose words somebody
   * has compared.
   */
  recoveryPublicKeyJwk?: string
  /**
   * Returns true for each reader of the parent who gets the key of the branch. The list of readers comes from the
   * server, and a hostile server could add a reader of its own. Accept only readers whose id and public key you know.
   * The SDK does not call `reads` for readers that are part of the server (rotation, sync), because they do not get the
   * key.
   */
  reads: (grantee: ParentGrantee) => boolean
  /**
   * The key of the parent, 32 bytes. Give this key if the organization has a signed directory. The function then makes
   * a manifest. Clients with a pin refuse a branch that has no manifest.
   */
  parentKey?: Bytes | undefined
  /**
   * Settings for the signed directory. With a pin or a memory, the function throws an error if the directory does not
   * list each accepted reader with the same public key.
   */
  directory?: WriterDirectory
}

/**
 * Creates a branch of an environment. The branch gets a new key, which is wrapped for the caller and for those readers
 * of the parent whom `reads` accepts. A new branch is empty, so a program that reads the branch gets the values of the
 * parent. A value that somebody stores in the branch replaces the value of the parent.
 *
 * @param publicKeyJwk the public key of the caller.
 * @throws RefusedError `forbidden` if the caller has no grant for the parent, `conflict` if the slug is in use,
 *   `not_found`; SkerryError `own_key_replaced` if the server lists another public key for the caller,
 *   `invalid_request` if `reads` accepts more than 200 readers; CryptoError `malformed_key`, `directory_…` if
 *   `directory` is set and the signed directory does not list a reader; UnavailableError.
 * @example
 * const reads = (one: ParentGrantee) => one.principalId === userId && one.publicKeyJwk === remembered
 * const { branch, key } = await createBranch(client, { orgId, envId, slug: 'pr-7', reads }, publicKeyJwk)
 */
export async function createBranch(
  client: Client,
  place: NewBranch,
  publicKeyJwk: string,
): Promise<{ branch: Branch; key: EnvironmentKey }> {
  const { orgId, envId, slug, name, ttlSeconds, recoveryPublicKeyJwk, reads, parentKey, directory } = place
  const params = { orgId, envId }
  const [{ principal }, { grantees }] = await Promise.all([client.me.get(), client.envs.grantees({ params })])
  const isCaller = callerAmong(grantees, { ...principal, publicKeyJwk })
  const readers = grantees.filter(isClient).filter((one) => !isCaller(one) && reads(one))
  if (readers.length > limits.branchGrantsMax) {
    throw invalid(`reads: a new branch can be shared with at most ${limits.branchGrantsMax} members and tokens`)
  }
  if (directory) await (await import('./directory/receivers.ts')).requireReceivers(client, orgId, readers, directory)

  const key = await environmentKeyOf(newDek())
  const grants = await Promise.all(
    readers.map(async ({ principalType, principalId, publicKeyJwk }) => {
      return { principalType, principalId, wrappedDek: await wrapKey(key.bytes, publicKeyJwk) }
    }),
  )
  const own = await wrapped(key, publicKeyJwk, recoveryPublicKeyJwk)
  const vouched = parentKey
    ? await (await loadManifests()).manifestOfNew({ envId, key: parentKey }, place, key.bytes)
    : {}
  const body = { slug, name, ttlSeconds, ...own, grants, ...vouched }
  const { branch } = await client.branches.create({ params, body })
  return { branch, key }
}

const loadManifests = () => import('./directory/manifests.ts')

/** The result of a re-key. */
export interface Rekeyed {
  environment: Environment
  /** The new key. */
  key: EnvironmentKey
  /** The number of secrets that were encrypted with the new key. */
  rekeyedSecrets: number
  /** The principals who have the new key, including the caller. */
  kept: Holder[]
  /**
   * The principals in `kept` that are part of the server (rotation, sync). With such a principal, the server can read
   * the environment.
   */
  readers: Holder[]
  /** The principals who had the old key, and did not get the new key. */
  lost: Holder[]
}

/**
 * Replaces the key of an environment. In a protected environment, where changes wait for approval, use `proposeRekey`
 * of `@skerry/sdk/rekey-changes`. The function decrypts every secret, encrypts the secret with a new key, and wraps the
 * new key for everyone who keeps access. The server stores all of this or nothing. If somebody changes a secret or a
 * grant during the call, the function starts again. It makes at most `place.attempts` attempts.
 *
 * A person who lost access may have kept the old key and the values. Therefore also replace the values of important
 * secrets. Earlier versions of secrets stay encrypted with the old key, so nobody can restore an earlier version any
 * more. The keys of branches do not change.
 *
 * @param own the caller's key pair. The caller must be an admin and have the key of the environment. The new key is
 *   wrapped for the public key in `own`.
 * @throws DecryptionError if a secret cannot be decrypted with the old key. Before you call the function again, write
 *   this secret again or delete it; SkerryError `own_key_replaced` if the server lists another public key for the
 *   caller, `conflict` if the server does not list the caller as a reader; SkerryError `invalid_request` if there are
 *   more than 5,000 secrets or 2,000 readers; RefusedError `forbidden`, `not_found`, `conflict` on the last attempt;
 *   CryptoError `malformed_key`; UnavailableError. The re-key may have happened. If you call the function again, it
 *   makes another re-key.
 * @example
 * const keeps = (one: ParentGrantee) => one.principalId === userId && one.publicKeyJwk === remembered
 * const { lost } = await rekeyEnvironment(client, { orgId, envId, keeps }, { privateKey, publicKeyJwk })
 */
export async function rekeyEnvironment(client: Client, place: Rekeying, own: OwnKeys): Promise<Rekeyed> {
  const { orgId, envId } = place
  return withNewKey(client, place, own, async ({ body, key, ...holders }) => {
    const { environment, rekeyedSecrets } = await client.rekey.run({ params: { orgId, envId }, body })
    await own.privateKey.knownState?.rekeyed(envId, key.bytes)
    return { environment, key, rekeyedSecrets, ...holders }
  })
}

async function wrapped(key: EnvironmentKey, publicKeyJwk: string, recoveryPublicKeyJwk: string | undefined) {
  const wrappedDek = await wrapKey(key.bytes, publicKeyJwk)
  if (recoveryPublicKeyJwk === undefined) return { wrappedDek }
  return { wrappedDek, recoveryWrappedDek: await wrapKey(key.bytes, recoveryPublicKeyJwk) }
}
