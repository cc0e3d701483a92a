import { auditSentences } from './sentences.ts'

/** The fields of an audit entry that its sentence is made from. */
export interface ToldEntry {
  action: string
  actorType: string
  actorId: string | null
  resourceType: string
  resourceId: string | null
  metadata: Readonly<Record<string, unknown>>
}

/** Returns the present name of an id: an e-mail address or a name, for an environment `shop/production`. */
export type NameOf = (id: string) => string | undefined

/**
 * Tells an audit entry in one sentence, without ids. The sentence has names that people chose, so a terminal must escape
 * it, and a page must insert it as text.
 *
 * @example
 * tellEntry(
 *   { action: 'app.create', actorType: 'user', actorId: null, resourceType: 'application', resourceId: null, metadata: {} },
 *   () => undefined,
 * )
 */
export function tellEntry(entry: ToldEntry, nameOf: NameOf): string {
  const { action } = entry
  // An action of a newer server has no sentence here.
  const sentence = Object.hasOwn(auditSentences, action)
    ? auditSentences[action as keyof typeof auditSentences]
    : `{actor}: ${action}`
  const wordOf = (field: string) => wordFor(field, entry, nameOf)
  const whole = sentence.replace(/\[([^\]]*)\]/g, (_, part: string) =>
    fieldsIn(part).every((field) => wordOf(field) !== undefined) ? part : '',
  )
  const told = whole.replace(braces, (_, field: string) => wordOf(field) ?? unknownWord(field, entry))
  return /^(?:a|an|the) /.test(told) ? `${told[0]!.toUpperCase()}${told.slice(1)}` : told
}

const braces = /\{(\w+)\}/g

const fieldsIn = (part: string): string[] => [...part.matchAll(braces)].map(([, field]) => field!)

function wordFor(field: string, entry: ToldEntry, nameOf: NameOf): string | undefined {
  const { metadata, resourceId } = entry
  if (field === 'actor') return actorOf(entry, nameOf)
  if (field === 'what') return named(resourceId, nameOf) ?? textOf(metadata.name) ?? textOf(metadata.slug)
  if (field === 'environment') return named(metadata.environmentId, nameOf)
  if (field === 'principalId' && metadata.principalType === 'rotator') return strangers.rotator
  // A change of one secret has its name. A re-key has none.
  if (field === 'name' && metadata.action === 'rekey') return 'the key'
  const value = Object.hasOwn(metadata, field) ? metadata[field] : undefined
  if (value === true) return flags[field]
  return isId(value) ? named(value, nameOf) : textOf(value)
}

/** The words for fields that are true. */
const flags: Readonly<Record<string, string>> = { resealed: 'sealed anew' }

const programs: Readonly<Record<string, string>> = {
  service_token: 'the token',
  m2m: 'the machine client',
  vault_platform: 'the platform key',
  vault_executor: 'the executor',
}

/** The words for an actor without a name: it was deleted, it never has one, or the reader may not know it. */
const strangers: Readonly<Record<string, string>> = {
  user: 'a former member',
  service_token: 'a token',
  m2m: 'a machine client',
  vault_platform: 'a platform key',
  vault_executor: 'an executor',
  vault_end_user: 'an end user',
  system: 'Skerry',
  rotator: 'the server’s rotator',
  sync_connection: 'a sync destination',
}

function actorOf({ actorType, actorId }: ToldEntry, nameOf: NameOf): string {
  // The rotator has the id of its organization, whose name would be misleading.
  const name = actorType === 'rotator' ? undefined : named(actorId, nameOf)
  if (name === undefined) return strangers[actorType] ?? 'someone'
  const program = programs[actorType]
  return program === undefined ? name : `${program} ${name}`
}

/** The words for a thing without a name, for example because it was deleted since. */
function unknownWord(field: string, { resourceType, metadata }: ToldEntry): string {
  if (field === 'environment' || field === 'parentEnvironmentId') return 'a deleted environment'
  if (field === 'principalId') return strangers[String(metadata.principalType)] ?? 'someone'
  if (field === 'what') return strangers[resourceType] ?? `a deleted ${resourceType.replaceAll('_', ' ')}`
  if (field === 'userId') return 'a former member'
  return `a deleted ${field.replace(/Id$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`
}

const isId = (value: unknown): value is string =>
  typeof value === 'string' && /^[a-z0-9]{2,3}_[0-9A-Za-z]{22}$/.test(value)

const named = (id: unknown, nameOf: NameOf): string | undefined =>
  typeof id === 'string' ? nameOf(id) || undefined : undefined

const textOf = (value: unknown): string | undefined =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : undefined
