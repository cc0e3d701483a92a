import type { PolicyRule } from '@skerry/contract/agents/policy-body'
import { readPolicyRules } from '@skerry/sdk/internal/policy-rules'
import { usage } from '../failure.ts'
import { readValue } from '../input.ts'
import { writeTable } from '../output.ts'

/** Reads a list of rules, or an object with one, which `policy edit` writes. */
export async function readRules(file: string): Promise<PolicyRule[]> {
  const read = readPolicyRules(await readValue('the rules', { file }))
  if ('rules' in read) return read.rules
  throw usage(`${file}: ${read.problem}`, 'see `skerry agent policy publish --help` for a rule')
}

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
