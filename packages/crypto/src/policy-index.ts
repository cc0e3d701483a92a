import type { PolicyRule } from '@skerry/contract/agents/policy-body'

/**
 * Indexes among rules that match the same paths: of the first rule, of the first for any method, and of the first for
 * each method.
 */
export interface Firsts {
  any: number
  anyMethod: number
  byMethod: Map<string, number>
}

/** Patterns by their first segments. A segment with a `*` in it is under `wild`. */
interface Segments {
  literal: Map<string, Segments>
  wild: Segments | null
  /** Patterns that end here, and patterns whose next segment is `**`. */
  patterns: Map<string, Firsts>
}

/** The rules of one host. */
export interface HostIndex {
  /** The first rules among those without patterns. */
  anyPath: Firsts
  patterns: Segments
}

/** Larger than the index of every rule. */
export const none = Number.POSITIVE_INFINITY

const indexes = new WeakMap<readonly PolicyRule[], ReadonlyMap<string, HostIndex>>()

/** Returns the rules by host, in lower case. The index is built once for each list. */
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

/** Lowercases ASCII letters only, because hostnames are ASCII. */
const asciiLowerCase = (host: string) => host.replace(/[A-Z]+/g, (some) => some.toLowerCase())

const newFirsts = (): Firsts => ({ any: none, anyMethod: none, byMethod: new Map() })
const newSegments = (): Segments => ({ literal: new Map(), wild: null, patterns: new Map() })

/** Rules are added in their order, so an existing entry is the first. */
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
 * Visits every pattern that may match the path, by its segments. The caller must still test the match. Patterns with
 * other literal segments before their first `**` are skipped.
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
