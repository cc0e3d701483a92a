import { constants } from 'node:fs'
import { lstat, mkdir, open, readdir, rename, unlink } from 'node:fs/promises'
import { homedir, userInfo } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import type { Cache } from '../cache.ts'

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
      return read(join(directory, nameOf(key)))
    },
    async write(key, text) {
      const name = nameOf(key)
      await makeDirectory(directory)
      await checkPrivate(directory)
      await replace(directory, name, text)
      await prune(directory, keepSeconds, entriesMax)
    },
    async delete(key) {
      await unlink(join(directory, nameOf(key))).catch(ignore('ENOENT'))
    },
  }
}

/** Not `recursive`, with which Node tries for ever where a directory exists and takes no others: /proc, for one. */
async function makeDirectory(directory: string): Promise<void> {
  if (await lstat(directory).catch(ignore('ENOENT'))) return
  if (dirname(directory) !== directory) await makeDirectory(dirname(directory))
  await mkdir(directory, { mode: 0o700 }).catch(ignore('EEXIST'))
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

/** Others who could write here could not forge a copy, but they could delete it, or put an older one back. */
async function checkPrivate(directory: string): Promise<void> {
  const status = await lstat(directory)
  if (!status.isDirectory()) throw new Error('the cache directory is not a directory')
  if (process.getuid === undefined) return
  if (status.uid !== process.getuid()) throw new Error('the cache directory belongs to somebody else')
  if ((status.mode & 0o077) !== 0) throw new Error('the cache directory is open to others: set its mode to 0700')
}

/** O_NONBLOCK: a FIFO in the place of the file must not hang the program. */
async function read(path: string): Promise<string | undefined> {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(ignore('ENOENT', 'ELOOP', 'ENOTDIR'))
  if (!file) return undefined
  try {
    const status = await file.stat()
    return status.isFile() && status.size <= entryMaxBytes ? await file.readFile('utf8') : undefined
  } finally {
    await file.close()
  }
}

async function replace(directory: string, name: string, text: string): Promise<void> {
  const temporary = join(directory, `.${name}.${crypto.randomUUID()}.tmp`)
  try {
    // `wx` creates and never opens what is there, be it a link.
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, join(directory, name))
  } catch (error) {
    await unlink(temporary).catch(() => {})
    throw error
  }
  await syncDirectory(directory)
}

/** Makes the rename last. Windows cannot open a directory, and needs none of this. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, constants.O_RDONLY).catch(ignore('EISDIR', 'EPERM', 'EACCES'))
  await handle?.sync().finally(() => handle.close())
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

function ignore(...codes: string[]): (error: NodeJS.ErrnoException) => undefined {
  return (error) => {
    if (!codes.includes(error.code ?? '')) throw error
  }
}
