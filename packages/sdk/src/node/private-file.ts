import { constants } from 'node:fs'
import { lstat, mkdir, open, rename, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/**
 * Writes a file of mode 0600 in a directory of mode 0700, which it creates if it is missing. A crash leaves the old
 * file or the new one. Symbolic links are not followed.
 *
 * @throws Error if other users can reach the directory or own it; the errors of the file system.
 */
export async function writePrivate(directory: string, name: string, text: string): Promise<void> {
  await makeDirectory(directory)
  await checkPrivate(directory)
  await replace(directory, name, text)
}

/**
 * Avoids `recursive`: Node then retries for ever in a directory that exists but accepts no new entries, such as /proc.
 */
async function makeDirectory(directory: string): Promise<void> {
  if (await lstat(directory).catch(ignore('ENOENT'))) return
  if (dirname(directory) !== directory) await makeDirectory(dirname(directory))
  await mkdir(directory, { mode: 0o700 }).catch(ignore('EEXIST'))
}

/** Other users who can write here cannot forge a copy. But they could delete the file, or put an older copy back. */
async function checkPrivate(directory: string): Promise<void> {
  const status = await lstat(directory)
  if (!status.isDirectory()) throw new Error(`${directory} is not a directory`)
  if (process.getuid === undefined) return
  if (status.uid !== process.getuid()) throw new Error(`${directory} belongs to another user`)
  if ((status.mode & 0o077) !== 0) throw new Error(`other users can open ${directory}: run \`chmod 700 ${directory}\``)
}

/**
 * Reads a file that `writePrivate` wrote. Returns undefined if it is missing or is no regular file. With O_NONBLOCK, a
 * FIFO at this path does not block the program.
 *
 * @param bytesMax a longer file counts as missing
 */
export async function readPrivate(path: string, bytesMax: number): Promise<string | undefined> {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(ignore('ENOENT', 'ELOOP', 'ENOTDIR'))
  if (!file) return undefined
  try {
    const status = await file.stat()
    return status.isFile() && status.size <= bytesMax ? await file.readFile('utf8') : undefined
  } finally {
    await file.close()
  }
}

async function replace(directory: string, name: string, text: string): Promise<void> {
  const temporary = join(directory, `.${name}.${crypto.randomUUID()}.tmp`)
  try {
    // `wx` creates a new file. It never opens an existing one, not even through a link.
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

/** Makes the rename durable. Windows cannot open a directory, and does not need this. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, constants.O_RDONLY).catch(ignore('EISDIR', 'EPERM', 'EACCES'))
  await handle?.sync().finally(() => handle.close())
}

/** For `catch`: ignores file system errors with these codes. */
export function ignore(...codes: string[]): (error: NodeJS.ErrnoException) => undefined {
  return (error) => {
    if (!codes.includes(error.code ?? '')) throw error
  }
}
