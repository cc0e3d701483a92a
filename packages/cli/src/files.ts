import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { Failure } from './failure.ts'

const ownerOnlyFile = 0o600
const ownerOnlyFolder = 0o700

/** An XDG base folder: the variable when it holds an absolute path, else the folder in the home. */
function baseFolder(variable: string, inHome: string): string {
  const set = process.env[variable]
  return set?.startsWith('/') ? set : join(homedir(), inHome)
}

export const configFolder = () => join(baseFolder('XDG_CONFIG_HOME', '.config'), 'skerry')
export const stateFolder = () => join(baseFolder('XDG_STATE_HOME', '.local/state'), 'skerry')
export const cacheFolder = () => join(baseFolder('XDG_CACHE_HOME', '.cache'), 'skerry')

/** The file's text, or null when there is no such file. */
export function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw unreadable(path, error)
  }
}

/** Writes a file that only its owner can read, whole or not at all, into a folder that only its owner can enter. */
export function writePrivate(path: string, text: string): void {
  makePrivateFolder(dirname(path))
  writeWhole(path, text, ownerOnlyFile)
}

export function makePrivateFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: ownerOnlyFolder })
    if ((statSync(folder).mode & 0o077) !== 0) chmodSync(folder, ownerOnlyFolder)
  } catch (error) {
    throw cannotWrite(folder, error)
  }
}

/** Writes beside the target and renames, so that a reader sees the old text or the new one. */
export function writeWhole(path: string, text: string, mode: number): void {
  const beside = `${path}.${randomUUID()}`
  try {
    const file = openSync(beside, 'wx', mode)
    try {
      writeSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(beside, path)
  } catch (error) {
    rmSync(beside, { force: true })
    throw cannotWrite(path, error)
  }
}

export function unreadable(path: string, error: unknown): Failure {
  return new Failure('failure', `cannot read ${path} (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`)
}

export function cannotWrite(path: string, error: unknown): Failure {
  return new Failure('failure', `cannot write ${path} (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`)
}
