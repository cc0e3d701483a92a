import { agents } from '@skerry/contract/agents/endpoints'
import { tasks } from '@skerry/contract/tasks/endpoints'
import type { PrivateKey } from '@skerry/crypto/keys'
import { policySigner, signPolicy } from '@skerry/crypto/policy'
import { newTaskToken } from '../../server/test/agent-steps.ts'
import { newToken } from '../../server/test/tenant.ts'
import { sent } from '../../server/test/vault-scene.ts'
import type { World } from '../../server/test/world.ts'
import type { Place } from './org-steps.ts'
import type { Team } from './teams.ts'

/** An admin who signs policies, as another client of that person. */
export interface Signer {
  as: string
  privateKey: PrivateKey
}

const rulesOf = (names: string[]) => [
  { host: 'api.example.com', methods: ['GET', 'POST'], paths: ['/v1/**'], allow: names.slice(0, 2) },
  { host: 'hooks.example.com', methods: ['POST'], paths: [], allow: [] },
  { host: 'files.example.com', methods: ['GET'], paths: ['/releases/*'], allow: names.slice(2, 3), label: 'releases' },
]

/** Creates an agent with a policy, tasks, and activity reports of a proxy. */
export async function fillAgents(world: World, as: string, signer: Signer, team: Team, place: Place): Promise<void> {
  const { orgId, envId: environmentId } = place
  const { agent } = await sent(world, agents.create, { as, params: { orgId }, body: { ...team.agent, environmentId } })
  const names = Object.keys(team.secrets)
  const issuedAt = Math.floor(world.clock.now().getTime() / 1000)
  const draft = { org: orgId, agent: agent.id, agentSlug: agent.slug, issuedAt, expiresAt: issuedAt + 30 * 86_400 }
  const bundle = await signPolicy(
    { ...draft, policyVersion: 1, rules: rulesOf(names) },
    await policySigner(signer.privateKey),
  )
  await sent(world, agents.publish, { as: signer.as, params: { orgId, agentId: agent.id }, body: { bundle } })
  for (const scopes of [names.slice(0, 1), []]) {
    const { taskRef, tokenHash } = newTaskToken()
    const body = { taskRef, tokenHash, scopes, label: team.tokens[0]!, ttlSeconds: 3600 }
    await sent(world, tasks.dispatch, { as, params: { agentRef: agent.id }, body })
  }
  await count(world, as, { orgId, environmentId, agentRef: agent.id, name: names[0]! })
}

/** Reports activity for 24 hours, with more requests in each hour than in the hour before. */
async function count(
  world: World,
  as: string,
  { orgId, environmentId, agentRef, name }: { orgId: string; environmentId: string; agentRef: string; name: string },
) {
  const proxy = await newToken(world, { orgId, machine: { as, id: '' } }, { environmentId })
  const api = { host: 'api.example.com', method: 'GET', ruleIndex: 0, secrets: { [name]: 1 } } as const
  for (let hour = 1; hour <= 24; hour++) {
    const windowStart = new Date(world.clock.now().getTime() - (25 - hour) * 3_600_000).toISOString()
    const entries = [
      { ...api, decision: 'allow', count: hour * hour, ...(hour % 8 === 0 ? { redactions: { [name]: 1 } } : {}) },
      { host: 'hooks.example.com', method: 'POST', decision: 'allow', ruleIndex: 1, count: 5 + (hour % 4) },
      ...(hour % 6 === 0 ? [{ ...api, decision: 'secret_not_allowed', count: hour } as const] : []),
      ...(hour > 20
        ? [{ host: 'metrics.example.net', method: 'POST', decision: 'no_rule', ruleIndex: null, count: 9 } as const]
        : []),
    ] as const
    const body = { windowStart, policyVersion: 1, entries: [...entries] }
    await sent(world, tasks.report, { as: proxy.as, params: { agentRef }, body })
  }
}
