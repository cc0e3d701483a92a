import type { DirectoryEntry } from '@skerry/crypto/directory/entries'
import { fetchEntries } from '@skerry/sdk/internal/directory/entries'
import { Failure } from '../failure.ts'
import { noteCommitment } from '../known-directories.ts'
import type { Session } from '../session.ts'
import { trustOf } from './reading.ts'

/**
 * Refuses an environment that the server shows under a name that means another environment in the signed directory. The
 * commitment to its key is noted, so that its key is compared when it is opened. A branch has no entry.
 */
export async function requireNames(
  session: Session,
  orgId: string,
  named: readonly { label: string; envId: string }[],
): Promise<void> {
  const own = named.filter(({ label }) => !label.includes('@'))
  if (own.length === 0) return
  const keys = own.map(({ label }) => `environment/${label}` as const satisfies DirectoryEntry['key'])
  const entries = await fetchEntries(session.client, orgId, keys, trustOf(session, orgId, 'read'))
  for (const { label, envId } of own) {
    const entry = entries.get(`environment/${label}`)
    if (!entry) throw unsigned(label)
    if (entry.value.id !== envId) throw other(label, entry.value.id, envId)
    noteCommitment(envId, { label, commitment: entry.value.key })
  }
}

const unsigned = (label: string): Failure =>
  new Failure(
    'refused',
    `${label} is shown by the server, and is not in the signed directory`,
    'if someone on your team created it, a signer runs `skerry trust sign`',
  )

const other = (label: string, signed: string, shown: string): Failure =>
  new Failure(
    'refused',
    `the server shows ${shown} as ${label}, and the signed directory says that it is ${signed}`,
    'do not use this server, unless someone on your team made the environment anew: then a signer runs `skerry trust sign`',
  )
