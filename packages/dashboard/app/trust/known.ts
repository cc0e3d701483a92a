import type { DirectoryStart } from '@skerry/sdk/internal/directory/open'

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
