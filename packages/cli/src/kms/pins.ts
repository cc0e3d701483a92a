import { join } from 'node:path'
import type { CheckVersions, ShownVersion } from '@skerry/sdk/internal/kms'
import { withLock } from '../credentials.ts'
import { Failure } from '../failure.ts'
import { readIfThere, writePrivate } from '../files.ts'
import { configFolder } from '../folders.js'
import { note } from '../output.ts'
import type { Session } from '../session.ts'

// Which key a name means, and what a version of it is, is the server's word. A server that lies could wrap a key of its own,
// and read what is encrypted with it from then on. So what was seen first is remembered, and anything else is refused.

interface Known {
  name: string
  /** The highest that was current: a server that goes back has clients use a version that somebody may have lost. */
  currentVersion: number
  /** By version. */
  fingerprints: Record<string, string>
}

/** By server and organization, then by key. */
interface KnownFile {
  version: 1
  keys: Record<string, Record<string, Known>>
}

const path = () => join(configFolder(), 'known-managed-keys.json')
const placeOf = (session: Session, orgId: string) => `${session.settings.url} ${orgId}`

function read(): KnownFile {
  const text = readIfThere(path())
  if (text === null) return { version: 1, keys: {} }
  try {
    const file = JSON.parse(text) as KnownFile
    if (file.version === 1 && typeof file.keys === 'object' && file.keys !== null) return file
  } catch {
    // Told below.
  }
  const next = 'bring it back, or move it away and begin anew'
  throw new Failure('failure', `${path()} is not a list of known managed keys`, next)
}

interface NamedKey {
  id: string
  name: string
}

/** A name that means another key than before is refused: one that was deleted and made anew is accepted by `kms trust`. */
export function checkName(session: Session, orgId: string, { id, name }: NamedKey): void {
  const known = Object.entries(read().keys[placeOf(session, orgId)] ?? {})
  if (known.some(([other, row]) => other !== id && row.name === name))
    throw changed(name, `${name} means another key than before`)
}

/** What is shown of a key, held against what was seen before, and remembered. */
export const checkVersions =
  (session: Session, orgId: string, key: NamedKey): CheckVersions =>
  (shown, currentVersion) =>
    remember(session, orgId, key, { shown, currentVersion })

/** Also for what was just made here. */
export function remember(
  session: Session,
  orgId: string,
  { id, name }: NamedKey,
  { shown, currentVersion }: { shown: readonly ShownVersion[]; currentVersion: number },
): void {
  withLock(`${path()}.lock`, () => {
    const file = read()
    const place = placeOf(session, orgId)
    const known = file.keys[place]?.[id]
    if (known) compare(name, known, { shown, currentVersion })
    const fingerprints = { ...known?.fingerprints }
    for (const one of shown) fingerprints[one.version] ??= one.fingerprint
    const highest = Math.max(currentVersion, known?.currentVersion ?? 0)
    const row = { name, currentVersion: highest, fingerprints }
    if (JSON.stringify(row) === JSON.stringify(known)) return
    file.keys[place] = { ...file.keys[place], [id]: row }
    writePrivate(path(), `${JSON.stringify(file, null, 2)}\n`)
  })
}

function compare(
  name: string,
  known: Known,
  { shown, currentVersion }: { shown: readonly ShownVersion[]; currentVersion: number },
): void {
  const other = shown.find((one) => (known.fingerprints[one.version] ?? one.fingerprint) !== one.fingerprint)
  if (other) throw changed(name, `version ${other.version} of ${name} is another key than before`)
  if (currentVersion < known.currentVersion)
    throw changed(name, `the current version of ${name} went back from ${known.currentVersion} to ${currentVersion}`)
  if (currentVersion > known.currentVersion)
    note(`${name} was rotated: version ${currentVersion} is the current one now`)
}

/** Forgets the key, and what else had its name: the next look is the first one. */
export function forget(session: Session, orgId: string, { id, name }: NamedKey): void {
  withLock(`${path()}.lock`, () => {
    const file = read()
    const place = placeOf(session, orgId)
    const rest = Object.entries(file.keys[place] ?? {}).filter(([other, row]) => other !== id && row.name !== name)
    file.keys[place] = Object.fromEntries(rest)
    writePrivate(path(), `${JSON.stringify(file, null, 2)}\n`)
  })
}

const changed = (name: string, what: string) =>
  new Failure(
    'refused',
    `${what}; nothing was done`,
    `the server may be lying; if someone meant it, accept it with \`skerry kms trust ${name}\``,
  )
