import type { PolicyRule } from '@skerry/contract/agents/policy-body'
import type { Answer } from '@skerry/contract/endpoint'
import type { tasks } from '@skerry/contract/tasks/endpoints'

type Evidence = Answer<typeof tasks.activity>

/**
 * Narrows a policy: removes rules that nobody used, and secret names that were never injected at a rule's host.
 *
 * @param rules the rules of the policy in force, for which the evidence names the unused ones.
 * @example narrowPolicy(rules, await client.tasks.activity({ params: { orgId, agentId } }))
 */
export function narrowPolicy(
  rules: readonly PolicyRule[],
  { activity, summary }: Pick<Evidence, 'activity' | 'summary'>,
): PolicyRule[] {
  const unused = new Set(summary.unusedRules)
  return rules.flatMap((rule, at) => {
    if (unused.has(at)) return []
    const used = activity.filter((one) => one.decision === 'allow' && one.host === rule.host)
    const injected = new Set(used.flatMap((one) => Object.keys(one.secrets)))
    return [{ ...rule, allow: rule.allow.filter((name) => injected.has(name)) }]
  })
}
