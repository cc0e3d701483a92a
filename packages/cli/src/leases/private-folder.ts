import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cannotWrite } from '../files.ts'
import { startGuard } from '../run/guarded.ts'

export interface PrivateFolder {
  /** The path of each file, by the name under which it was given. */
  paths: Record<string, string>
  remove: () => void
}

/**
 * Writes files of mode 0600 into a new folder that only this user can enter, in memory if the system has such a folder.
 * The folder is deleted by `remove`, and also if this command is killed. Without files no folder is made.
 */
export async function privateFolder(files: ReadonlyMap<string, string | Uint8Array>): Promise<PrivateFolder> {
  if (files.size === 0) return { paths: {}, remove: () => {} }
  const folder = make()
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    await startGuard(folder)
    const paths = [...files].map(([name, text]) => {
      const path = join(folder, name)
      writeFileSync(path, text, { mode: 0o600, flag: 'wx' })
      return [name, path] as const
    })
    return { paths: Object.fromEntries(paths), remove }
  } catch (error) {
    remove()
    throw error
  }
}

function make(): string {
  const { XDG_RUNTIME_DIR } = process.env
  const parent = XDG_RUNTIME_DIR?.startsWith('/') && isFolder(XDG_RUNTIME_DIR) ? XDG_RUNTIME_DIR : tmpdir()
  try {
    return mkdtempSync(join(parent, 'skerry-'))
  } catch (error) {
    throw cannotWrite(parent, error)
  }
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
