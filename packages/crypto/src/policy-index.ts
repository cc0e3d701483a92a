import type { PolicyRule } from '@skerry/contract/agents/policy-body'

/** Of rules that match the same paths: the index of the first, of the first for any method, and of the first for each. */
export interface Firsts {
  any: number
  anyMethod: number
  byMethod: Map<string, number>
}

/** Patterns by the segments that they begin with. One with a `*` in it stands under `wild`. */
interface Segments {
  literal: Map<string, Segments>
  wild: Segments | null
  /** Patterns that end here, and those whose next segment is `**`. */
  patterns: Map<string, Firsts>
}

/** The rules of one host. */
export interface HostIndex {
  /** Of rules without patterns. */
  anyPath: Firsts
  patterns: Segments
}

/** Behind every rule. */
export const none = Number.POSITIVE_INFINITY

const indexes = new WeakMap<readonly PolicyRule[], ReadonlyMap<string, HostIndex>>()

/** The rules by host, in lower case. It is made once for each list. */
export function indexOf(rules: readonly PolicyRule[]): ReadonlyMap<string, HostIndex> {
  const known = indexes.get(rules)
  if (known) return known
  const made = new Map<string, HostIndex>()
  for (const [at, rule] of rules.entries()) {
    const host = asciiLowerCase(rule.host)
    const ofHost = made.get(host) ?? { anyPath: newFirsts(), patterns: newSegments() }
    made.set(host, ofHost)
    if (rule.paths.length === 0) note(ofHost.anyPath, rule, at)
    for (const pattern of rule.paths) note(placeOf(ofHost.patterns, pattern), rule, at)
  }
  indexes.set(rules, made)
  return made
}

/** Hostnames are ASCII: other characters have no second case here. */
const asciiLowerCase = (host: string) => host.replace(/[A-Z]+/g, (some) => some.toLowerCase())

const newFirsts = (): Firsts => ({ any: none, anyMethod: none, byMethod: new Map() })
const newSegments = (): Segments => ({ literal: new Map(), wild: null, patterns: new Map() })

/** Rules come in their order, so what is there already is first. */
function note(firsts: Firsts, { methods }: PolicyRule, at: number): void {
  firsts.any = Math.min(firsts.any, at)
  if (methods.length === 0) firsts.anyMethod = Math.min(firsts.anyMethod, at)
  for (const method of methods) {
    const name = method.toUpperCase()
    if (!firsts.byMethod.has(name)) firsts.byMethod.set(name, at)
  }
}

function placeOf(root: Segments, pattern: string): Firsts {
  let place = root
  for (const segment of pattern.split('/')) {
    if (segment === '**') break
    const isWild = segment.includes('*')
    const next = (isWild ? place.wild : place.literal.get(segment)) ?? newSegments()
    if (isWild) place.wild = next
    else place.literal.set(segment, next)
    place = next
  }
  const known = place.patterns.get(pattern) ?? newFirsts()
  place.patterns.set(pattern, known)
  return known
}

/**
 * Every pattern that may match the path, by its segments; whether it does, is another question. Of patterns with other literal
 * segments before their first `**` none is looked at.
 */
export function eachNear(root: Segments, path: string, consider: (pattern: string, firsts: Firsts) => void): void {
  const segments = path.split('/')
  const visit = (place: Segments, at: number) => {
    for (const [pattern, firsts] of place.patterns) consider(pattern, firsts)
    const segment = segments[at]
    if (segment === undefined) return
    const next = place.literal.get(segment)
    if (next) visit(next, at + 1)
    if (place.wild) visit(place.wild, at + 1)
  }
  visit(root, 0)
}
