import { chmodSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { withLock } from './credentials.ts'
import { Failure } from './failure.ts'
import { readIfThere, writePrivate } from './files.ts'
import { configFolder } from './folders.js'
import type { Session } from './session.ts'

// The file of the public keys that this machine knows. `pins.ts` says what they mean.

export interface Pin {
  /** The name that a person gave or accepted for this key, or the principal's id if nobody did. */
  name: string
  publicKeyJwk: string
  pinnedAt: string
  /** The e-mail address of a person whom this machine removed. */
  removedAs?: string
  /** Whether the signed directory has listed this key. If it lists the key no longer, a signer has ended it. */
  wasListed?: true
}

/** The known keys by server and organization, then by principal. */
interface PinsFile {
  version: 1
  keys: Record<string, Record<string, Pin>>
}

const pinsPath = () => join(configFolder(), 'known-keys.json')

/** The known keys of an organization, by principal. */
export type Pins = Record<string, Pin>

const placeOf = (session: Session, orgId: string) => `${session.settings.url} ${orgId}`

export const pinsOf = (session: Session, orgId: string): Pins => readPins().keys[placeOf(session, orgId)] ?? {}

export const findPin = (session: Session, orgId: string, principalId: string): Pin | undefined =>
  pinsOf(session, orgId)[principalId]

export function changePins(session: Session, orgId: string, edit: (pins: Pins) => Pins): void {
  const path = pinsPath()
  withLock(`${path}.lock`, () => {
    const file = readPins()
    const place = placeOf(session, orgId)
    file.keys[place] = edit(file.keys[place] ?? {})
    writePrivate(path, `${JSON.stringify(file, null, 2)}\n`)
  })
}

/** A broken file is refused, because starting again with an empty file would accept any key. */
function readPins(): PinsFile {
  const path = pinsPath()
  const text = readIfThere(path)
  if (text === null) return { version: 1, keys: {} }
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600)
  try {
    const file = JSON.parse(text) as PinsFile
    if (file.version === 1 && typeof file.keys === 'object' && file.keys !== null) return file
  } catch {
    // The error below reports it.
  }
  throw new Failure(
    'failure',
    `${path} is not a list of known keys`,
    'restore the file, or move it away and compare the keys again',
  )
}
