import { join } from 'node:path'
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
export function checkKnownName(session: Session, orgId: string, { noun, wanted, id, name, isSlug }: Wanted): void {
  const change = changeOfName(session, orgId, noun, { id, name })
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
  noteSeen(session, orgId, { id, name })
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
): void => checkKnownName(session, orgId, { noun, wanted, id, name: slug, isSlug: true })

interface Owned {
  environment: { applicationId: string | null; groupId: string | null }
  /** `shop/production` or `shared:production`. */
  label: string
}

/** The application or the group of an environment, with the noun in messages. */
export const ownerOfPlace = ({ environment: { applicationId, groupId }, label }: Owned) => ({
  noun: groupId === null ? 'application' : 'group',
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
export function noteSeen(session: Session, orgId: string, { id, name }: NamedObject): void {
  const names = namesOf(session, orgId)
  if (names[id] === undefined && ownersOf(names, { id, name }).length === 0) noteName(session, orgId, { id, name })
}

/** Remembers the name that a person gave an object, and takes it from every other object of its kind. */
export function noteName(session: Session, orgId: string, { id, name }: NamedObject): void {
  change(session, orgId, (names) => {
    const others = new Set(ownersOf(names, { id, name }))
    const rest = Object.entries(names).filter(([one]) => !others.has(one))
    return { ...Object.fromEntries(rest), [id]: name }
  })
}

/** Forgets an object that this machine has deleted. Another object may get its name. */
export function forgetName(session: Session, orgId: string, id: string): void {
  if (knownNameOf(session, orgId, id) === undefined) return
  change(session, orgId, ({ [id]: _, ...rest }) => rest)
}

/** The other objects of a kind that have the name. The prefix of an id is its kind. */
const ownersOf = (names: Record<string, string>, { id, name }: NamedObject): string[] =>
  Object.entries(names).flatMap(([other, known]) =>
    known === name && other !== id && other.slice(0, 4) === id.slice(0, 4) ? [other] : [],
  )

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
