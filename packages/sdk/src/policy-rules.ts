import { type PolicyRule, policyRulesProblem } from '@skerry/contract/agents/policy-body'
import { canonicalRules } from '@skerry/crypto/policy'

const members = ['host', 'methods', 'paths', 'allow', 'label']

/**
 * Reads rules as people write them: a JSON list, or an object with a list `rules`. Lists that a rule leaves out are
 * empty.
 *
 * @returns the rules in their canonical form, or the problem with its position.
 * @example readPolicyRules('[{ "host": "api.example.com", "methods": ["GET"] }]')
 */
export function readPolicyRules(text: string): { rules: PolicyRule[] } | { problem: string } {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return { problem: 'the text is not JSON' }
  }
  const given: unknown = Array.isArray(parsed) ? parsed : (parsed as { rules?: unknown } | null)?.rules
  if (!Array.isArray(given)) return { problem: 'the text has no list of rules' }
  const rules = given.map((rule) => ({ methods: [], paths: [], allow: [], ...rule }))
  const readable = rules.every(
    ({ host, methods, ...rest }) =>
      typeof host === 'string' && [methods, rest.paths, rest.allow].every((list) => Array.isArray(list)),
  )
  const isText = (one: unknown) => typeof one === 'string'
  if (!readable || !rules.every(({ methods }) => (methods as unknown[]).every(isText)))
    return { problem: policyRulesProblem(rules) ?? 'a field of a rule has the wrong type' }
  for (const [at, rule] of rules.entries()) {
    const unknown = Object.keys(rule).find((key) => !members.includes(key))
    if (unknown !== undefined)
      return { problem: `rule ${at} has an unknown field '${unknown}'; the fields are ${members.join(', ')}` }
  }
  const canonical = canonicalRules(rules as PolicyRule[])
  const problem = policyRulesProblem(canonical)
  return problem === null ? { rules: canonical } : { problem }
}
