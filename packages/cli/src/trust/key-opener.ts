import { environmentKeyCommitment, managedKeyCommitment, type Reader } from '@skerry/crypto/directory/commitments'
import { CryptoError } from '@skerry/crypto/errors'
import { unwrapKey } from '@skerry/crypto/wrap'
import { RefusedError } from '@skerry/sdk/errors'
import type { KeyOpener } from '@skerry/sdk/internal/directory/differences'
import type { Session } from '../session.ts'
import { ownEntryKey } from './signatory.ts'

/** Opens the keys that the caller holds, to compare them with the signed commitments. */
export function keyOpener(session: Session, orgId: string): KeyOpener {
  const { client } = session
  const own = ownEntryKey(session)
  const isOwn = (readers: readonly Reader[]) => readers.some(([key]) => key === own)
  const open = async (blob: string) => unwrapKey(blob, await session.key())
  return {
    environment: async (id, readers) => {
      if (!isOwn(readers)) return null
      return unlessLocked(async () => {
        const { wrappedDek } = await client.grants.own({ params: { orgId, envId: id } })
        return environmentKeyCommitment(id, await open(wrappedDek))
      })
    },
    managed: async (id, readers) => {
      if (!isOwn(readers)) return null
      return unlessLocked(async () => {
        const { grants } = await client.kms.own({ params: { orgId, kmsKeyId: id } })
        const sorted = grants.toSorted((one, other) => one.version - other.version)
        return Promise.all(
          sorted.map(async ({ version, wrappedKey }) => ({
            version,
            commitment: await managedKeyCommitment(id, version, await open(wrappedKey)),
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
