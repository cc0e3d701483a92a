import type { CheckVersions, ShownVersion } from '@skerry/sdk/internal/kms'
import { Failure } from '../failure.ts'
import { mustVerifyIn } from '../known-directories.ts'
import { orgMemory } from '../org-memory.ts'
import { note } from '../output.ts'
import type { Session } from '../session.ts'

// The server says which key a name means, and which key a version has. A malicious server could wrap a key of its own,
// and then read everything that is encrypted with it. This module therefore remembers the first answer and refuses a
// different one.

interface Known {
  name: string
  /**
   * The highest version that was current. A server that goes back would make clients use a version that may have
   * leaked.
   */
  currentVersion: number
  /** The fingerprint of each version. */
  fingerprints: Record<string, string>
}

/** The known keys of an organization, by id. */
const memory = orgMemory<Record<string, Known>>({
  file: 'known-managed-keys.json',
  field: 'keys',
  holds: 'known managed keys',
  next: 'restore the file, or move it away to start again',
})

export interface NamedKey {
  id: string
  name: string
}

/**
 * Refuses a name that means another key than before. If the key was deleted and created again, `kms trust` accepts it.
 */
export function checkName(session: Session, orgId: string, { id, name }: NamedKey): void {
  const known = Object.entries(memory.find(session.settings.url, orgId) ?? {})
  if (known.some(([other, row]) => other !== id && row.name === name))
    throw changed(name, `${name} is a different key than before`)
}

/**
 * Compares the shown versions of a key with the signed directory and with those seen before, and remembers them.
 *
 * @param wanted the name or id by which the user named the key.
 */
export const checkVersions =
  (session: Session, orgId: string, key: NamedKey, wanted: string): CheckVersions =>
  async (shown, currentVersion, opened) => {
    if (mustVerifyIn(session, orgId)) {
      const { requireSignedKey } = await import('../trust/managed-keys.ts')
      const isKnown = memory.find(session.settings.url, orgId)?.[key.id] !== undefined
      await requireSignedKey(session, orgId, { ...key, wanted, isKnown }, { opened, currentVersion })
    }
    remember(session, orgId, key, { shown, currentVersion })
  }

/** Compares versions and remembers them. Also used for a version that was just made here. */
export function remember(
  session: Session,
  orgId: string,
  { id, name }: NamedKey,
  { shown, currentVersion }: { shown: readonly ShownVersion[]; currentVersion: number },
): void {
  memory.change(session.settings.url, orgId, (keys = {}) => {
    const known = keys[id]
    if (known) compare(name, known, { shown, currentVersion })
    const fingerprints = { ...known?.fingerprints }
    for (const one of shown) fingerprints[one.version] ??= one.fingerprint
    const highest = Math.max(currentVersion, known?.currentVersion ?? 0)
    return { ...keys, [id]: { name, currentVersion: highest, fingerprints } }
  })
}

function compare(
  name: string,
  known: Known,
  { shown, currentVersion }: { shown: readonly ShownVersion[]; currentVersion: number },
): void {
  const other = shown.find((one) => (known.fingerprints[one.version] ?? one.fingerprint) !== one.fingerprint)
  if (other) throw changed(name, `version ${other.version} of ${name} is a different key than before`)
  if (currentVersion < known.currentVersion)
    throw changed(name, `the current version of ${name} went back from ${known.currentVersion} to ${currentVersion}`)
  if (currentVersion > known.currentVersion)
    note(`${name} was rotated: version ${currentVersion} is the current one now`)
}

/** Forgets the key and every key with its name. The next answer of the server then counts as the first. */
export function forget({ settings }: Session, orgId: string, { id, name }: NamedKey): void {
  memory.change(settings.url, orgId, (keys = {}) =>
    Object.fromEntries(Object.entries(keys).filter(([other, row]) => other !== id && row.name !== name)),
  )
}

const changed = (name: string, what: string) =>
  new Failure(
    'refused',
    `${what}; nothing was done`,
    `the server may be lying; if someone on your team did this, accept it with \`skerry kms trust ${name}\``,
  )
