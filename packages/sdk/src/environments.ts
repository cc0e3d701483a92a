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
import { invalid } from './errors.ts'
import { callerAmong, type Holder, type OwnKeys, type ParentGrantee, type Rekeying, withNewKey } from './rekey-body.ts'
import { type EnvironmentKey, environmentKeyOf } from './secrets.ts'

export type { ParentGrantee, Rekeying } from './rekey-body.ts'

export type Environment = Answer<typeof envs.get>['environment']
export type Branch = Answer<typeof branches.create>['branch']

/** The settings of a new environment, of an application or of a group. */
export type NewEnvironment = {
  orgId: string
  name: string
  slug: string
  /**
   * The organization's recovery key, when recovery is on. The new key is also wrapped to it. The server supplies the
   * recovery key, so pass one whose words were compared.
   */
  recoveryPublicKeyJwk?: string
  /** The slug by which the user named the application or the group. A client that signs the directory signs no other one. */
  owner?: string | undefined
} & ({ appId: string } | { groupId: string })

/**
 * Creates an environment with a new key, wrapped for the caller. Returns the key, which you need for secrets and
 * grants.
 *
 * @param publicKeyJwk the caller's own public key: of the token, or of the signed-in person.
 * @throws RefusedError `forbidden` (not an admin; a machine client), `conflict` for a slug in use, `not_found`;
 *   CryptoError `malformed_key`; UnavailableError.
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

export interface NewBranch {
  orgId: string
  /** The parent: an application environment that is not a branch. */
  envId: string
  slug: string
  name?: string
  /** The lifetime in seconds, 1 to 2,592,000 (30 days). Default: 7 days. null: no expiry. */
  ttlSeconds?: number | null
  /** See {@link NewEnvironment}. */
  recoveryPublicKeyJwk?: string
  /**
   * Decides which of the parent's grantees get the branch's key. The server supplies the list, and a hostile server
   * adds grantees of its own. Accept grantees that you know, by id and by the public key that would be wrapped to. This
   * function is never called for the server's own readers.
   */
  reads: (grantee: ParentGrantee) => boolean
  /**
   * The key of the parent. With it, the branch gets a manifest, which clients need that verify the signed directory. Pass
   * it in an organization that has one.
   */
  parentKey?: Bytes | undefined
  /** With a pin or a memory, the key is wrapped only to readers whom the signed directory lists with their public keys. */
  directory?: WriterDirectory
}

/**
 * Creates a branch of an environment. The new key of the branch is wrapped for the caller, and for the parent's
 * grantees that `reads` accepts. The branch starts empty and contains only the values that differ. A resolve of the
 * branch also reads the parent.
 *
 * @param publicKeyJwk the caller's own public key.
 * @throws RefusedError `forbidden` without a grant on the parent, `conflict` for a slug in use, `not_found`;
 *   SkerryError `own_key_replaced` if the server lists another key for the caller, `invalid_request` for more than 200
 *   grantees; CryptoError `malformed_key`; UnavailableError.
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

/**
 * An environment under its new key. `lost` lists the holders who had a grant before and no longer have one. `readers`
 * lists the holders in `kept` that are part of the server. Through them, the server can read the environment.
 */
export interface Rekeyed {
  environment: Environment
  key: EnvironmentKey
  rekeyedSecrets: number
  kept: Holder[]
  readers: Holder[]
  lost: Holder[]
}

/**
 * Gives an environment a new key. For a protected environment, use `proposeRekey` instead. The function decrypts every
 * secret, encrypts it under a new key, and wraps this key for everyone who keeps access. The function replaces
 * everything or nothing. If a secret or a grant changes during the call, the function starts again.
 *
 * Someone who lost access may have kept the old key and the values, so change the important values. Earlier versions
 * stay under the old key and can no longer be restored. Branches have their own keys.
 *
 * @param own the caller's key pair. The caller must hold a grant and be an admin. The new key is wrapped to this public
 *   key.
 * @throws DecryptionError for a secret that cannot be decrypted with the old key, and must first be written again or
 * deleted; SkerryError `own_key_replaced` or `conflict` if the server lists another public key for the caller, or
 * none; RefusedError `forbidden`, `not_found`, `conflict` on the last attempt; CryptoError `malformed_key`;
 * UnavailableError, after which the re-key may have happened. Another call does another re-key.
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
