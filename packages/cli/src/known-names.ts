import { join } from 'node:path'
import { type IdKind, idPattern, idPrefixes } from '@skerry/contract/prefixes'
import { withLock } from './credentials.ts'
import { Failure } from './failure.ts'
import { readIfThere, writePrivate } from './files.ts'
import { stateFolder } from './folders.js'
import type { Session } from './session.ts'

// The server finds the object that a name means. A malicious server could answer with another object, and have that one
// changed or deleted. This module remembers the names of applications, sync connections, agents and others by their ids.
// `pins.ts` remembers people and tokens, and `known-state.ts` environments.

/** The known names by server and organization, then by the id of the object. */
interface NamesFile {
  version: 1
  names: Record<string, Record<string, string>>
}

interface NamedObject {
  kind: IdKind
  id: string
  name: string
}

const path = () => join(stateFolder(), 'known-names.json')
const placeOf = (session: Session, orgId: string) => `${session.settings.url} ${orgId}`

const namesOf = (session: Session, orgId: string): Record<string, string> =>
  readNames().names[placeOf(session, orgId)] ?? {}

/** The name under which this machine knows an object; undefined if it has not seen the object. */
export const knownNameOf = (session: Session, orgId: string, id: string): string | undefined =>
  namesOf(session, orgId)[id]

interface Wanted extends NamedObject {
  /** The noun in messages: `sync connection`. */
  noun: string
  /** The name or the id that the user typed. */
  wanted: string
  /** Whether the name is a slug, which never changes. */
  isSlug?: boolean | undefined
}

/**
 * Refuses an object that this machine knows by another name, and a name that another object had before. The first object
 * of a name is remembered. An id that the user typed is the object itself, so only another slug is refused, and nothing is
 * learned.
 */
export function checkKnownName(session: Session, orgId: string, one: Wanted): void {
  const { noun, wanted, id, name, isSlug } = one
  checkKind(one, noun)
  const change = changeOfName(session, orgId, noun, one)
  if (wanted === id) {
    const isOther = isSlug && (knownNameOf(session, orgId, id) ?? name) !== name
    if (isOther)
      throw new Failure('refused', `${change}; nothing was changed`, 'a slug never changes: do not trust the server')
    return
  }
  if (change !== undefined)
    throw new Failure(
      'refused',
      `${change}; nothing was changed`,
      `if someone on your team did this, use its id ${id}. Otherwise do not trust the server`,
    )
  noteSeen(session, orgId, one)
}

/** Refuses an id of another kind. A request with it would reach another object than the one that the name means. */
export function checkKind({ kind, id }: Omit<NamedObject, 'name'>, noun: string): void {
  if (!new RegExp(idPattern(kind)).test(id))
    throw new Failure(
      'refused',
      `the server answered ${id} as the id of the ${noun}, and that is an id of another kind; nothing was changed`,
      'do not trust the server',
    )
}

interface Owner {
  id: string
  orgId: string
  slug: string
}

/** Refuses another application or group than this machine knows by this slug. Call it before a change. */
export const checkOwner = (
  session: Session,
  noun: 'application' | 'group',
  { id, orgId, slug }: Owner,
  wanted: string,
): void => checkKnownName(session, orgId, { kind: noun, noun, wanted, id, name: slug, isSlug: true })

interface Owned {
  environment: { applicationId: string | null; groupId: string | null }
  /** `shop/production` or `shared:production`. */
  label: string
}

/** The application or the group of an environment. Its kind is the noun in messages too. */
export const ownerOfPlace = ({ environment: { applicationId, groupId }, label }: Owned) => ({
  kind: groupId === null ? ('application' as const) : ('group' as const),
  id: groupId ?? applicationId ?? '',
  name: label.split(/[/:]/, 1)[0]!,
})

/** Says how an object differs from the memory of this machine; undefined if it does not. */
export function changeOfName(session: Session, orgId: string, noun: string, one: NamedObject): string | undefined {
  const names = namesOf(session, orgId)
  const was = names[one.id]
  if (was !== undefined && was !== one.name)
    return `this machine knows ${one.id} as the ${noun} ${was}, and the server shows it as ${one.name}`
  return ownersOf(names, one).length > 0 ? `the ${noun} ${one.name} is another one than before` : undefined
}

/** Remembers the first object of a name, and changes nothing that is known. */
export function noteSeen(session: Session, orgId: string, one: NamedObject): void {
  const names = namesOf(session, orgId)
  if (names[one.id] === undefined && ownersOf(names, one).length === 0) noteName(session, orgId, one)
}

/**
 * Remembers the name of an object that a person has just created. Refuses an id that this machine knows already: the
 * server could otherwise give a new object the id of another one, and later requests would reach that one.
 */
export function noteNew(session: Session, orgId: string, one: NamedObject): void {
  checkKind(one, one.name)
  const known = knownNameOf(session, orgId, one.id)
  if (known !== undefined)
    throw new Failure(
      'refused',
      `the server answered ${one.id} as the id of the new ${one.name}, and this machine knows that id as ${known}`,
      'do not trust the server',
    )
  noteName(session, orgId, one)
}

/** Remembers the name that a person gave an object, and takes it from every other object of its kind. */
export function noteName(session: Session, orgId: string, one: NamedObject): void {
  change(session, orgId, (names) => {
    const others = new Set(ownersOf(names, one))
    const rest = Object.entries(names).filter(([id]) => !others.has(id))
    return { ...Object.fromEntries(rest), [one.id]: one.name }
  })
}

/** Forgets an object that this machine has deleted. Another object may get its name. */
export function forgetName(session: Session, orgId: string, id: string): void {
  if (knownNameOf(session, orgId, id) === undefined) return
  change(session, orgId, ({ [id]: _, ...rest }) => rest)
}

/** The other objects of the kind that have the name. The names of two teams differ in more than upper and lower case. */
function ownersOf(names: Record<string, string>, { kind, id, name }: NamedObject): string[] {
  const same = (known: string) => (kind === 'team' ? known.toLowerCase() === name.toLowerCase() : known === name)
  return Object.entries(names).flatMap(([other, known]) =>
    same(known) && other !== id && other.startsWith(idPrefixes[kind]) ? [other] : [],
  )
}

function change(session: Session, orgId: string, edit: (names: Record<string, string>) => Record<string, string>) {
  try {
    withLock(`${path()}.lock`, () => {
      const file = readNames()
      const place = placeOf(session, orgId)
      file.names[place] = edit(file.names[place] ?? {})
      writePrivate(path(), `${JSON.stringify(file, null, 2)}\n`)
    })
  } catch {
    // Where nothing can be stored, such as in a container, every command runs as on a new machine.
  }
}

/** A broken file is refused, because starting again with an empty file would accept any object. */
function readNames(): NamesFile {
  const text = readIfThere(path())
  if (text === null) return { version: 1, names: {} }
  try {
    const file = JSON.parse(text) as NamesFile
    if (file.version === 1 && typeof file.names === 'object' && file.names !== null) return file
  } catch {
    // The error below reports it.
  }
  throw new Failure(
    'failure',
    `${path()} is not a list of known names`,
    'restore the file, or move it away to start again',
  )
}
