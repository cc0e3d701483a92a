import type { Answer, Body } from '@skerry/contract/endpoint'
import type { recovery, recoveryRequests } from '@skerry/contract/recovery/endpoints'
import type { Bytes } from '@skerry/crypto/base64url'
import { CryptoError } from '@skerry/crypto/errors'
import { generateKeyPair, type PrivateKey } from '@skerry/crypto/keys'
import { combineShares, isShareOf, type Share, splitRecoveryKey } from '@skerry/crypto/recovery'
import { type KeyHolder, unwrapKey, wrapKey } from '@skerry/crypto/wrap'
import type { Client } from './client.ts'
import { SkerryError } from './errors.ts'

/**
 * A recovery request. It asks the custodians, people who each have a share of the organization's recovery key, to send
 * their shares. With enough shares, a person or service token (the target of the request) gets environment keys. A
 * drill only tests this and has no target.
 */
export type RecoveryRequest = Answer<typeof recoveryRequests.open>['request']
/** A share of the recovery key, which a custodian wrapped for the public key in a recovery request. */
export type ContributedShare = Answer<typeof recoveryRequests.get>['shares'][number]

/**
 * Makes a new recovery key: a key pair for which environment keys are also wrapped, so that people can recover the
 * keys. The function divides the private key into shares, and wraps one share for each custodian. It also wraps the
 * keys of environments for the new recovery key. Afterwards nobody has the private key, but `plan.threshold` custodians
 * together can compute it from their shares.
 *
 * @param plan.threshold the number of custodians who are enough to compute the recovery key, at least 2.
 * @param plan.custodians the people who get a share, at most 255. Compare the words of their public keys first.
 * @param plan.environments the environments that custodians can recover, each with its key (32 bytes).
 * @returns the body of the request that enables recovery or replaces the recovery key.
 * @throws CryptoError `invalid_argument` if the threshold is below 2 or above the number of custodians, or if there are
 *   more than 255 custodians; CryptoError `malformed_key` if the public key of a custodian is not valid.
 * @example
 * const body = await newRecoveryKey({ orgId, threshold: 3, custodians, environments })
 * await client.recovery.enable({ params: { orgId }, body })
 */
export async function newRecoveryKey(plan: {
  orgId: string
  threshold: number
  custodians: readonly { userId: string; publicKeyJwk: string }[]
  environments: readonly { environmentId: string; key: Bytes }[]
}): Promise<Body<typeof recovery.enable>> {
  const { orgId, threshold, custodians, environments } = plan
  const { privateKey, publicKeyJwk } = await generateKeyPair()
  const shares = await splitRecoveryKey(privateKey, { orgId, threshold, count: custodians.length })
  const wrappedShares = custodians.map(async ({ userId, publicKeyJwk }, index) => ({
    userId,
    shareIndex: index + 1,
    wrappedShare: await wrapKey(shares[index] as Share, publicKeyJwk),
  }))
  return {
    recoveryPublicKeyJwk: publicKeyJwk,
    threshold,
    shares: await Promise.all(wrappedShares),
    grants: await coverEnvironments(environments, publicKeyJwk),
  }
}

/**
 * Wraps the keys of environments for the recovery key, so that custodians can recover them.
 *
 * @param environments the environments, each with its key (32 bytes).
 * @param recoveryPublicKeyJwk the public key of the recovery key, a JWK as a JSON string. Compare the words of this key
 *   first.
 * @returns a wrapped key for each environment.
 * @throws CryptoError `malformed_key` if the recovery key is not valid.
 * @example
 * const grants = await coverEnvironments(environments, recoveryPublicKeyJwk)
 * await client.recovery.cover({ params: { orgId }, body: { grants } })
 */
export const coverEnvironments = (
  environments: readonly { environmentId: string; key: Bytes }[],
  recoveryPublicKeyJwk: string,
) =>
  Promise.all(
    environments.map(async ({ environmentId, key }) => ({
      environmentId,
      wrappedDek: await wrapKey(key, recoveryPublicKeyJwk),
    })),
  )

/**
 * Too few of the shares that custodians sent belong to the recovery key, so nobody can compute its private key from
 * them. `falseShares` lists the shares that do not belong to the recovery key. The code is `decryption_failed`.
 */
export class FalseSharesError extends SkerryError {
  override readonly name: string = 'FalseSharesError'
  readonly falseShares: readonly ContributedShare[]

  constructor(falseShares: readonly ContributedShare[], message: string) {
    super('decryption_failed', message)
    this.falseShares = falseShares
  }
}

/**
 * Computes the private key of the recovery key from the shares that custodians wrapped for the caller. The function
 * checks each share against the public key of the recovery key. It uses only valid shares, and returns the other shares
 * in `falseShares`.
 *
 * @param holder the private key of the caller, with which the function unwraps the shares.
 * @param recoveryPublicKeyJwk the public key of the recovery key, as a JWK in a JSON string. Pass the key that your
 *   program knew before, and not a key that the server sends now. Shares of another recovery key are in `falseShares`.
 * @throws SkerryError `conflict` if too few custodians have sent a share; FalseSharesError if enough custodians have
 *   sent a share, but too few shares are valid.
 * @example
 * const answer = await client.recoveryRequests.get({ params: { orgId, recoveryRequestId } })
 * const { recoveryKey, falseShares } = await gatherRecoveryKey({ orgId, ...answer }, privateKey, recoveryPublicKeyJwk)
 */
export async function gatherRecoveryKey(
  { orgId, request, shares }: { orgId: string; request: RecoveryRequest; shares: readonly ContributedShare[] },
  holder: KeyHolder,
  recoveryPublicKeyJwk: string,
): Promise<{ recoveryKey: PrivateKey; falseShares: ContributedShare[] }> {
  const { threshold } = request
  if (shares.length < threshold)
    throw new SkerryError('conflict', `only ${shares.length} of the ${threshold} needed shares were contributed`)
  const good: Share[] = []
  const falseShares: ContributedShare[] = []
  for (const one of shares) {
    const share = await openShare(one, holder)
    const place = { orgId, shareIndex: one.shareIndex, threshold }
    if (share && (await isShareOf(share, recoveryPublicKeyJwk, place))) good.push(share)
    else falseShares.push(one)
  }
  if (good.length < threshold) {
    const whose = falseShares.map(({ userId, shareIndex }) => `${shareIndex} (${userId})`).join(', ')
    throw new FalseSharesError(falseShares, `these shares do not belong to the recovery key: ${whose}`)
  }
  return { recoveryKey: await combineShares(good, recoveryPublicKeyJwk), falseShares }
}

/** Returns undefined for a share that is not wrapped to the holder. Such a share counts as false. */
async function openShare({ contributedShare }: ContributedShare, holder: KeyHolder): Promise<Share | undefined> {
  if (contributedShare === null) return undefined
  try {
    return await unwrapKey(contributedShare, holder)
  } catch (error) {
    if (error instanceof CryptoError) return undefined
    throw error
  }
}

/**
 * Asks the server for the environment keys that are wrapped for the recovery key. The function unwraps these keys with
 * the recovery key, and wraps them for the person or service token that gets them (the target).
 *
 * @param targetPublicKeyJwk the public key of the target, a JWK as a JSON string.
 * @param chosen the ids of the environments. Default: all environments whose keys are wrapped for the recovery key.
 * @param recoveryKey the private key from `gatherRecoveryKey`.
 * @returns two lists. `grants` has the environment keys, wrapped for the target. `unreadable` has the ids of the
 *   environments whose key was wrapped for another recovery key. The function cannot recover these keys.
 * @throws RefusedError `forbidden` unless the caller is an admin, or the target of an open recovery request to which
 *   enough custodians have sent a share; CryptoError `malformed_key` if the public key of the target is not valid;
 *   UnavailableError.
 * @example const { grants } = await recoverKeys(client, { orgId, targetPublicKeyJwk }, recoveryKey)
 */
export async function recoverKeys(
  client: Client,
  { orgId, targetPublicKeyJwk, chosen }: { orgId: string; targetPublicKeyJwk: string; chosen?: ReadonlySet<string> },
  recoveryKey: PrivateKey,
): Promise<{ grants: { environmentId: string; wrappedDek: string }[]; unreadable: string[] }> {
  const covered = (await client.recovery.envKeys({ params: { orgId } })).grants
  const wanted = chosen ? covered.filter(({ environmentId }) => chosen.has(environmentId)) : covered
  return rewrapCovered(wanted, targetPublicKeyJwk, recoveryKey)
}

/**
 * Unwraps environment keys that were wrapped for the recovery key, and wraps them for the person or service token that
 * gets them (the target). Unlike `recoverKeys`, the function sends no request: you give the wrapped keys in `covered`.
 *
 * @param covered the environments, each with its key, wrapped for the recovery key.
 * @param targetPublicKeyJwk the public key of the target, a JWK as a JSON string.
 * @param recoveryKey the private key from `gatherRecoveryKey`.
 * @returns two lists. `grants` has the environment keys, wrapped for the target. `unreadable` has the ids of the
 *   environments whose key was wrapped for another recovery key. The function cannot recover these keys.
 * @throws CryptoError `malformed_key` if the public key of the target is not valid.
 * @example
 * const covered = await client.recovery.envKeys({ params: { orgId } })
 * const { grants } = await rewrapCovered(covered.grants, targetPublicKeyJwk, recoveryKey)
 */
export async function rewrapCovered(
  covered: readonly { environmentId: string; wrappedDek: string }[],
  targetPublicKeyJwk: string,
  recoveryKey: PrivateKey,
): Promise<{ grants: { environmentId: string; wrappedDek: string }[]; unreadable: string[] }> {
  const grants: { environmentId: string; wrappedDek: string }[] = []
  const unreadable: string[] = []
  for (const { environmentId, wrappedDek } of covered) {
    try {
      const key = await unwrapKey(wrappedDek, recoveryKey)
      grants.push({ environmentId, wrappedDek: await wrapKey(key, targetPublicKeyJwk) })
    } catch (error) {
      if (!(error instanceof CryptoError) || error.code !== 'decryption_failed') throw error
      unreadable.push(environmentId)
    }
  }
  return { grants, unreadable }
}
