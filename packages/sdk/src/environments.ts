import type { branches } from '@skerry/contract/branches/endpoints'
import type { Answer } from '@skerry/contract/endpoint'
import type { envs } from '@skerry/contract/envs/endpoints'
import { isClient, isReader } from '@skerry/contract/grants/readers'
import { limits } from '@skerry/contract/limits'
import { formatPublicKeyJwk, parsePublicKeyJwk } from '@skerry/crypto/keys'
import { newDek, openSecret } from '@skerry/crypto/secret'
import { wrapKey } from '@skerry/crypto/wrap'
import type { Client } from './client.ts'
import { clientError, DecryptionError, invalid, RefusedError, SkerryError } from './errors.ts'
import {
  type EnvironmentKey,
  type EnvironmentPlace,
  environmentKey,
  environmentKeyOf,
  type RememberingHolder,
  sealFor,
} from './secrets.ts'

export type Environment = Answer<typeof envs.get>['environment']
export type Branch = Answer<typeof branches.create>['branch']
export type ParentGrantee = Answer<typeof envs.grantees>['grantees'][number]

/** An environment of an application or of a group. */
export type NewEnvironment = {
  orgId: string
  name: string
  slug: string
  /**
   * The organization's recovery key, when recovery is on: the key is wrapped to it, too. The server says which key that is, so
   * give one whose words were compared.
   */
  recoveryPublicKeyJwk?: string
} & ({ appId: string } | { groupId: string })

/**
 * Creates an environment with a fresh key, wrapped to the caller. The key is returned for the secrets and grants that
 * come next.
 *
 * @param publicKeyJwk the caller's own: of the token, or of the signed-in person.
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
  const { orgId, name, slug, recoveryPublicKeyJwk } = place
  const key = await environmentKeyOf(newDek())
  const body = { name, slug, ...(await wrapped(key, publicKeyJwk, recoveryPublicKeyJwk)) }
  const { environment } =
    'appId' in place
      ? await client.apps.createEnv({ params: { orgId, appId: place.appId }, body })
      : await client.groups.createEnv({ params: { orgId, groupId: place.groupId }, body })
  return { environment, key }
}

export interface NewBranch {
  orgId: string
  /** The parent: an application environment that is no branch. */
  envId: string
  slug: string
  name?: string
  /** 60 to 2,592,000; 7 days unless given; null: no expiry. */
  ttlSeconds?: number | null
  /** As of {@link NewEnvironment}. */
  recoveryPublicKeyJwk?: string
  /**
   * Decides which of the parent's grantees get the branch's key. The server lists them, and a hostile one adds its own: accept
   * those that you know, by id and by the public key that would be wrapped to. Readers of the server are never asked about.
   */
  reads: (grantee: ParentGrantee) => boolean
}

/**
 * Forks an environment: a branch with a fresh key, wrapped to the caller and to the parent's grantees that `reads` accepts. It
 * starts empty and holds only what differs; a resolve of the branch also reads the parent.
 *
 * @param publicKeyJwk the caller's own.
 * @throws RefusedError `forbidden` without a grant on the parent, `conflict` for a slug in use, `not_found`;
 *   SkerryError `own_key_replaced` where the server lists another one for the caller, `invalid_request` for more than 200
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
  const { orgId, envId, slug, name, ttlSeconds, recoveryPublicKeyJwk, reads } = place
  const params = { orgId, envId }
  const [{ principal }, { grantees }] = await Promise.all([client.me.get(), client.envs.grantees({ params })])
  const isCaller = callerAmong(grantees, { ...principal, publicKeyJwk })
  const readers = grantees.filter(isClient).filter((one) => !isCaller(one) && reads(one))
  if (readers.length > limits.branchGrantsMax) {
    throw invalid(`reads: at most ${limits.branchGrantsMax} grantees when a branch is created`)
  }

  const key = await environmentKeyOf(newDek())
  const grants = await Promise.all(
    readers.map(async ({ principalType, principalId, publicKeyJwk }) => {
      return { principalType, principalId, wrappedDek: await wrapKey(key.bytes, publicKeyJwk) }
    }),
  )
  const own = await wrapped(key, publicKeyJwk, recoveryPublicKeyJwk)
  const { branch } = await client.branches.create({ params, body: { slug, name, ttlSeconds, ...own, grants } })
  return { branch, key }
}

export interface Rekeying extends EnvironmentPlace {
  /** As of {@link NewEnvironment}. */
  recoveryPublicKeyJwk?: string
  /**
   * Decides which holders keep access. The server lists them, and a hostile one adds its own: accept those that you know, by id
   * and by the public key that would be wrapped to. The server's own readers (rotator, sync connections) are among them:
   * {@link isReader} tells these, and what they keep the server can read. The caller always keeps access.
   */
  keeps: (grantee: ParentGrantee) => boolean
  /** How often it is begun anew when something changed meanwhile; 5 unless given. */
  attempts?: number
}

/**
 * An environment under its new key. `lost` held a grant and do so no longer; `readers` are those of `kept` that are part
 * of the server, which can read the environment through them.
 */
export interface Rekeyed {
  environment: Environment
  key: EnvironmentKey
  rekeyedSecrets: number
  kept: Holder[]
  readers: Holder[]
  lost: Holder[]
}

interface Holder {
  principalType: string
  principalId: string
}

/**
 * Gives an environment another key: decrypts every secret, seals it under a fresh key, wraps that to everyone who keeps
 * access, and replaces all of it at once or nothing. Begins anew when a secret or a grant changed in between.
 *
 * What this cannot do: a holder who lost access may have kept the old key and the values, so change the values that matter.
 * Earlier versions stay under the old key and can no longer be restored. Branches have keys of their own.
 *
 * @param own the caller's, who must hold a grant and be an admin; the new key is wrapped to this public key.
 * @throws DecryptionError for a secret that does not open under the old key, which must be written anew or deleted first;
 *   SkerryError `own_key_replaced` or `conflict` where the server lists another public key for the caller, or none;
 *   RefusedError `forbidden`, `not_found`, `conflict` to the last attempt; CryptoError `malformed_key`; UnavailableError, after which it may have
 *   happened: asked again, it is done once more.
 * @example
 * const keeps = (one: ParentGrantee) => one.principalId === userId && one.publicKeyJwk === remembered
 * const { lost } = await rekeyEnvironment(client, { orgId, envId, keeps }, { privateKey, publicKeyJwk })
 */
export async function rekeyEnvironment(
  client: Client,
  place: Rekeying,
  own: { privateKey: RememberingHolder; publicKeyJwk: string },
): Promise<Rekeyed> {
  for (let left = place.attempts ?? 5; ; left--) {
    try {
      return await rekeyOnce(client, place, own)
    } catch (error) {
      // Read half before and half after another re-key, a secret does not decrypt: a second look tells.
      const mayPass = error instanceof DecryptionError || (error instanceof RefusedError && error.code === 'conflict')
      if (left <= 1 || !mayPass) throw error
    }
  }
}

async function rekeyOnce(
  client: Client,
  { orgId, envId, recoveryPublicKeyJwk, keeps }: Rekeying,
  own: { privateKey: RememberingHolder; publicKeyJwk: string },
): Promise<Rekeyed> {
  const params = { orgId, envId }
  const [{ principal }, old, { secrets }, { grantees }, { grants: held }] = await Promise.all([
    client.me.get(),
    environmentKey(client, params, own.privateKey),
    client.secrets.list({ params }),
    client.envs.grantees({ params }),
    client.grants.list({ params }),
  ])
  const isCaller = callerAmong(grantees, { ...principal, publicKeyJwk: own.publicKeyJwk })
  const kept = grantees.filter((one) => isCaller(one) || keeps(one))
  if (!kept.some(isCaller))
    throw new SkerryError('conflict', 'the server does not list you among the holders of this key')
  if (secrets.length > limits.rekeySecretsMax) throw invalid(`at most ${limits.rekeySecretsMax} secrets at once`)
  if (kept.length > limits.rekeyGrantsMax) throw invalid(`at most ${limits.rekeyGrantsMax} holders at once`)

  const key = await environmentKeyOf(newDek())
  const expectedVersions = Object.fromEntries(secrets.map(({ name, version }) => [name, version]))
  const resealed = await Promise.all(secrets.map((secret) => reseal(secret, old, key)))
  const grants = await Promise.all(
    kept.map(async (one) => ({ ...holderOf(one), wrappedDek: await wrapKey(key.bytes, one.publicKeyJwk) })),
  )
  const recovery =
    recoveryPublicKeyJwk === undefined ? {} : { recoveryWrappedDek: await wrapKey(key.bytes, recoveryPublicKeyJwk) }
  const dropReaders = grantees
    .filter(isReader)
    .filter((one) => !kept.includes(one))
    .map(holderOf)
  const dropped = dropReaders.length > 0 ? { dropReaders } : {}
  const body = { expectedVersions, grants, secrets: resealed, ...dropped, ...recovery }
  const { environment, rekeyedSecrets } = await client.rekey.run({ params, body })
  await own.privateKey.knownState?.rekeyed(envId, key.bytes)
  const stays = (one: Holder) => grants.some((grant) => grant.principalId === one.principalId)
  const lost = held.filter((one) => !stays(one)).map(holderOf)
  return {
    environment,
    key,
    rekeyedSecrets,
    kept: kept.map(holderOf),
    readers: kept.filter(isReader).map(holderOf),
    lost,
  }
}

/**
 * Tells the caller among the grantees by the caller's own public key, which no answer can replace. The caller's id is the
 * server's word, so a grantee with that id and another key is refused, and `reads` or `keeps` decides about any other id.
 *
 * @throws SkerryError `own_key_replaced`.
 */
function callerAmong(grantees: readonly ParentGrantee[], caller: { id: string; publicKeyJwk: string }) {
  const own = publicKeyText(caller.publicKeyJwk)
  const isCaller = ({ publicKeyJwk }: ParentGrantee) => publicKeyText(publicKeyJwk) === own
  if (grantees.some((one) => one.principalId === caller.id && !isCaller(one))) throw clientError('own_key_replaced')
  return isCaller
}

/** One text for one key: a server may order the fields of a key as it likes. */
const publicKeyText = (publicKeyJwk: string) => formatPublicKeyJwk(parsePublicKeyJwk(publicKeyJwk))

const holderOf = <T extends string>(one: { principalType: T; principalId: string }) => ({
  principalType: one.principalType,
  principalId: one.principalId,
})

async function reseal(
  { environmentId, name, ciphertext }: { environmentId: string; name: string; ciphertext: string },
  old: EnvironmentKey,
  key: EnvironmentKey,
): Promise<{ name: string; ciphertext: string }> {
  const value = await openSecret(ciphertext, old.dek, environmentId, name).catch(() => {
    throw new DecryptionError(environmentId, name)
  })
  return { name, ciphertext: await sealFor(environmentId, name, value, key.dek) }
}

async function wrapped(key: EnvironmentKey, publicKeyJwk: string, recoveryPublicKeyJwk: string | undefined) {
  const wrappedDek = await wrapKey(key.bytes, publicKeyJwk)
  if (recoveryPublicKeyJwk === undefined) return { wrappedDek }
  return { wrappedDek, recoveryWrappedDek: await wrapKey(key.bytes, recoveryPublicKeyJwk) }
}
