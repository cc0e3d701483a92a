import { isReader, readerWords } from '@skerry/contract/grants/readers'
import { idPrefixes } from '@skerry/contract/prefixes'
import { openDirectory } from './directory.ts'
import { type Failure, usage } from './failure.ts'
import { mustVerifyIn } from './known-directories.ts'
import { findPin } from './known-keys.ts'
import { shellWord } from './labels.ts'
import { isPinnedAs, isPinnedToAnother, type PinnedGrantee, wasRemovedAs } from './pins.ts'
import { recoveryName } from './recovery/key.ts'
import type { Session } from './session.ts'
import { noteShown, requireAsShown } from './shown-keys.ts'

// A user names readers by e-mail address or token name. The server reports who has a name, so this module accepts a name
// only for the reader whom this machine, or the signed directory, knows under it.

/** `--reader`: readers that the person names, because this machine does not know them yet. */
export interface ReaderFlags {
  reader?: string[]
}

/** The command that has `--reader`, in the words of its errors. */
interface Asked {
  /** The key in words for people: `the key of shop/production`. */
  what: string | undefined
  recoveryPublicKeyJwk?: string | undefined
  flags: ReaderFlags
}

/**
 * Finds the readers that `--reader` names by id, e-mail address or token name. The map goes from a reader's id to the
 * value that names the reader. A value that matches no reader is refused. In an organization with a signed directory, a
 * name must be the name in the signed entry.
 */
export async function findNamed(
  session: Session,
  readers: readonly PinnedGrantee[],
  asked: Asked,
): Promise<Map<string, string>> {
  const found = await matchNames(session, readers, asked)
  const typed = readers.filter(({ principalId }) => ![undefined, principalId].includes(found.get(principalId)))
  const { id: orgId } = await session.org()
  if (typed.length === 0 || !mustVerifyIn(session, orgId)) return found
  const { requireListed } = await import('./trust/receivers.ts')
  const named = typed.map((one) => ({ ...one, wantedName: found.get(one.principalId) }))
  await requireListed(session, orgId, named)
  return found
}

/** Like `findNamed`, for entries that are not signed yet. */
export async function matchNames(
  session: Session,
  readers: readonly PinnedGrantee[],
  { what, recoveryPublicKeyJwk, flags: { reader: values = [] } }: Asked,
): Promise<Map<string, string>> {
  if (values.length === 0) return new Map()
  const { id: orgId } = await session.org()
  const labelled = await nameReaders(session, readers)
  const recovery = recoveryPublicKeyJwk === undefined ? [] : [recoveryName]
  const found = values.map((value): [string, string] => {
    if (recovery.includes(value) || labelled.some(({ principalId }) => principalId === value)) return [value, value]
    const called = labelled.filter((one) => isCalled(session, orgId, one, value))
    const [only] = called
    // The id of the rotator is known without the server, so its name needs no check.
    if (only && called.length === 1) return [only.principalId, isRotator(orgId, only) ? only.principalId : value]
    if (called.length > 1) throw several(value, called, what)
    const possible = [...labelled.map((one) => optionName(session, orgId, one, labelled)), ...recovery].join(', ')
    throw usage(
      `--reader ${value} matches no reader of ${what ?? 'this command'}; nothing was changed`,
      possible === '' ? 'leave --reader out: this command has no new readers' : `use one of these: ${possible}`,
    )
  })
  const named = new Map(found)
  requireAsShown(
    session,
    orgId,
    readers.filter(({ principalId }) => named.has(principalId)),
  )
  return named
}

const several = (value: string, called: readonly Named[], what = 'this command'): Failure =>
  usage(
    `--reader ${value} matches ${called.length} readers of ${what}; nothing was changed`,
    `use one of these ids: ${called.map(({ principalId }) => principalId).join(', ')}. A token begins with its id, and \`skerry token ls\` shows who made it`,
  )

/**
 * Whether `--reader` may name this reader by a name. The server reports who has a name. A name that this machine knows
 * therefore stays with its id, and a known id is accepted only under its known name. A token that is known by its id
 * alone must be named by the id.
 */
function isCalled(session: Session, orgId: string, reader: Named, value: string): boolean {
  const { principalId } = reader
  if (isRotator(orgId, reader)) return value === rotatorName
  if (isPinnedToAnother(session, orgId, value, principalId)) return false
  const known = findPin(session, orgId, principalId)
  if (known && known.name !== principalId) return isPinnedAs(session, orgId, value, principalId)
  // A person who left and came back is known by the id alone. The user names their e-mail address anew.
  return reader.called === value && (known === undefined || principalId.startsWith(idPrefixes.user))
}

/** The value of `--reader` for a reader: the name, or the id if the name is not accepted or several have it. */
function optionName(session: Session, orgId: string, reader: Named, all: readonly Named[]): string {
  const { principalId, called = principalId } = reader
  const known = findPin(session, orgId, principalId)?.name ?? principalId
  const name = isRotator(orgId, reader) ? rotatorName : known === principalId ? called : known
  const found = all.filter((one) => isCalled(session, orgId, one, name))
  return name !== recoveryName && found.length === 1 && found[0] === reader ? name : principalId
}

/**
 * The `--reader` options that name these readers among all readers of the command. Their words were shown: from now on, the
 * options accept no other key.
 */
export async function optionsFor(
  session: Session,
  wanted: readonly PinnedGrantee[],
  all: readonly PinnedGrantee[],
): Promise<string> {
  const { id: orgId } = await session.org()
  noteShown(session, orgId, wanted)
  const ids = new Set(wanted.map(({ principalId }) => principalId))
  const everyone = await nameReaders(session, all)
  return everyone
    .filter(({ principalId }) => ids.has(principalId))
    .map((one) => `--reader ${shellWord(optionName(session, orgId, one, everyone))}`)
    .join(' ')
}

/** `called`: the e-mail address of a person, the name of a token. */
export type Named = PinnedGrantee & {
  label: string
  called: string | undefined
  /** Says how this machine knows the key, if that is not the name that the user wrote. */
  mismatch: string | undefined
}

/** The rotator in `--reader`. An organization has one, and it has the id of the organization. */
const rotatorName = 'rotator'

const isRotator = (orgId: string, { principalType, principalId }: PinnedGrantee): boolean =>
  principalType === 'rotator' && principalId === orgId

/**
 * Adds names. The server lists readers without the names of tokens, so these names come from the directory. A label shows
 * the id only if the name does not tell the reader from another.
 */
export async function nameReaders(session: Session, readers: readonly PinnedGrantee[]): Promise<Named[]> {
  if (readers.length === 0) return []
  const { id: orgId } = await session.org()
  const nameOf = await openDirectory(
    session,
    readers.filter(({ name }) => name === null).map(({ principalId }) => principalId),
  )
  // Nobody may name a sync connection with `--reader`, because it could have the name of a token.
  const calledOf = (reader: PinnedGrantee) =>
    reader.name ?? (serverWords(reader) === undefined ? nameOf(reader.principalId) : undefined)
  const named = readers.map((reader) => ({ ...reader, called: calledOf(reader) }))
  return named.map((reader) => {
    const { principalId, called } = reader
    const mismatch = mismatchOf(session, orgId, reader)
    const ofServer = serverWords(reader)
    if (ofServer === undefined && called === undefined) return { ...reader, called, label: principalId, mismatch }
    if (isRotator(orgId, reader)) return { ...reader, called, label: `the ${readerWords.rotator}`, mismatch }
    if (ofServer !== undefined)
      return { ...reader, called, label: `the ${nameOf(principalId) ?? ofServer} (${principalId})`, mismatch }
    const isUnique = named.filter((one) => one.called === called).length === 1
    return { ...reader, called, label: isUnique ? called! : `${called} (${principalId})`, mismatch }
  })
}

/** Says how this machine knows a key, if that is not the name that the user wrote. */
export function mismatchOf(
  session: Session,
  orgId: string,
  { principalId, wantedName }: PinnedGrantee,
): string | undefined {
  const known = findPin(session, orgId, principalId)
  if (wantedName === undefined || !known || isPinnedAs(session, orgId, wantedName, principalId)) return undefined
  if (wasRemovedAs(session, orgId, principalId, wantedName))
    return `${wantedName} was removed and joined again, with the same key as before`
  const name = known.name === principalId ? 'by its id alone' : `as ${known.name}`
  return `this machine knows this key ${name}, not as ${wantedName}`
}

/** The name of one of the server's own readers; undefined for a person or a token. */
export function serverWords({ principalType = '', name }: PinnedGrantee): string | undefined {
  const kind = { principalType }
  return isReader(kind) ? (name ?? readerWords[kind.principalType]) : undefined
}
