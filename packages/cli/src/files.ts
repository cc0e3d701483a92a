import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { Failure, toFailure, usage } from './failure.ts'
import { makePrivate } from './folders.js'

const ownerOnlyFile = 0o600

/** The mode of files that hold nothing secret. */
export const readableByAll = 0o644

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
export function writePrivate(path: string, content: string | Uint8Array): void {
  makePrivateFolder(dirname(path))
  writeWhole(path, content, ownerOnlyFile)
}

export function makePrivateFolder(folder: string): void {
  try {
    makePrivate(folder)
  } catch (error) {
    throw cannotWrite(folder, error)
  }
}

/** Writes a temporary file and renames it, so that a reader sees either the old content or the new content. */
export function writeWhole(path: string, content: string | Uint8Array, mode: number): void {
  writeBeside(path, content, { mode, force: true })
}

function writeBeside(
  path: string,
  content: string | Uint8Array,
  { mode, force }: Overwriting & { mode: number },
): void {
  const beside = `${path}.${crypto.randomUUID()}`
  try {
    const file = openSync(beside, 'wx', mode)
    try {
      // `writeSync` is not used, because on a full disk it can write only a part and report no error.
      writeFileSync(file, content)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    putInPlace(beside, path, { force })
  } catch (error) {
    rmSync(beside, { force: true })
    throw error instanceof Failure ? error : cannotWrite(path, error)
  }
}

/** Whether a command may replace a file that exists: the option `--force`, which a command for credentials has not. */
export interface Overwriting {
  force?: boolean | undefined
  hasForce?: false
}

/**
 * Writes the file that a person names. It must not exist yet unless `force` is set. Only its owner can read it unless a
 * mode says otherwise.
 */
export function writeNamed(
  path: string,
  text: string,
  { mode = ownerOnlyFile, ...overwriting }: Overwriting & { mode?: number },
) {
  writeBeside(targetOf(path, overwriting), text, { mode, force: overwriting.force })
}

/** Refuses an existing file before a command does anything else, because a later refusal would lose its result. */
export function checkWritable(path: string | undefined, overwriting: Overwriting): void {
  if (path !== undefined && path !== '-') targetOf(path, overwriting)
}

/** Refuses a file that exists, and stdout. The command has no `--force`, and shows its result without the option. */
export function checkNew(path: string | undefined): void {
  if (path === '-') throw usage('- is not a file', 'name a new file')
  checkWritable(path, { hasForce: false })
}

/**
 * Makes something with a secret that is shown once, and hands it a function that writes the secret to a new file. The file
 * is made empty before, so that a path that cannot be written is refused first. It is removed if anything fails.
 */
export async function withNewFile<T>(
  path: string | undefined,
  make: (write: (text: string) => void) => Promise<T>,
): Promise<T> {
  if (path === undefined) return make(() => {})
  writeNamed(path, '', { hasForce: false })
  try {
    return await make((text) => writeNamed(path, text, { force: true }))
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  }
}

/** Writes the secret of something that exists by now. If that fails, the error also says what is lost, and what to do. */
export function writeOrTell(write: () => void, lost: string, next: string): void {
  try {
    write()
  } catch (error) {
    const { kind, message } = toFailure(error)
    throw new Failure(kind, `${message}; ${lost}`, next)
  }
}

/**
 * Gives a complete file its final name. Without `force` it creates a link, which fails if another file has that name by
 * now.
 */
export function putInPlace(beside: string, path: string, { force }: Overwriting): void {
  if (!force && tryLink(beside, path)) rmSync(beside)
  else renameSync(beside, path)
}

/** False on a file system without hard links. */
function tryLink(beside: string, path: string): boolean {
  try {
    linkSync(beside, path)
    return true
  } catch {
    if (existsSync(path)) throw fileExists(path)
    return false
  }
}

/**
 * The path to write for a path that a person names. A symbolic link is followed, so that its target is replaced and not
 * the link. Pipes and devices are refused, because renaming would replace them.
 */
export function targetOf(path: string, { force, hasForce }: Overwriting): string {
  let status: Stats
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return path
    status = statSync(path)
  } catch (error) {
    throw cannotWrite(path, error)
  }
  if (status.isDirectory()) throw cannotWrite(path, { code: 'EISDIR' })
  if (!status.isFile())
    throw new Failure('failure', `cannot write ${path}: it is not a regular file`, 'name a file, or - for stdout')
  if (!force) throw fileExists(path, hasForce)
  return realpathSync(path)
}

const fileExists = (path: string, hasForce = true) =>
  new Failure(
    'conflict',
    `${path} already exists, so nothing was written`,
    hasForce ? 'name another file, or replace it with --force' : 'name another file',
  )

export function unreadable(path: string, error: unknown): Failure {
  return new Failure('failure', `cannot read ${path}: ${reasonOf(error)}`)
}

export function cannotWrite(path: string, error: unknown): Failure {
  const isFull = (error as NodeJS.ErrnoException).code === 'ENOSPC'
  const next = isFull ? 'free some space, and run the command again' : undefined
  return new Failure('failure', `cannot write ${path}: ${reasonOf(error)}`, next)
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of the path is not a folder',
  ENAMETOOLONG: 'the path is too long',
  ELOOP: 'its links lead to each other',
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
