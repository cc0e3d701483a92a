import { lstat, readdir, unlink } from 'node:fs/promises'
import { homedir, userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { Cache } from '../cache.ts'
import { ignore, readPrivate, writePrivate } from './private-file.ts'

export interface DiskCacheSettings {
  /** `$XDG_CACHE_HOME/skerry` or `~/.cache/skerry` unless given. */
  directory?: string
  /** Copies that were not renewed for so long are removed; 30 days unless given. */
  keepSeconds?: number
  /** Beyond so many the oldest are removed; 200 unless given. */
  entriesMax?: number
}

/** Twice the longest answer that a client takes: sealing makes a third more of it. */
const entryMaxBytes = 128 * 1024 * 1024
const fileName = /^[0-9a-f]{64}\.json$/
const temporaryName = /^\.[0-9a-f]{64}\.json\.[0-9a-f-]{36}\.tmp$/
/** No writer needs so long; what is older was left by one that died. */
const temporarySeconds = 3600

/**
 * Last-known-good copies on disk: one file of mode 0600 for each, in a directory of mode 0700. A copy is written beside
 * its place, synced and renamed, so a crash leaves the old or the new one. No symbolic link is followed.
 *
 * The operations throw when the directory is not this user's alone, and what the file system throws.
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

/** The XDG base directory specification tells to ignore a relative path. */
function defaultDirectory(): string {
  const { XDG_CACHE_HOME: base } = process.env
  // With HOME empty or relative, copies would lie in whatever folder the program runs in.
  const home = isAbsolute(homedir()) ? homedir() : userInfo().homedir
  return join(base && isAbsolute(base) ? base : join(home, '.cache'), 'skerry')
}

function nameOf(key: string): string {
  const name = `${key}.json`
  if (!fileName.test(name)) throw new Error('not a cache key')
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
