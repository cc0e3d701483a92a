import { closeSync, existsSync, fchmodSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'

/**
 * One process owns a data directory. Two PGlite processes on one directory corrupt it silently. The lock must therefore
 * work on every machine, and need no clean-up. It is a file lock of the operating system (fcntl, or LockFileEx on
 * Windows), which SQLite takes; Node includes SQLite. The lock ends with its process, also after kill -9. It compares
 * no process ids: in containers every server has pid 1.
 */
export interface OwnerLock {
  release(): void
}

interface Owner {
  pid: number
  startedAt: string
}

const LOCK = 'owner.lock'
const OWNER = 'owner.json'

/** Creates the data directory if it is missing, and locks it for this process. */
export function lockDataDir(dataDir: string): OwnerLock {
  const lock = takeLock(dataDir)
  return {
    release() {
      rmSync(join(dataDir, OWNER), { force: true })
      lock.close()
    },
  }
}

function takeLock(dataDir: string): DatabaseSync {
  let lock: DatabaseSync | undefined
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    makePrivate(join(dataDir, LOCK))
    lock = openSqlite(join(dataDir, LOCK))
    lock.exec('BEGIN EXCLUSIVE')
    writeOwner(dataDir)
    return lock
  } catch (error) {
    lock?.close()
    throw new Error(refusal(dataDir, error as Error), { cause: error })
  }
}

/** SQLite gives its journal the mode of its database file. An earlier release made that file readable to everybody. */
function makePrivate(path: string): void {
  const file = openSync(path, 'a', 0o600)
  try {
    fchmodSync(file, 0o600)
  } catch {
    // The file system has no modes. The log reports this for the database folder (embedded.ts).
  } finally {
    closeSync(file)
  }
}

const SQLITE_BUSY = 5

function refusal(dataDir: string, error: Error & { errcode?: number }): string {
  if (error.errcode !== SQLITE_BUSY)
    return `The data directory ${dataDir} cannot be written to (${error.message}). Make the user who runs the server its owner, or set SKERRY_DATA_DIR to another directory.`
  const owner = readOwner(dataDir)
  const who = owner === undefined ? 'another process' : `process ${owner.pid}, running since ${owner.startedAt}`
  return `The data directory ${dataDir} is in use by ${who}. Stop it first, or set SKERRY_DATA_DIR to another directory.`
}

/**
 * Writes who owns the directory, for error messages only. The lock does not need this file, so it may be stale or
 * missing.
 */
function writeOwner(dataDir: string): void {
  const owner: Owner = { pid: process.pid, startedAt: new Date(Date.now() - process.uptime() * 1000).toISOString() }
  writeFileSync(join(dataDir, OWNER), `${JSON.stringify(owner)}\n`, { mode: 0o600 })
}

function readOwner(dataDir: string): Owner | undefined {
  const path = join(dataDir, OWNER)
  if (!existsSync(path)) return undefined
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Owner
  } catch {
    return undefined // the owner process is writing the file right now
  }
}

/**
 * The first releases of Node 24 print an ExperimentalWarning when node:sqlite is loaded. Users can do nothing about it,
 * so it is suppressed. Loading is synchronous, so no other warning can be lost meanwhile.
 */
function openSqlite(path: string): DatabaseSync {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
    return new DatabaseSync(path)
  } finally {
    process.emitWarning = emitWarning
  }
}
