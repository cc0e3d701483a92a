import { type PolicyRule, policyRulesProblem } from '@skerry/contract/policy-body'
import { canonicalRules } from '@skerry/crypto/policy'
import { usage } from '../failure.ts'
import { readValue } from '../input.ts'
import { writeTable } from '../output.ts'

/** A list of rules, or an object that has one: what `policy edit` wrote. */
export async function readRules(file: string): Promise<PolicyRule[]> {
  const text = await readValue('the rules', { file })
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw usage(`${file} is not JSON`, 'see `skerry agent policy publish --help` for a rule')
  }
  const given: unknown = Array.isArray(parsed) ? parsed : (parsed as { rules?: unknown } | null)?.rules
  if (!Array.isArray(given)) throw usage(`${file} holds no list of rules`)
  const rules = given.map((rule) => ({ methods: [], paths: [], allow: [], ...rule }))
  const readable = rules.every(
    ({ host, methods, ...rest }) =>
      typeof host === 'string' && [methods, rest.paths, rest.allow].every((list) => Array.isArray(list)),
  )
  const isText = (one: unknown) => typeof one === 'string'
  if (!readable || !rules.every(({ methods }) => (methods as unknown[]).every(isText))) {
    throw usage(`${file}: ${policyRulesProblem(rules) ?? 'a rule has a member of another type'}`)
  }
  const unknown = rules.find((rule) => Object.keys(rule).some((key) => !members.includes(key)))
  if (unknown) throw usage(`${file}: a rule has a member that no rule has`, `rules have ${members.join(', ')}`)
  const canonical = canonicalRules(rules as PolicyRule[])
  const problem = policyRulesProblem(canonical)
  if (problem !== null) throw usage(`${file}: ${problem}`)
  return canonical
}

const members = ['host', 'methods', 'paths', 'allow', 'label']

export function printRules(rules: readonly PolicyRule[]): void {
  const any = (list: string[], otherwise: string) => (list.length === 0 ? otherwise : list.join(' '))
  writeTable(
    ['rule', 'host', 'methods', 'paths', 'secrets', 'label'],
    rules.map((rule, at) => [
      String(at),
      rule.host,
      any(rule.methods, 'any'),
      any(rule.paths, 'any'),
      any(rule.allow, 'none'),
      rule.label ?? '',
    ]),
  )
}
