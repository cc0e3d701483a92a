import { isIncluded } from '@skerry/contract/sync/names'
import type { NameRule } from '@skerry/providers/sync/provider'
import type { Binding } from './scope.ts'

// What secrets are called at a destination. Pure, because it decides in three places: when two bindings would meet, in a
// plan, and in a run.

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

/** What names are compared by at a destination: some tell no case apart. */
export const nameKey = (name: string, rule: NameRule): string => (rule.ignoresCase ? name.toLowerCase() : name)

/** Why the destination takes no such name; null where it does. */
export function nameProblem(name: string, rule: NameRule): string | null {
  const whole = rule.prefix + name
  if (!new RegExp(rule.pattern).test(whole)) return `The destination takes names of ${rule.words}.`
  if (rule.reserved.some((reserved) => isReserved(whole, reserved)))
    return 'The destination keeps this name for itself.'
  return null
}

const isReserved = (name: string, reserved: string): boolean =>
  reserved.endsWith('*') ? name.startsWith(reserved.slice(0, -1)) : name === reserved

/** The names that a binding writes, each with the secrets that become it: more than one is a mistake of the transform. */
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
