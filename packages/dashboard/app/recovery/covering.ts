import { RefusedError, SkerryError } from '@skerry/sdk/errors'
import { api } from '../api.ts'
import { acceptReaders } from '../envs/known-readers.ts'
import { checkKeys, remember } from '../envs/pins.ts'
import { knownDirectory } from '../trust/known.ts'

// Environment keys are also wrapped to the recovery key. A server that replaced the recovery key with its own would
// receive all of them. If this browser knows the signed directory, only the recovery key that its root names counts.
// Otherwise it expects the recovery key that it saw first.

export const recoveryHolder = (orgId: string, publicKeyJwk: string) => ({
  principalId: `recovery/${orgId}`,
  publicKeyJwk,
})

/**
 * Returns the recovery key if it is unchanged since this browser first saw it, or null if the organization has none.
 */
export async function knownRecoveryKey(orgId: string): Promise<string | null> {
  const { recoveryPublicKeyJwk } = await api.recovery.publicKey({ params: { orgId } })
  if (recoveryPublicKeyJwk === null) return null
  const holder = recoveryHolder(orgId, recoveryPublicKeyJwk)
  const [checked] = await checkKeys([holder])
  if (!checked || checked.status === 'changed')
    throw new SkerryError('wrong_key', 'the recovery key has changed; compare its words on the page Recovery')
  remember([{ principalId: holder.principalId, fingerprint: checked.fingerprint }])
  return recoveryPublicKeyJwk
}

/**
 * Returns the recovery key if it is signed, or after the person has accepted it in this browser. Call it before you wrap
 * anything to it.
 *
 * @returns null if the organization has none, or if nobody has signed it.
 * @throws Cancelled if the person declines. SkerryError `wrong_key` if the signed directory names another key.
 */
export async function acceptedRecoveryKey(orgId: string): Promise<string | null> {
  if (knownDirectory(orgId) !== null) return (await import('../trust/recovery-key.ts')).signedRecoveryKey(orgId)
  const publicKeyJwk = await knownRecoveryKey(orgId)
  if (publicKeyJwk === null) return null
  const holder = recoveryHolder(orgId, publicKeyJwk)
  const [checked] = await checkKeys([holder])
  // The person created it here or compared its words.
  if (checked?.status === 'verified') return publicKeyJwk
  const reader = { ...holder, shownAs: 'The recovery key of this organization' }
  await acceptReaders({ id: holder.principalId, key: '' }, 'the keys that you make', [reader])
  return publicKeyJwk
}

/** Returns this person's wrapped keys of these environments. Environments whose key they do not hold are left out. */
export async function ownKeysOf(orgId: string, environmentIds: readonly string[]) {
  const found = await Promise.all(
    environmentIds.map(async (environmentId) => {
      try {
        const { wrappedDek } = await api.grants.own({ params: { orgId, envId: environmentId } })
        return [{ environmentId, wrappedDek }]
      } catch (error) {
        if (error instanceof RefusedError) return []
        throw error
      }
    }),
  )
  return found.flat()
}
