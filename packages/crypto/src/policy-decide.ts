import type { PolicyRule } from '@skerry/contract/agents/policy-body'
import { eachNear, type Firsts, type HostIndex, indexOf, none } from './policy-index.ts'
import { isAmbiguousPath } from './policy-path-form.ts'
import { matchesPath } from './policy-paths.ts'

/** The parts of a request that a policy checks. `secret` is set if a secret is to be injected. */
export interface Operation {
  /** A hostname without port, in any case. */
  host: string
  method: string
  /** The path as sent. A query after `?` is ignored. */
  path: string
  secret?: string | undefined
}

/** The decision of a policy, and the index of the rule that decided. */
export type PolicyDecision =
  | { decision: 'allow' | 'method_not_allowed' | 'secret_not_allowed'; ruleIndex: number }
  | { decision: 'path_not_allowed' | 'no_rule'; ruleIndex: null }

/**
 * Decides whether a policy permits a request. Rules are tried in order. The first rule whose host, path and method
 * match decides, also about the secret: no later rule permits what it denies. Proxies, the SDK, the command line and
 * the dashboard decide with this function.
 *
 * A path that an upstream could read as another path (`isAmbiguousPath`) matches no pattern. Rules without patterns
 * permit it.
 *
 * @param rules the rules of a verified policy. A list is indexed at its first use, and must not change afterwards.
 * @param scopes the secrets to which a task narrows the policy. null or undefined: no narrowing. Empty list: no secret.
 * @example decide(rules, { host: 'api.example.com', method: 'POST', path: '/v1/items', secret: 'API_KEY' })
 */
export function decide(
  rules: readonly PolicyRule[],
  operation: Operation,
  scopes?: readonly string[] | null,
): PolicyDecision {
  const { secret } = operation
  const ofHost = indexOf(rules).get(operation.host.toLowerCase())
  if (!ofHost) return { decision: 'no_rule', ruleIndex: null }
  const path = pathOf(operation.path)
  const found = firstRules(ofHost, isAmbiguousPath(path) ? null : path, operation.method.toUpperCase())
  if (found.permitting !== none) {
    const isPermitted = secret === undefined || permits(rules[found.permitting]!, secret, scopes)
    return { decision: isPermitted ? 'allow' : 'secret_not_allowed', ruleIndex: found.permitting }
  }
  if (found.any !== none) return { decision: 'method_not_allowed', ruleIndex: found.any }
  return { decision: 'path_not_allowed', ruleIndex: null }
}

/** The only place where a task narrows a policy: both must name the secret. */
const permits = (rule: PolicyRule, secret: string, scopes: readonly string[] | null | undefined): boolean =>
  rule.allow.includes(secret) && (scopes === null || scopes === undefined || scopes.includes(secret))

/** Finds the first rule whose path matches, and the first of those rules that also permits the method. */
function firstRules(ofHost: HostIndex, path: string | null, method: string): { any: number; permitting: number } {
  const first = { any: none, permitting: none }
  const consider = (one: Firsts) => {
    first.any = Math.min(first.any, one.any)
    first.permitting = Math.min(first.permitting, one.anyMethod, one.byMethod.get(method) ?? none)
  }
  consider(ofHost.anyPath)
  if (path !== null)
    eachNear(ofHost.patterns, path, (pattern, one) => {
      // A rule after one that permits the request has no effect.
      if (one.any < first.permitting && matchesPath(pattern, path)) consider(one)
    })
  return first
}

function pathOf(path: string): string {
  const query = path.indexOf('?')
  return query === -1 ? path : path.slice(0, query)
}
