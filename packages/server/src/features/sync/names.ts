import { isIncluded } from '@skerry/contract/sync/names'
import type { NameRule, SyncLimits } from '@skerry/providers/sync/provider'
import type { Tx } from '../../db/database.ts'
import { fail } from '../../kernel/errors.ts'
import { listNeighbours, listSecretNames } from './binding-store.ts'
import type { Binding } from './scope.ts'

// Computes the names of secrets at a destination. A plan, a run and the check for conflicting bindings share these
// rules.

type Filter = Pick<Binding, 'include' | 'exclude'>
type Transform = Binding['nameTransform']

const forms: Record<NameRule['form'], (name: string) => string> = {
  exact: (name) => name,
  upper: (name) => name.toUpperCase(),
  dashed: (name) => name.replace(/[^A-Za-z0-9]/g, '-'),
}

/** A secret’s name as the destination lists it. */
function destinationName(name: string, { prefix = '', suffix = '', case: letters }: Transform, rule: NameRule) {
  const whole = prefix + name + suffix
  const cased = letters === undefined ? whole : letters === 'upper' ? whole.toUpperCase() : whole.toLowerCase()
  return forms[rule.form](cased)
}

/** The form in which names are compared at a destination, because some destinations ignore case. */
export const nameKey = (name: string, rule: NameRule): string => (rule.ignoresCase ? name.toLowerCase() : name)

/** Returns why the destination refuses this name, or null if it accepts it. */
export function nameProblem(name: string, rule: NameRule): string | null {
  const whole = rule.prefix + name
  if (!new RegExp(rule.pattern).test(whole)) return `The destination takes names of ${rule.words}.`
  if (rule.reserved.some((reserved) => isReserved(whole, reserved)))
    return 'The destination keeps this name for itself.'
  return null
}

const isReserved = (name: string, reserved: string): boolean =>
  reserved.endsWith('*') ? name.startsWith(reserved.slice(0, -1)) : name === reserved

/** The names that a binding writes, each with its secrets. Two secrets for one name are a mistake in the transform. */
export function namesThere(
  secrets: Iterable<string>,
  binding: Filter & { nameTransform: Transform },
  rule: NameRule,
): Map<string, string[]> {
  const there = new Map<string, string[]>()
  const spelled = new Map<string, string>()
  for (const secret of secrets) {
    if (!isIncluded(secret, binding)) continue
    const name = destinationName(secret, binding.nameTransform, rule)
    const key = nameKey(name, rule)
    const first = spelled.get(key) ?? name
    spelled.set(key, first)
    there.set(first, [...(there.get(first) ?? []), secret])
  }
  return there
}

/** Refuses a binding that writes a name of another one: each would overwrite what the other wrote. */
export async function checkNeighbours(db: Tx, binding: Binding, limits: SyncLimits): Promise<void> {
  const met = await findMeeting(db, binding, limits)
  if (met) throw fail('conflict', `body.destination: the binding ${met.bindingId} writes ${met.name} there, too`)
}

/** Finds a name that another binding writes to one of the places of this one. */
export async function findMeeting(
  db: Tx,
  binding: Binding,
  limits: SyncLimits,
): Promise<{ bindingId: string; name: string } | null> {
  const { orgId } = binding
  const namesOf = async (one: Binding) => namesThere(await listSecretNames(db, orgId, one.id), one, limits.name).keys()
  const own = [...(await namesOf(binding))]
  for (const neighbour of await listNeighbours(db, orgId, binding)) {
    const theirs = new Set([...(await namesOf(neighbour))].map((name) => nameKey(name, limits.name)))
    const met = own.find((name) => theirs.has(nameKey(name, limits.name)))
    if (met !== undefined) return { bindingId: neighbour.id, name: met }
  }
  return null
}
