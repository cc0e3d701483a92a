import { constants } from 'node:fs'
import { lstat, mkdir, open, rename, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/**
 * Writes a file of mode 0600 in a directory of mode 0700, which it makes where there is none. A crash leaves the old file or
 * the new one, and no symbolic link is followed.
 *
 * @throws Error when the directory is not this user's alone, and what the file system throws.
 */
export async function writePrivate(directory: string, name: string, text: string): Promise<void> {
  await makeDirectory(directory)
  await checkPrivate(directory)
  await replace(directory, name, text)
}

/** Not `recursive`, with which Node tries for ever where a directory exists and takes no others: /proc, for one. */
async function makeDirectory(directory: string): Promise<void> {
  if (await lstat(directory).catch(ignore('ENOENT'))) return
  if (dirname(directory) !== directory) await makeDirectory(dirname(directory))
  await mkdir(directory, { mode: 0o700 }).catch(ignore('EEXIST'))
}

/** Others who could write here could not forge a copy, but they could delete it, or put an older one back. */
async function checkPrivate(directory: string): Promise<void> {
  const status = await lstat(directory)
  if (!status.isDirectory()) throw new Error(`${directory} is not a directory`)
  if (process.getuid === undefined) return
  if (status.uid !== process.getuid()) throw new Error(`${directory} belongs to another user`)
  if ((status.mode & 0o077) !== 0)
    throw new Error(`${directory} is open to other users: run \`chmod 700 ${directory}\``)
}

/**
 * The text of a file that `writePrivate` wrote; undefined where there is none, or something else. O_NONBLOCK: a FIFO in its
 * place must not hang the program.
 *
 * @param bytesMax a longer file counts as none
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

/** For `catch`: passes over errors of the file system with these codes. */
export function ignore(...codes: string[]): (error: NodeJS.ErrnoException) => undefined {
  return (error) => {
    if (!codes.includes(error.code ?? '')) throw error
  }
}
