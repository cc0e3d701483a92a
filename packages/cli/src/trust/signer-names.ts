import type { DirectoryEntry } from '@skerry/crypto/directory/entries'
import { fetchEntries } from '@skerry/sdk/internal/directory/entries'
import { Failure, toFailure } from '../failure.ts'
import type { Session } from '../session.ts'
import { trustOf } from './reading.ts'

/** The key of the entry of somebody who signs. */
const entryKeyOf = (id: string): DirectoryEntry['key'] => (id.startsWith('usr_') ? `person/${id}` : `token/${id}`)

/**
 * Names the signers in a refusal by e-mail address, or by the name of a token, as their signed entries say. An id stays
 * where this credential may not read the entry.
 */
export async function nameSigners(error: Error & { signers: readonly string[] }, session: Session): Promise<Failure> {
  const { kind, message, next } = toFailure(error)
  try {
    const { id: orgId } = await session.org()
    const keys = error.signers.map(entryKeyOf)
    const entries = await fetchEntries(session.client, orgId, keys, trustOf(session, orgId, 'read'))
    const named = error.signers.reduce((text, id) => {
      const { email, name } = (entries.get(entryKeyOf(id))?.value ?? {}) as { email?: string; name?: string }
      return text.replaceAll(id, email ?? name ?? id)
    }, message)
    return new Failure(kind, named, next)
  } catch {
    // The refusal itself matters more than the names in it.
    return new Failure(kind, message, next)
  }
}
