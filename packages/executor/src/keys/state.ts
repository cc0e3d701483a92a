import { lstat, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ignore, readPrivate, writePrivate } from '@skerry/sdk/internal/node/private-file'

const fileMaxBytes = 1024 * 1024

/** One JSON file in the executor's state folder. Only its owner can read it. It is written completely or not at all. */
export interface StateFile<T> {
  path: string
  /** Undefined if there is no such file. */
  read(): Promise<T | undefined>
  write(value: T): Promise<void>
}

export function stateFile<T>(folder: string, name: string): StateFile<T> {
  const path = join(folder, name)
  return {
    path,
    async read() {
      const text = await readText(path)
      if (text === undefined) return undefined
      try {
        return JSON.parse(text) as T
      } catch {
        // The message of the parser would quote the file.
        throw new Error(`${path} is damaged: it is not JSON`)
      }
    },
    write: (value) => writePrivate(folder, name, `${JSON.stringify(value, null, 2)}\n`),
  }
}

/**
 * Reads the file again if another process wrote it between the check and the read. A link or a folder is an error, so
 * that it is not replaced like a missing file.
 */
async function readText(path: string): Promise<string | undefined> {
  const text = await readPrivate(path, fileMaxBytes)
  if (text !== undefined) return text
  const found = await lstat(path).catch(ignore('ENOENT', 'ENOTDIR'))
  if (!found) return undefined
  if (found.isFile() && found.size <= fileMaxBytes) return await readText(path)
  throw new Error(`${path} is a link, a folder or too large: replace it with a regular file`)
}

/**
 * Checks that the state folder accepts files, before a step that cannot be undone.
 *
 * @throws Error that names the folder and what to do.
 */
export async function checkWritable(folder: string): Promise<void> {
  const name = 'write-check'
  await writePrivate(folder, name, '')
  await rm(join(folder, name))
}
