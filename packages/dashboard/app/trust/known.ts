import type { DirectoryStart } from '@skerry/sdk/internal/directory/open'
import { KeyringError } from '../keyring.ts'

// Remembers, in this browser, the newest signed directory of each organization that it has verified: hashes and versions,
// which are no secret. A server cannot show this browser an older directory, or none.

const storageName = 'skerry-known-directories'

export type KnownDirectory = NonNullable<DirectoryStart['known']>

function readAll(): Record<string, KnownDirectory> {
  const text = localStorage.getItem(storageName)
  // Broken text is an error: to begin without memory would accept an older directory.
  return text === null ? {} : (JSON.parse(text) as Record<string, KnownDirectory>)
}

export const knownDirectory = (orgId: string): KnownDirectory | null => readAll()[orgId] ?? null

const orgsName = 'skerry-known-orgs'

/**
 * Refuses another organization under the slug of one whose directory this browser knows. Its id would have no directory, so
 * that nothing would be verified.
 *
 * @throws KeyringError `directory_mismatch`.
 */
export function requireKnownOrg({ id, slug }: { id: string; slug: string }): void {
  const ids = JSON.parse(localStorage.getItem(orgsName) ?? '{}') as Record<string, string>
  const known = ids[slug]
  if (known !== undefined && known !== id && knownDirectory(known) !== null)
    throw new KeyringError(
      'directory_mismatch',
      `The server shows another organization as ${slug} than the one whose signed directory this browser knows. If your team made the organization anew, delete the data of this site in the browser. Otherwise do not use this server.`,
    )
  if (known !== id && knownDirectory(id) !== null)
    localStorage.setItem(orgsName, JSON.stringify({ ...ids, [slug]: id }))
}

/** Whether this browser knows the directory of any organization. */
export const knowsDirectories = (): boolean => Object.keys(readAll()).length > 0

/**
 * Remembers a verified directory, unless another tab has remembered a newer one in the meantime.
 *
 * @param isRestored forgets the newer one: a person says that an older backup of the server was restored.
 */
export function rememberDirectory(orgId: string, newest: KnownDirectory, isRestored = false): void {
  const all = readAll()
  const before = all[orgId]
  if (!isRestored && before && before.head.version > newest.head.version) return
  localStorage.setItem(storageName, JSON.stringify({ ...all, [orgId]: newest }))
}
