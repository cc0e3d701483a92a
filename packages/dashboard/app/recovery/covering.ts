import { RefusedError, SkerryError } from '@skerry/sdk/errors'
import { api } from '../api.ts'
import { acceptReaders } from '../envs/known-readers.ts'
import { checkKeys, remember } from '../envs/pins.ts'

// Keys of environments are wrapped to the recovery key. A server that could put its own in its place would be given all of
// them, so the one that this browser saw first is the one to expect.

export const recoveryHolder = (orgId: string, publicKeyJwk: string) => ({
  principalId: `recovery/${orgId}`,
  publicKeyJwk,
})

/** The recovery key, if it is the one that was seen before; null where the organization has none. */
export async function knownRecoveryKey(orgId: string): Promise<string | null> {
  const { recoveryPublicKeyJwk } = await api.recovery.publicKey({ params: { orgId } })
  if (recoveryPublicKeyJwk === null) return null
  const holder = recoveryHolder(orgId, recoveryPublicKeyJwk)
  const [checked] = await checkKeys([holder])
  if (!checked || checked.status === 'changed')
    throw new SkerryError(
      'wrong_key',
      'the recovery key is another one than before; compare its words on the page Recovery',
    )
  remember([{ principalId: holder.principalId, fingerprint: checked.fingerprint }])
  return recoveryPublicKeyJwk
}

/**
 * The recovery key, once the person has accepted it in this browser: to be called before something is wrapped to it.
 *
 * @throws Cancelled where the person does not.
 */
export async function acceptedRecoveryKey(orgId: string): Promise<string | null> {
  const publicKeyJwk = await knownRecoveryKey(orgId)
  if (publicKeyJwk === null) return null
  const holder = recoveryHolder(orgId, publicKeyJwk)
  const [checked] = await checkKeys([holder])
  // The person has made it here, or compared its words.
  if (checked?.status === 'verified') return publicKeyJwk
  const reader = { ...holder, shownAs: 'The recovery key of this organization' }
  await acceptReaders({ id: holder.principalId, key: '' }, 'the keys that you make', [reader])
  return publicKeyJwk
}

/** The keys of these environments that this person holds, wrapped to them. */
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
