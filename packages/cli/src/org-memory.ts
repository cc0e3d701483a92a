import { chmodSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { withLock } from './credentials.ts'
import { Failure } from './failure.ts'
import { readIfThere, writePrivate } from './files.ts'
import { configFolder } from './folders.js'

interface Facts<T> {
  /** The name of the file in the folder of the configuration. */
  file: string
  /** The field of the file that has an entry for each organization. */
  field: string
  /** The content of the file, for the error: `known keys`. */
  holds: string
  /** The next step if the file is broken. */
  next: string
  /** Whether an entry is complete. It may throw for a value of another type. */
  isComplete?: (entry: T) => boolean
}

/** A file in which this machine remembers something of each organization, to compare it with later answers of the server. */
interface OrgMemory<T> {
  find: (url: string, orgId: string) => T | undefined
  /** Whether the file has an entry of any organization of the server. */
  hasServer: (url: string) => boolean
  /** Replaces the entry of an organization, while other commands wait. Writes nothing if the entry stays the same. */
  change: (url: string, orgId: string, edit: (entry: T | undefined) => T) => void
}

/** A broken file is refused, because starting again with an empty file would accept any answer. */
export function orgMemory<T>({ file, field, holds, next, isComplete = () => true }: Facts<T>): OrgMemory<T> {
  const pathOf = () => join(configFolder(), file)
  const read = (): Record<string, T> => {
    const path = pathOf()
    const text = readIfThere(path)
    if (text === null) return {}
    keepPrivate(path)
    try {
      const { version, [field]: entries } = JSON.parse(text)
      if (version === 1 && typeof entries === 'object' && Object.values(entries as object).every(isComplete))
        return entries
    } catch {
      // The error below reports it.
    }
    throw new Failure('failure', `${path} is not a list of ${holds}`, next)
  }
  return {
    find: (url, orgId) => read()[entryName(url, orgId)],
    hasServer: (url) => Object.keys(read()).some((name) => name.startsWith(entryName(url, ''))),
    change: (url, orgId, edit) =>
      withLock(`${pathOf()}.lock`, () => {
        const entries = read()
        const name = entryName(url, orgId)
        const before = JSON.stringify(entries[name])
        const after = edit(entries[name])
        if (JSON.stringify(after) === before) return
        const content = { version: 1, [field]: { ...entries, [name]: after } }
        writePrivate(pathOf(), `${JSON.stringify(content, null, 2)}\n`)
      }),
  }
}

const entryName = (url: string, orgId: string): string => `${url} ${orgId}`

/** Takes the file from other users. On a read-only file system it stays as it is. */
function keepPrivate(path: string): void {
  if ((statSync(path).mode & 0o077) === 0) return
  try {
    chmodSync(path, 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EROFS') throw error
  }
}
