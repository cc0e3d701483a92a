import { isReader, readerWords } from '@skerry/contract/grants/readers'
import { idPrefixes } from '@skerry/contract/prefixes'
import { formatPublicKeyJwk, parsePublicKeyJwk, publicKeyJwkOf } from '@skerry/crypto/keys'
import { Failure } from './failure.ts'
import { mustVerifyIn } from './known-directories.ts'
import { changePins, findPin, type Pin, type Pins, pinsOf } from './known-keys.ts'
import { note } from './output.ts'
import type { Session } from './session.ts'
import { notedTime } from './times.ts'

// The server says which public key belongs to whom. A malicious server could show its own key and so receive secrets.
// This module therefore remembers the first key of each principal. It refuses another key until a person has accepted
// it.

/** A principal to wrap a key to. `name` is for people; it is null if the server has none. */
export interface PinnedGrantee {
  principalId: string
  /** Set if known. It distinguishes the server's own readers, whom nobody can ask, from people and tokens. */
  principalType?: string
  name: string | null
  publicKeyJwk: string
  /** The name or e-mail address by which the user named this principal; undefined if the user wrote the id. */
  wantedName?: string | undefined
}

export type PinState = 'pinned' | 'new' | 'changed'

/**
 * Compares each of the server's own keys with the one seen before, and remembers new ones. Nobody can read out the
 * words of these keys. For people and tokens, use `acceptReaders` and `acceptGrantees`. If one key is refused, none is
 * remembered.
 */
export async function checkKeys(session: Session, grantees: readonly PinnedGrantee[]): Promise<void> {
  const { id: orgId } = await session.org()
  for (const grantee of await compareKeys(session, grantees)) pin(session, orgId, grantee)
}

/**
 * Compares each key with the one seen before, and the caller's own with the caller's private key.
 *
 * @returns the grantees whose key was not seen before, or not under the name that the user wrote. The server looks up
 * the id for a name, so it could answer with the id of anyone whose key is known. Nobody is returned whom the signed
 * directory vouches for, and a person or token that it does not list is refused.
 */
export async function compareKeys(session: Session, grantees: readonly PinnedGrantee[]): Promise<PinnedGrantee[]> {
  const { id: orgId } = await session.org()
  const fresh: PinnedGrantee[] = []
  const vouched = await vouchedReceivers(session, orgId, grantees)
  for (const grantee of grantees) {
    if (grantee.principalId === session.principal.id) {
      if (publicKeyJwkOf(await session.key()) !== canonical(grantee.publicKeyJwk)) throw notYours()
      continue
    }
    const state = pinState(session, orgId, grantee)
    if (state === 'changed') throw await changed(session, orgId, grantee)
    if (vouched.has(grantee.principalId)) continue
    if (state === 'new' || !isKnownByWantedName(session, orgId, grantee)) fresh.push(grantee)
  }
  await pinAnswers(session, orgId, fresh)
  return fresh.filter((one) => pinState(session, orgId, one) === 'new' || !isKnownByWantedName(session, orgId, one))
}

/** Remembers the keys of invited people who have answered with their joining code that this key is theirs. */
export async function pinAnswers(session: Session, orgId: string, fresh: readonly PinnedGrantee[]): Promise<void> {
  if (fresh.length === 0 || !mustVerifyIn(session, orgId)) return
  const { acceptAnswers } = await import('./trust/joining.ts')
  for (const person of await acceptAnswers(session, orgId, fresh)) pin(session, orgId, person)
}

async function vouchedReceivers(session: Session, orgId: string, grantees: readonly PinnedGrantee[]) {
  const others = grantees.filter(({ principalId }) => principalId !== session.principal.id)
  if (others.length === 0 || !mustVerifyIn(session, orgId)) return new Set<string>()
  const { requireListed } = await import('./trust/receivers.ts')
  const vouched = await requireListed(session, orgId, others)
  noteListed(session, orgId, vouched)
  return vouched
}

/** Whether this is a person or a token. The entry of a worker may end and come back with its next use. */
const mayEndForGood = (id: string): boolean => id.startsWith(idPrefixes.user) || id.startsWith(idPrefixes.serviceToken)

/** Remembers of known people and tokens that the signed directory lists their keys. */
export function noteListed(session: Session, orgId: string, ids: Iterable<string>): void {
  const wanted = [...ids].filter((id) => mayEndForGood(id) && findPin(session, orgId, id)?.wasListed === undefined)
  const listed = (pins: Pins) =>
    wanted.flatMap((id) => (pins[id] ? [[id, { ...pins[id], wasListed: true as const }] as const] : []))
  if (wanted.some((id) => findPin(session, orgId, id) !== undefined))
    changePins(session, orgId, (pins) => ({ ...pins, ...Object.fromEntries(listed(pins)) }))
}

/** Keys that a person has accepted in this command, by principal. They are stored when the command succeeds. */
const accepted = new Map<string, Pick<Pin, 'name' | 'publicKeyJwk' | 'wasListed'>>()

/** `name` is the name that the person accepted with the key; null if it is known by its id alone. */
export function noteAccepted(grantees: readonly PinnedGrantee[]): void {
  for (const one of grantees)
    accepted.set(one.principalId, { name: nameOf(one), publicKeyJwk: canonical(one.publicKeyJwk) })
}

/** The key that this machine knows, or that a person has accepted in this command, with the name that goes with it. */
export const knownHolder = (session: Session, orgId: string, principalId: string) =>
  accepted.get(principalId) ?? findPin(session, orgId, principalId)

const isKnownByWantedName = (session: Session, orgId: string, { principalId, wantedName }: PinnedGrantee): boolean =>
  wantedName === undefined || isPinnedAs(session, orgId, wantedName, principalId)

/** Whether this machine knows the principal by this name. */
export function isPinnedAs(session: Session, orgId: string, name: string, principalId: string): boolean {
  const known = findPin(session, orgId, principalId)
  return known !== undefined && isSameName(principalId, known.name, name)
}

/** E-mail addresses are compared without regard to case, token names with it. */
export function isSameName(principalId: string, one: string, other: string): boolean {
  if (!principalId.startsWith(idPrefixes.user)) return one === other
  return one.toLowerCase() === other.toLowerCase()
}

export function pinState(session: Session, orgId: string, { principalId, publicKeyJwk }: PinnedGrantee): PinState {
  const known = findPin(session, orgId, principalId)
  if (!known) return 'new'
  return known.publicKeyJwk === canonical(publicKeyJwk) ? 'pinned' : 'changed'
}

/** Whether this machine knows the name as the name of another principal. */
export const isPinnedToAnother = (session: Session, orgId: string, name: string, principalId: string): boolean =>
  Object.entries(pinsOf(session, orgId)).some(([id, known]) => isSameName(id, known.name, name) && id !== principalId)

/**
 * Remembers a key as the one to expect from now on. A name belongs to one person or one token: a principal that had the
 * name before is known by its id alone from now on. Otherwise the server could present an old token of that name.
 */
export function pin(session: Session, orgId: string, grantee: PinnedGrantee): void {
  const { principalId } = grantee
  const name = nameOf(grantee)
  const entry = { name, publicKeyJwk: canonical(grantee.publicKeyJwk), pinnedAt: new Date().toISOString() }
  changePins(session, orgId, (pins) => {
    const wasListed = pins[principalId]?.wasListed && { wasListed: true as const }
    return { ...withoutName(pins, principalId, name), [principalId]: { ...entry, ...wasListed } }
  })
}

/** Remembers a key that a person accepts anew, also if a signer had ended its entry. */
export function pinAnew(session: Session, orgId: string, grantee: PinnedGrantee): void {
  changePins(session, orgId, ({ [grantee.principalId]: _, ...others }) => others)
  pin(session, orgId, grantee)
}

/** Gives a known key another name. With null the key is known by its id alone. */
export function renamePin(session: Session, orgId: string, principalId: string, name: string | null): void {
  const known = findPin(session, orgId, principalId)
  if (!known) return
  const entry = { ...known, name: name ?? principalId }
  changePins(session, orgId, (pins) => ({ ...withoutName(pins, principalId, entry.name), [principalId]: entry }))
}

/** Remembers that this machine removed a person. The key is then known by the person's id alone. */
export function noteRemovedPerson(session: Session, orgId: string, principalId: string, email: string | null): void {
  renamePin(session, orgId, principalId, null)
  const known = findPin(session, orgId, principalId)
  if (!known || email === null) return
  changePins(session, orgId, (pins) => ({ ...pins, [principalId]: { ...known, removedAs: email } }))
}

/** Returns true if this machine removed the person whom the user names by this e-mail address. */
export function wasRemovedAs(session: Session, orgId: string, principalId: string, email: string): boolean {
  const removedAs = findPin(session, orgId, principalId)?.removedAs
  return removedAs !== undefined && isSameName(principalId, removedAs, email)
}

/** Takes the name from every other principal of the same kind. */
const withoutName = (pins: Pins, principalId: string, name: string): Pins =>
  Object.fromEntries(
    Object.entries(pins).map(([id, known]) => {
      const isHolder = id.slice(0, 4) === principalId.slice(0, 4) && isSameName(id, known.name, name)
      return [id, isHolder ? { ...known, name: id } : known]
    }),
  )

/** Loads the word list only when words are shown, because `skerry run` never shows any. */
export async function wordsOf(publicKeyJwk: string): Promise<string> {
  const { fingerprintWords } = await import('@skerry/crypto/fingerprint-words')
  return fingerprintWords(publicKeyJwk)
}

/** Says how to check words that a command has shown. */
export function noteHowToCompare(): void {
  note('compare the words of each person and token with those that `skerry keys fingerprint` prints')
  note('a person runs it on their own machine; for a token, run it with SKERRY_TOKEN or --profile')
}

const nameOf = ({ name, principalId }: PinnedGrantee) => name ?? principalId

/** Normalizes a JWK, because a server may write the same key in different ways. */
export const canonical = (publicKeyJwk: string) => formatPublicKeyJwk(parsePublicKeyJwk(publicKeyJwk))

async function changed(session: Session, orgId: string, grantee: PinnedGrantee): Promise<Failure> {
  const known = findPin(session, orgId, grantee.principalId)!
  note(`known since ${notedTime(known.pinnedAt)}: ${await wordsOf(known.publicKeyJwk)}`)
  note(`shown by the server now: ${await wordsOf(grantee.publicKeyJwk)}`)
  const name = nameOf(grantee)
  if (grantee.principalType === 'service_token')
    return new Failure(
      'refused',
      `the token ${name} (${grantee.principalId}) has a different key than before; nothing was granted`,
      'a token’s key never changes: do not use this server, and tell your organization’s owner',
    )
  if (isReader({ principalType: grantee.principalType ?? '' })) {
    const isRotator = grantee.principalType === 'rotator'
    const accept = isRotator ? 'rotation trust' : `sync trust ${name}`
    return new Failure(
      'refused',
      `the ${isRotator ? readerWords.rotator : `sync connection ${name}`} has a different key than before; nothing was changed`,
      `ask the operator of the server if its key was replaced, and then run \`skerry ${accept}\`; --drop-readers leaves it out of a re-key`,
    )
  }
  const rejoined = wasRemovedAs(session, orgId, grantee.principalId, name) ? 'was removed and joined again, and ' : ''
  return new Failure(
    'refused',
    `${name} ${rejoined}has a different key than before; nothing was granted`,
    `ask them for the words of \`skerry keys fingerprint\`, then run \`skerry members trust ${name}\``,
  )
}

const notYours = () =>
  new Failure(
    'refused',
    'the server shows a public key for you that is not yours',
    'do not use this server, and tell your organization’s owner',
  )
