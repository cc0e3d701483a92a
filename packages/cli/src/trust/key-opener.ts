import { environmentKeyCommitment, managedKeyCommitment, type Reader } from '@skerry/crypto/directory/commitments'
import { CryptoError } from '@skerry/crypto/errors'
import { materialFingerprint } from '@skerry/crypto/kms'
import { unwrapKey } from '@skerry/crypto/wrap'
import { RefusedError } from '@skerry/sdk/errors'
import type { KeyOpener } from '@skerry/sdk/internal/directory/differences'
import type { Session } from '../session.ts'
import type { OpenedKeys } from './remembered.ts'
import { ownEntryKey } from './signatory.ts'

/**
 * Opens the keys that the caller holds, to compare them with the signed commitments.
 *
 * @param opened gets each key that was opened.
 */
export function keyOpener(session: Session, orgId: string, opened: OpenedKeys): KeyOpener {
  const { client } = session
  const own = ownEntryKey(session)
  const isOwn = (readers: readonly Reader[]) => readers.some(([key]) => key === own)
  const open = async (blob: string) => unwrapKey(blob, await session.key())
  return {
    environment: async (id, readers) => {
      if (!isOwn(readers)) return null
      return unlessLocked(async () => {
        const { wrappedDek } = await client.grants.own({ params: { orgId, envId: id } })
        const bytes = await open(wrappedDek)
        opened.environments.set(id, bytes)
        return environmentKeyCommitment(id, bytes)
      })
    },
    managed: async (id, readers) => {
      if (!isOwn(readers)) return null
      return unlessLocked(async () => {
        const { grants } = await client.kms.own({ params: { orgId, kmsKeyId: id } })
        const sorted = grants.toSorted((one, other) => one.version - other.version)
        const held = await Promise.all(
          sorted.map(async ({ version, wrappedKey }) => ({ version, bytes: await open(wrappedKey) })),
        )
        opened.managed.set(
          id,
          await Promise.all(
            held.map(async ({ version, bytes }) => ({
              keyId: id,
              version,
              fingerprint: await materialFingerprint(bytes),
            })),
          ),
        )
        return Promise.all(
          held.map(async ({ version, bytes }) => ({
            version,
            commitment: await managedKeyCommitment(id, version, bytes),
          })),
        )
      })
    },
  }
}

/** Returns null if the server refuses the key, or if it is not for this caller. */
async function unlessLocked<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof RefusedError || error instanceof CryptoError) return null
    throw error
  }
}
