import { join } from 'node:path'
import { readPrivate, writePrivate } from '@skerry/sdk/node/private-file'

const fileMaxBytes = 1024 * 1024

/** One JSON file of the executor's state folder: readable by its owner alone, written whole or not at all. */
export interface StateFile<T> {
  path: string
  /** Undefined where there is no such file. */
  read(): Promise<T | undefined>
  write(value: T): Promise<void>
}

export function stateFile<T>(folder: string, name: string): StateFile<T> {
  const path = join(folder, name)
  return {
    path,
    async read() {
      const text = await readPrivate(path, fileMaxBytes)
      if (text === undefined) return undefined
      try {
        return JSON.parse(text) as T
      } catch {
        // The words of the parser would quote the file.
        throw new Error(`${path} is damaged: it is not JSON`)
      }
    },
    write: (value) => writePrivate(folder, name, `${JSON.stringify(value, null, 2)}\n`),
  }
}
