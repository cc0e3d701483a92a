import { accessSync, constants, mkdtempSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '../failure.ts'
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
export async function privateFolder(
  files: ReadonlyMap<string, string | Uint8Array>,
  parent = runtimeFolder() ?? tmpdir(),
): Promise<PrivateFolder> {
  if (files.size === 0) return { paths: {}, remove: () => {} }
  const folder = make(parent)
  let release = () => {}
  const remove = () => {
    rmSync(folder, { recursive: true, force: true })
    release()
  }
  try {
    release = await startGuard(folder)
    const paths = [...files].map(([name, text]) => {
      const path = join(folder, name)
      writeFileSync(path, text, { mode: 0o600, flag: 'wx' })
      return [name, path] as const
    })
    return { paths: Object.fromEntries(paths), remove }
  } catch (error) {
    remove()
    throw error instanceof Failure ? error : cannotWrite(folder, error)
  }
}

function make(parent: string): string {
  try {
    return mkdtempSync(join(parent, 'skerry-'))
  } catch (error) {
    throw cannotWrite(parent, error)
  }
}

/** The folder of the system for files of this user's session, which is in memory. */
function runtimeFolder(): string | undefined {
  const { XDG_RUNTIME_DIR } = process.env
  return XDG_RUNTIME_DIR?.startsWith('/') && isFolder(XDG_RUNTIME_DIR) ? XDG_RUNTIME_DIR : undefined
}

/** A folder on a file system in memory, or undefined if the system has none. */
export const memoryFolder = (): string | undefined => [runtimeFolder(), '/dev/shm'].find(isWritableMemory)

/** The numbers of tmpfs and ramfs in `statfs` of Linux. */
const memoryFileSystems = [0x01021994, 0x858458f6]

function isWritableMemory(path: string | undefined): boolean {
  try {
    if (path === undefined) return false
    accessSync(path, constants.W_OK | constants.X_OK)
    return memoryFileSystems.includes(statfsSync(path).type)
  } catch {
    return false
  }
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
