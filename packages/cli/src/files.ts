import {
  closeSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { Failure } from './failure.ts'
import { makePrivate } from './folders.js'

const ownerOnlyFile = 0o600

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
    makePrivate(folder)
  } catch (error) {
    throw cannotWrite(folder, error)
  }
}

/** Writes beside the target and renames, so that a reader sees the old text or the new one. */
export function writeWhole(path: string, text: string, mode: number): void {
  const beside = `${path}.${crypto.randomUUID()}`
  try {
    const file = openSync(beside, 'wx', mode)
    try {
      // Not `writeSync`, which on a full disk writes a part and is content.
      writeFileSync(file, text)
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

/** Writes the file that a person names, readable by its owner alone, and leaves alone what is no file. */
export function writeNamed(path: string, text: string): void {
  writeWhole(targetOf(path), text, ownerOnlyFile)
}

/** Where a link leads: its target is to be replaced, not the link. Renaming would replace a pipe or a device, too. */
function targetOf(path: string): string {
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return path
    const status = statSync(path)
    if (status.isFile() || status.isDirectory()) return realpathSync(path)
  } catch (error) {
    throw cannotWrite(path, error)
  }
  throw new Failure('failure', `cannot write ${path}: it is not a regular file`, 'name a file, or - for stdout')
}

export function unreadable(path: string, error: unknown): Failure {
  return new Failure('failure', `cannot read ${path}: ${reasonOf(error)}`)
}

export function cannotWrite(path: string, error: unknown): Failure {
  return new Failure('failure', `cannot write ${path}: ${reasonOf(error)}`)
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'it is a folder',
  EBUSY: 'it is in use, or a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
}

function reasonOf(error: unknown): string {
  const { code = 'unknown reason' } = error as NodeJS.ErrnoException
  return reasons[code] ?? code
}
