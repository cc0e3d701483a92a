import { chmodSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isReader } from '@skerry/contract/grants/readers'
import { idPrefixes } from '@skerry/contract/prefixes'
import { formatPublicKeyJwk, parsePublicKeyJwk, publicKeyJwkOf } from '@skerry/crypto/keys'
import { withLock } from './credentials.ts'
import { Failure } from './failure.ts'
import { readIfThere, writePrivate } from './files.ts'
import { configFolder } from './folders.js'
import { note } from './output.ts'
import type { Session } from './session.ts'

// Which public key belongs to whom is the server's word. A server that lies could have a key wrapped to itself, so the key
// that was seen first is remembered, and another one is refused until a person has compared it and said so.

/** Someone to wrap a key to. `name` is for people; null where the server has none. */
export interface PinnedGrantee {
  principalId: string
  /** Where it is known: a reader of the server is nobody who could be asked. */
  principalType?: string
  name: string | null
  publicKeyJwk: string
  /** The name or e-mail address that the person wrote to mean this one; undefined where they wrote the id. */
  wantedName?: string | undefined
}

interface Pin {
  /** A name that a person gave or accepted for this key. The id stands here where nobody did. */
  name: string
  publicKeyJwk: string
  pinnedAt: string
}

/** By server and organization, then by principal. */
interface PinsFile {
  version: 1
  keys: Record<string, Record<string, Pin>>
}

export type PinState = 'pinned' | 'new' | 'changed'

const pinsPath = () => join(configFolder(), 'known-keys.json')

/**
 * Compares each of the server's own keys with the one seen before, and remembers new ones. No person could read out the words
 * of these keys. For people and tokens, use `acceptReaders` and `acceptGrantees`. A refusal remembers nothing.
 */
export async function checkKeys(session: Session, grantees: readonly PinnedGrantee[]): Promise<void> {
  const { id: orgId } = await session.org()
  for (const grantee of await compareKeys(session, grantees)) pin(session, orgId, grantee)
}

/**
 * Compares each key with the one seen before, and the caller's own with the caller's private key.
 *
 * @returns the grantees whose key was not seen before, or was not seen under the name by which the person means them. The
 * server finds the id for a name, so it could answer the id of anyone whose key is known.
 */
export async function compareKeys(session: Session, grantees: readonly PinnedGrantee[]): Promise<PinnedGrantee[]> {
  const { id: orgId } = await session.org()
  const fresh: PinnedGrantee[] = []
  for (const grantee of grantees) {
    if (grantee.principalId === session.principal.id) {
      if (publicKeyJwkOf(await session.key()) !== canonical(grantee.publicKeyJwk)) throw notYours()
      continue
    }
    const state = pinState(session, orgId, grantee)
    if (state === 'changed') throw await changed(session, orgId, grantee)
    if (state === 'new' || !isKnownByWantedName(session, orgId, grantee)) fresh.push(grantee)
  }
  return fresh
}

const isKnownByWantedName = (session: Session, orgId: string, { principalId, wantedName }: PinnedGrantee): boolean =>
  wantedName === undefined || isPinnedAs(session, orgId, wantedName, principalId)

/** Whether this machine knows the principal by this name. */
export function isPinnedAs(session: Session, orgId: string, name: string, principalId: string): boolean {
  const known = findPin(session, orgId, principalId)
  return known !== undefined && isSameName(principalId, known.name, name)
}

/** Upper and lower case are one in e-mail addresses, and differ in the names of tokens. */
function isSameName(principalId: string, one: string, other: string): boolean {
  if (!principalId.startsWith(idPrefixes.user)) return one === other
  return one.toLowerCase() === other.toLowerCase()
}

export function pinState(session: Session, orgId: string, { principalId, publicKeyJwk }: PinnedGrantee): PinState {
  const known = findPin(session, orgId, principalId)
  if (!known) return 'new'
  return known.publicKeyJwk === canonical(publicKeyJwk) ? 'pinned' : 'changed'
}

export const findPin = (session: Session, orgId: string, principalId: string): Pin | undefined =>
  readPins().keys[placeOf(session, orgId)]?.[principalId]

/** Whether this machine knows the name as that of somebody else. */
export const isPinnedToAnother = (session: Session, orgId: string, name: string, principalId: string): boolean =>
  Object.entries(readPins().keys[placeOf(session, orgId)] ?? {}).some(
    ([id, known]) => isSameName(id, known.name, name) && id !== principalId,
  )

/**
 * Remembers a key as the one to expect from now on. One name means one person or one token: another that had the name is known
 * by its id alone from now on. Else the server could show an old token of that name.
 */
export function pin(session: Session, orgId: string, grantee: PinnedGrantee): void {
  const { principalId } = grantee
  const name = nameOf(grantee)
  const entry = { name, publicKeyJwk: canonical(grantee.publicKeyJwk), pinnedAt: new Date().toISOString() }
  changePins(session, orgId, (pins) => ({ ...withoutName(pins, principalId, name), [principalId]: entry }))
}

/** Gives a known key another name. Null: it is known by the id alone. */
export function renamePin(session: Session, orgId: string, principalId: string, name: string | null): void {
  const known = findPin(session, orgId, principalId)
  if (!known) return
  const entry = { ...known, name: name ?? principalId }
  changePins(session, orgId, (pins) => ({ ...withoutName(pins, principalId, entry.name), [principalId]: entry }))
}

type Pins = Record<string, Pin>

/** Takes the name from every other principal of the same kind. */
const withoutName = (pins: Pins, principalId: string, name: string): Pins =>
  Object.fromEntries(
    Object.entries(pins).map(([id, known]) => {
      const isHolder = id.slice(0, 4) === principalId.slice(0, 4) && isSameName(id, known.name, name)
      return [id, isHolder ? { ...known, name: id } : known]
    }),
  )

function changePins(session: Session, orgId: string, edit: (pins: Pins) => Pins): void {
  const path = pinsPath()
  withLock(`${path}.lock`, () => {
    const file = readPins()
    const place = placeOf(session, orgId)
    file.keys[place] = edit(file.keys[place] ?? {})
    writePrivate(path, `${JSON.stringify(file, null, 2)}\n`)
  })
}

/** The word list is loaded when words are shown: `skerry run` never shows any. */
export async function wordsOf(publicKeyJwk: string): Promise<string> {
  const { fingerprintWords } = await import('@skerry/crypto/fingerprint-words')
  return fingerprintWords(publicKeyJwk)
}

const placeOf = (session: Session, orgId: string) => `${session.settings.url} ${orgId}`

const nameOf = ({ name, principalId }: PinnedGrantee) => name ?? principalId

/** One text for one key: a server may spell it as it likes. */
export const canonical = (publicKeyJwk: string) => formatPublicKeyJwk(parsePublicKeyJwk(publicKeyJwk))

/** Forgetting what is in a broken file would accept any key, so it is refused. */
function readPins(): PinsFile {
  const path = pinsPath()
  const text = readIfThere(path)
  if (text === null) return { version: 1, keys: {} }
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600)
  try {
    const file = JSON.parse(text) as PinsFile
    if (file.version === 1 && typeof file.keys === 'object' && file.keys !== null) return file
  } catch {
    // Told below.
  }
  throw new Failure('failure', `${path} is not a list of known keys`, 'bring it back, or move it away and compare anew')
}

async function changed(session: Session, orgId: string, grantee: PinnedGrantee): Promise<Failure> {
  const known = findPin(session, orgId, grantee.principalId)!
  note(`known since ${known.pinnedAt}: ${await wordsOf(known.publicKeyJwk)}`)
  note(`shown by the server now: ${await wordsOf(grantee.publicKeyJwk)}`)
  const name = nameOf(grantee)
  if (grantee.principalType === 'service_token')
    return new Failure(
      'refused',
      `the key of the token ${name} (${grantee.principalId}) is another than before; nothing was granted`,
      'the key of a token never changes: do not use this server, and tell your organization’s owner',
    )
  if (isReader({ principalType: grantee.principalType ?? '' }))
    return new Failure(
      'refused',
      `the key of ${name}, which reads for the server, is another than before; nothing was changed`,
      'ask the operator of the server whether its key was replaced; --drop-readers leaves it out',
    )
  return new Failure(
    'refused',
    `the key of ${name} is another than before; nothing was granted`,
    `ask them for the words of \`skerry keys fingerprint\`, then run \`skerry members trust ${name}\``,
  )
}

const notYours = () =>
  new Failure(
    'refused',
    'the server shows another public key for you than your own',
    'do not use this server, and tell your organization’s owner',
  )
