import type { Answer } from '@skerry/contract/endpoint'
import type { branches, envs } from '@skerry/contract/envs'
import { limits } from '@skerry/contract/limits'
import { newDek } from '@skerry/crypto/secret'
import { wrapKey } from '@skerry/crypto/wrap'
import type { Client } from './client.ts'
import { invalid } from './errors.ts'
import { type EnvironmentKey, environmentKeyOf } from './secrets.ts'

export type Environment = Answer<typeof envs.get>['environment']
export type Branch = Answer<typeof branches.create>['branch']
export type ParentGrantee = Answer<typeof envs.grantees>['grantees'][number]

/** An environment of an application or of a group. */
export type NewEnvironment = {
  orgId: string
  name: string
  slug: string
  /** The organization's recovery key, when recovery is on: the key is wrapped to it, too. */
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
  recoveryPublicKeyJwk?: string
  /** Which of the parent's grantees read the branch; all unless given. Sees the public key that would be wrapped to. */
  reads?: (grantee: ParentGrantee) => boolean
}

/**
 * Forks an environment: a branch with a fresh key, wrapped to the caller and to the parent's grantees. It starts empty
 * and holds only what differs; a resolve of the branch also reads the parent.
 *
 * @param publicKeyJwk the caller's own.
 * @throws RefusedError `forbidden` without a grant on the parent, `conflict` for a slug in use, `not_found`;
 *   SkerryError `invalid_request` for more than 200 grantees; CryptoError `malformed_key`; UnavailableError.
 * @example const { branch, key } = await createBranch(client, { orgId, envId, slug: 'pr-7' }, publicKeyJwk)
 */
export async function createBranch(
  client: Client,
  place: NewBranch,
  publicKeyJwk: string,
): Promise<{ branch: Branch; key: EnvironmentKey }> {
  const { orgId, envId, slug, name, ttlSeconds, recoveryPublicKeyJwk, reads = () => true } = place
  const params = { orgId, envId }
  const [{ principal }, { grantees }] = await Promise.all([client.me.get(), client.envs.grantees({ params })])
  const isCaller = (one: ParentGrantee) => one.principalType === principal.type && one.principalId === principal.id
  const readers = grantees.filter((one) => !isCaller(one) && reads(one))
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

async function wrapped(key: EnvironmentKey, publicKeyJwk: string, recoveryPublicKeyJwk: string | undefined) {
  const wrappedDek = await wrapKey(key.bytes, publicKeyJwk)
  if (recoveryPublicKeyJwk === undefined) return { wrappedDek }
  return { wrappedDek, recoveryWrappedDek: await wrapKey(key.bytes, recoveryPublicKeyJwk) }
}
