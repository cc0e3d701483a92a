import { lstat, readdir, unlink } from 'node:fs/promises'
import { homedir, userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { Cache } from '../cache.ts'
import { ignore, readPrivate, writePrivate } from './private-file.ts'

/** The settings of `diskCache`. */
export interface DiskCacheSettings {
  /**
   * The directory for the files. Default: `$XDG_CACHE_HOME/skerry`, or `~/.cache/skerry` if the variable is not set.
   */
  directory?: string
  /**
   * The number of seconds after which the cache deletes a copy, unless `resolve` has stored the copy again. Default:
   * 2,592,000 (30 days).
   */
  keepSeconds?: number
  /** The maximum number of copies. If there are more copies, the cache deletes the oldest copies. Default: 200. */
  entriesMax?: number
}

/** Twice the longest answer that a client accepts. Encryption makes a copy a third longer. */
const entryMaxBytes = 128 * 1024 * 1024
const fileName = /^[0-9a-f]{64}\.json$/
const temporaryName = /^\.[0-9a-f]{64}\.json\.[0-9a-f-]{36}\.tmp$/
/** No write takes this long. An older temporary file was left by a process that died. */
const temporarySeconds = 3600

/**
 * Stores copies of responses on disk, for the setting `cache` of `createSkerry`. Each copy is a file of mode 0600 in a
 * directory of mode 0700. The cache first writes a copy to a temporary file, which then replaces the old file. After a
 * crash, either the old or the new copy exists. The cache does not follow symbolic links.
 *
 * `write` throws an error if the directory belongs to another user, or if other users can enter the directory. All
 * functions of the cache throw the errors of the file system.
 *
 * @example const skerry = createSkerry({ baseUrl, token, cache: diskCache(), maxAgeSeconds: 3600 })
 */
export function diskCache(settings: DiskCacheSettings = {}): Cache {
  const { directory = defaultDirectory(), keepSeconds = 30 * 86_400, entriesMax = 200 } = settings
  return {
    async read(key) {
      return readPrivate(join(directory, nameOf(key)), entryMaxBytes)
    },
    async write(key, text) {
      await writePrivate(directory, nameOf(key), text)
      await prune(directory, keepSeconds, entriesMax)
    },
    async delete(key) {
      await unlink(join(directory, nameOf(key))).catch(ignore('ENOENT'))
    },
  }
}

/** Ignores a relative path in XDG_CACHE_HOME, as the XDG base directory specification requires. */
function defaultDirectory(): string {
  const { XDG_CACHE_HOME: base } = process.env
  // If HOME is empty or relative, copies would be stored in the folder that the program runs in.
  const home = isAbsolute(homedir()) ? homedir() : userInfo().homedir
  return join(base && isAbsolute(base) ? base : join(home, '.cache'), 'skerry')
}

function nameOf(key: string): string {
  const name = `${key}.json`
  if (!fileName.test(name)) throw new Error('the name is not a cache key')
  return name
}

async function prune(directory: string, keepSeconds: number, entriesMax: number): Promise<void> {
  const aged = await Promise.all(
    (await readdir(directory)).map(async (name) => {
      const status = await lstat(join(directory, name)).catch(ignore('ENOENT'))
      return { name, ageSeconds: status ? (Date.now() - status.mtimeMs) / 1000 : 0 }
    }),
  )
  const entries = aged.filter(({ name }) => fileName.test(name)).sort((a, b) => a.ageSeconds - b.ageSeconds)
  const old = entries.filter(({ ageSeconds }, rank) => rank >= entriesMax || ageSeconds > keepSeconds)
  const left = aged.filter(({ name, ageSeconds }) => temporaryName.test(name) && ageSeconds > temporarySeconds)
  await Promise.all([...old, ...left].map(({ name }) => unlink(join(directory, name)).catch(ignore('ENOENT'))))
}
