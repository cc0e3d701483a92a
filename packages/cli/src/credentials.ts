import { chmodSync, closeSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Failure, usage } from './failure.ts'
import { cannotWrite, makePrivateFolder, readIfThere, writePrivate } from './files.ts'
import { configFolder } from './folders.js'
import { note, warn } from './output.ts'

/** One server and organization that this user works with. */
export interface Profile {
  url: string
  /** Absent for a person's session, which reaches every organization that the person is in. */
  org?: { id: string; slug: string }
  /** The machine client that made the token. `secret` is absent if an environment variable has it. */
  client?: { id: string; secret?: string }
  /** A complete service token, which contains key material. */
  token?: string
  /** The name of the token when it was stored. */
  tokenName?: string
  session?: PersonSession
}

/**
 * A person's CLI session. Its bearer is in the system's keyring, or here, encrypted under a key that is stored
 * elsewhere.
 */
export interface PersonSession {
  id: string
  userId: string
  email: string | null
  expiresAt: string
  /** The encrypted bearer. Absent if the system's keyring has it. */
  sealed?: string
}

export interface CredentialsFile {
  version: 1
  /** The profile that commands use unless the project names another. */
  current: string | null
  profiles: Record<string, Profile>
}

export const credentialsPath = () => join(configFolder(), 'credentials.json')

/** `acme@skerry.example.com`: one name for one organization, or person, on one server. */
export function profileName(url: string, who: string): string {
  const { host, pathname } = new URL(url)
  return `${who}@${host}${pathname.replace(/\/+$/, '')}`
}

/** If other users can read the file, its mode is set to 0600 before it is used, with a warning. */
export function readCredentials(): CredentialsFile {
  const path = credentialsPath()
  const text = readIfThere(path)
  if (text === null) return { version: 1, current: null, profiles: {} }
  if ((statSync(path).mode & 0o077) !== 0) closeToOthers(path)
  try {
    const file = JSON.parse(text) as CredentialsFile
    if (file.version === 1 && isRecord(file.profiles) && Object.values(file.profiles).every(isProfile)) return file
  } catch {
    // The error below reports it without the parser's message, which could quote the file.
  }
  throw new Failure('failure', `${path} is not a credentials file of this version`, 'move it away and sign in again')
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isProfile = (value: unknown) => isRecord(value) && typeof value.url === 'string' && URL.canParse(value.url)

/** A file that is mounted into a container may belong to root, and then only root can change its mode. */
function closeToOthers(path: string): void {
  try {
    chmodSync(path, 0o600)
  } catch {
    const what = `other users can read ${path}, and you cannot change its mode`
    throw new Failure(
      'failure',
      what,
      'make yourself its owner and set its mode to 0600, or use SKERRY_TOKEN instead of the file',
    )
  }
  warn(`other users could read ${path}; its mode is now 0600`)
}

/** Reads, changes and writes the file under a lock, so that two commands at once do not lose each other's entry. */
export function updateCredentials(change: (file: CredentialsFile) => void): void {
  const path = credentialsPath()
  withLock(`${path}.lock`, () => {
    const file = readCredentials()
    change(file)
    writePrivate(path, `${JSON.stringify(file, null, 2)}\n`)
  })
}

/**
 * Stores a profile and, unless `makeCurrent` is false, makes it the current one. A replaced token is kept under another
 * name, because it may be the only key to secrets that were stored with it.
 */
export function saveProfile(name: string, profile: Profile, makeCurrent = true): void {
  updateCredentials((file) => {
    const old = file.profiles[name]
    if (old?.token !== undefined && old.token !== profile.token) {
      const aside = freeName(file, name)
      file.profiles[aside] = old
      note(`the earlier token of profile ${name} is now the profile ${aside}: use it with --profile ${aside}`)
    }
    file.profiles[name] = profile
    if (makeCurrent) file.current = name
  })
}

/**
 * Removes profiles from this machine. Returns the default afterwards: if it was removed, another one takes its place.
 */
export function forgetProfiles(names: readonly string[]): string | null {
  let current: string | null = null
  updateCredentials((file) => {
    for (const name of names) delete file.profiles[name]
    const others = Object.keys(file.profiles)
    if (file.current === null || names.includes(file.current)) {
      file.current = others.find((name) => !isReplaced(name)) ?? others[0] ?? null
    }
    current = file.current
  })
  return current
}

/** The effect of removing tokens, for the question before it. */
export const lostKeys = (names: readonly string[]) =>
  `removes ${names.join(', ')} from this machine, with keys that may have no other copy`

/** Whether a profile was replaced by a newer one of the same name. */
export const isReplaced = (name: string) => /~\d+$/.test(name)

/** Replaced profiles, which a command uses only with `--profile`. */
export const keptAside = (): string[] => Object.keys(readCredentials().profiles).filter(isReplaced)

/**
 * Checks the name that `--profile` gives to a new credential. A token must not replace a session that is still open.
 */
export function checkNewProfile(name: string | undefined, url: string, isPerson: boolean): void {
  if (name === undefined) return
  if (!/^[A-Za-z0-9][\w.@:/-]{0,199}$/.test(name)) {
    throw usage('--profile must be a name of at most 200 characters', 'use letters, digits and _ . @ : / -')
  }
  const { profiles } = readCredentials()
  const there = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (there && there.url !== url) throw usage(`profile ${name} belongs to ${there.url}`, 'choose another name')
  if (there?.session && !isPerson) throw usage(`profile ${name} is a person’s session`, 'choose another name')
}

function freeName(file: CredentialsFile, name: string): string {
  let number = 1
  while (file.profiles[`${name}~${number}`] !== undefined) number++
  return `${name}~${number}`
}

const lockStaleMs = 10_000
/**
 * How long a command waits for the lock. It is longer than the lock of a dead process lasts, so that no command fails
 * because of such a lock.
 */
const lockWaitMs = 30_000
const pause = new Int32Array(new SharedArrayBuffer(4))

/** Lets one command at a time read, change and write a file. */
export function withLock(path: string, work: () => void): void {
  makePrivateFolder(dirname(path))
  const until = Date.now() + lockWaitMs
  for (;;) {
    try {
      closeSync(openSync(path, 'wx', 0o600))
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw cannotWrite(path, error)
      if (isStale(path)) rmSync(path, { force: true })
      else if (Date.now() > until) throw new Failure('failure', `another command is using ${path}`, 'try again')
      Atomics.wait(pause, 0, 0, 20)
    }
  }
  try {
    work()
  } finally {
    rmSync(path, { force: true })
  }
}

/** The work under the lock takes milliseconds, so the process of an old lock has died. */
function isStale(path: string): boolean {
  try {
    return Date.now() - statSync(path).mtimeMs > lockStaleMs
  } catch {
    return false
  }
}
