import { narrowPolicy } from '@skerry/sdk/internal/policy-narrowing'
import { usage } from '../failure.ts'
import type { SignedIn } from '../frame.ts'
import { formatTable, note, type Output, writeJson, writeStderr } from '../output.ts'
import type { Flags } from '../settings.ts'
import { count } from '../units.ts'
import { agentOf } from './identities.ts'
import { rulesInForce } from './policies.ts'

/**
 * Proposes narrower rules. This is done here, because the server only counts requests. The rules alone go to stdout, so
 * that a file can take them.
 */
export async function review(
  wanted: string,
  { session, input: { days } }: SignedIn<Flags & { days: string }, typeof parseReview>,
): Promise<Output> {
  const { orgId, agent } = await agentOf(session, wanted)
  const params = { orgId, agentId: agent.id }
  const rules = await rulesInForce(session, orgId, agent)
  const evidence = await session.client.tasks.activity({ params, query: { days } })
  // Without a report nothing is known to be unused.
  const isReported = evidence.summary.total > 0
  const proposed = isReported ? narrowPolicy(rules, evidence) : rules
  return {
    json: { summary: evidence.summary, activity: evidence.activity, rules: proposed },
    text: () => {
      const { summary, activity } = evidence
      note(
        `${count(summary.total, 'request')} in ${count(days, 'day')}: ${summary.allowed} allowed, ${summary.refused} refused`,
      )
      if (!isReported && rules.length > 0)
        return note(
          'nothing was reported, so no rule is known to be unused; a proxy reports only with a service token in SKERRY_TOKEN',
        )
      if (summary.redacted > 0)
        note(`hosts sent secrets back ${count(summary.redacted, 'time')}; the proxy replaced them`)
      writeStderr(
        formatTable(
          ['host', 'method', 'decision', 'rule', 'count', 'secrets', 'sent back'],
          activity.map((one) => [
            one.host,
            one.method,
            one.decision,
            one.ruleIndex === null ? '' : String(one.ruleIndex),
            String(one.count),
            Object.keys(one.secrets).join(' '),
            Object.keys(one.redactions).join(' '),
          ]),
        ),
      )
      if (JSON.stringify(proposed) === JSON.stringify(rules))
        return note(
          rules.length === 0
            ? `agent ${agent.slug} has no policy to review`
            : 'the agent used everything that the policy allows',
        )
      const unused = `${count(summary.unusedRules.length, 'rule')} and ${count(summary.unusedSecrets.length, 'secret')}`
      note(`the agent did not use ${unused}; the rules without them:`)
      writeJson({ rules: proposed })
      note('check that you do not need them at other times, then write these rules to a file and publish them with')
      note(`  skerry agent policy publish ${agent.slug} --file <path>`)
    },
  }
}

export function parseReview(flags: Flags & { days: string }) {
  const days = /^\d{1,2}$/.test(flags.days) ? Number(flags.days) : 0
  if (days < 1 || days > 90) throw usage('--days must be a whole number from 1 to 90')
  return { days }
}
