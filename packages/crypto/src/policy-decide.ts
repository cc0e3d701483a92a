import type { PolicyRule } from '@skerry/contract/policy-body'

/** A request, as far as a policy looks at it; `secret` where one is to be put into it. */
export interface Operation {
  /** A hostname without port, in any case. */
  host: string
  method: string
  /** As sent; what follows a `?` is not looked at. */
  path: string
  secret?: string | undefined
}

/** What a policy says, and the index of the rule that says it. */
export type PolicyDecision =
  | { decision: 'allow' | 'method_not_allowed' | 'secret_not_allowed'; ruleIndex: number }
  | { decision: 'path_not_allowed' | 'no_rule'; ruleIndex: null }

/**
 * What a policy says about a request. Rules are tried in order, and the first whose host, path and method match decides,
 * also about the secret: no later rule permits what it does not. Proxies, the SDK, the command line and the dashboard
 * decide with this function.
 *
 * A path with `.` or `..` in it, plain or percent-encoded, matches no pattern: an upstream would read another path than the
 * one that the pattern permits. Rules without patterns permit it.
 *
 * @param rules of a policy that was verified.
 * @param scopes what a task narrows the policy to; null or undefined: nothing, the empty list: to no secret.
 * @example decide(rules, { host: 'api.example.com', method: 'POST', path: '/v1/items', secret: 'API_KEY' })
 */
export function decide(
  rules: readonly PolicyRule[],
  operation: Operation,
  scopes?: readonly string[] | null,
): PolicyDecision {
  const { secret } = operation
  const host = operation.host.toLowerCase()
  const method = operation.method.toUpperCase()
  const path = pathOf(operation.path)
  const isClear = !dotSegment.test(path)
  let sawHost = false
  let otherMethod = -1
  for (let at = 0; at < rules.length; at++) {
    const rule = rules[at]!
    if (!isHost(rule.host, host)) continue
    sawHost = true
    if (rule.paths.length > 0 && !(isClear && matchesSome(rule.paths, path))) continue
    if (rule.methods.length > 0 && !rule.methods.some((one) => one === method || one.toUpperCase() === method)) {
      if (otherMethod === -1) otherMethod = at
      continue
    }
    if (secret === undefined || permits(rule, secret, scopes)) return { decision: 'allow', ruleIndex: at }
    return { decision: 'secret_not_allowed', ruleIndex: at }
  }
  if (otherMethod !== -1) return { decision: 'method_not_allowed', ruleIndex: otherMethod }
  return { decision: sawHost ? 'path_not_allowed' : 'no_rule', ruleIndex: null }
}

/** The one place where a task narrows a policy: both have to name the secret. */
const permits = (rule: PolicyRule, secret: string, scopes: readonly string[] | null | undefined): boolean =>
  rule.allow.includes(secret) && (scopes === null || scopes === undefined || scopes.includes(secret))

/** In any case, without making a text for each of a thousand rules. `host` is in lower case. */
function isHost(own: string, host: string): boolean {
  if (own.length !== host.length) return false
  for (let at = 0; at < own.length; at++) {
    const code = own.charCodeAt(at)
    const lower = code >= 65 && code <= 90 ? code + 32 : code
    if (lower !== host.charCodeAt(at)) return false
  }
  return true
}

function matchesSome(patterns: readonly string[], path: string): boolean {
  for (const pattern of patterns) if (matchesPath(pattern, path)) return true
  return false
}

function pathOf(path: string): string {
  const query = path.indexOf('?')
  return query === -1 ? path : path.slice(0, query)
}

const dotSegment = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:$|[/\\]|%2f|%5c)/i

const star = 42
const slash = 47

/**
 * Whether a path matches a glob: segment by segment, where `**` stands for any number of whole ones and `*` for any run of
 * characters in one. It steps back to the last `*` and the last `**` alone, so no pattern makes it slow; and it makes
 * nothing, because a thousand of these stand before each request.
 *
 * @example matchesPath('/v1/models/**', '/v1/models') // true
 */
export function matchesPath(pattern: string, path: string): boolean {
  const firstStar = pattern.indexOf('*')
  if (firstStar === -1) return pattern === path
  // What most patterns fail at, in a loop that does nothing else; no `**` begins in the middle of it.
  for (let at = 0; at < firstStar; at++)
    if (at >= path.length || pattern.charCodeAt(at) !== path.charCodeAt(at))
      return at === path.length && at === firstStar - 1 && matchesRest(pattern, path, at)
  return matchesRest(pattern, path, firstStar)
}

/** From where the two are known to be alike. Both are read as if they ended in a slash, so that every segment does. */
function matchesRest(pattern: string, path: string, from: number): boolean {
  let own = from
  let at = from
  let starOwn = -1
  let starAt = -1
  let anyOwn = -1
  let anyAt = -1
  const end = path.length
  while (at <= end) {
    const wanted = own < pattern.length ? pattern.charCodeAt(own) : own === pattern.length ? slash : -1
    const found = at < end ? path.charCodeAt(at) : slash
    if (wanted === found && wanted !== star) {
      own++
      at++
      if (found === slash) starOwn = -1
    } else if (wanted === star && isAny(pattern, own)) {
      own += 3
      anyOwn = own
      anyAt = at
      starOwn = -1
    } else if (wanted === star) {
      own++
      starOwn = own
      starAt = at
    } else if (starOwn !== -1 && codeAt(path, starAt) !== slash) {
      own = starOwn
      at = ++starAt
    } else if (anyOwn !== -1) {
      while (codeAt(path, anyAt) !== slash) anyAt++
      own = anyOwn
      at = ++anyAt
      starOwn = -1
    } else return false
  }
  while (isAny(pattern, own)) own += 3
  return own === pattern.length + 1
}

/** -1 behind the slash that is thought at the end. */
function codeAt(text: string, at: number): number {
  if (at < text.length) return text.charCodeAt(at)
  return at === text.length ? slash : -1
}

/** Whether a segment that is `**` begins here. */
const isAny = (pattern: string, at: number): boolean =>
  codeAt(pattern, at) === star &&
  codeAt(pattern, at + 1) === star &&
  codeAt(pattern, at + 2) === slash &&
  (at === 0 || codeAt(pattern, at - 1) === slash)
