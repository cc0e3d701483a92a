import type { agents as agentEndpoints } from '@skerry/contract/agents/endpoints'
import type { PolicyRule } from '@skerry/contract/agents/policy-body'
import type { Answer } from '@skerry/contract/endpoint'
import type { tasks as taskEndpoints } from '@skerry/contract/tasks/endpoints'
import { type PolicySigner, signPolicy } from '@skerry/crypto/policy'
import { newTaskToken } from '@skerry/crypto/task-token'
import type { Client } from './client.ts'
import { clientError } from './errors.ts'
import { pagesOf } from './pages.ts'

export type Agent = Answer<typeof agentEndpoints.get>['agent']
export type AgentPolicy = Answer<typeof agentEndpoints.policies>['policies'][number]
export type AgentTask = Answer<typeof taskEndpoints.get>['task']

/** The most rows that the server returns on one page. */
const pageLimit = 100

/**
 * Lists every agent of an organization.
 *
 * @throws RefusedError `forbidden`; UnavailableError.
 * @example const agents = await listAgents(client, orgId)
 */
export async function listAgents(client: Client, orgId: string): Promise<Agent[]> {
  const all: Agent[] = []
  const read = (page: object) => client.agents.list({ params: { orgId }, query: { limit: pageLimit, ...page } })
  for await (const { agents } of pagesOf(read)) all.push(...agents)
  return all
}

/** The policy to publish. Times are milliseconds since 1970. */
export interface PolicyWish {
  agent: Agent
  orgId: string
  rules: readonly PolicyRule[]
  issuedAtMs: number
  expiresAtMs: number
}

/**
 * Signs rules as the next version of an agent's policy, and publishes them.
 *
 * @throws CryptoError `policy_invalid`, with the position; RefusedError `conflict` if somebody else published first.
 * @example
 * const { agent } = await client.agents.get({ params: { orgId, agentId } })
 * const issuedAtMs = Date.now()
 * await publishPolicy(client, signer, { agent, orgId, rules, issuedAtMs, expiresAtMs: issuedAtMs + 86_400_000 })
 */
export async function publishPolicy(client: Client, signer: PolicySigner, wish: PolicyWish): Promise<AgentPolicy> {
  const { agent, orgId, rules } = wish
  const bundle = await signPolicy(
    {
      org: orgId,
      agent: agent.id,
      agentSlug: agent.slug,
      policyVersion: agent.policyVersion + 1,
      issuedAt: Math.floor(wish.issuedAtMs / 1000),
      expiresAt: Math.floor(wish.expiresAtMs / 1000),
      rules,
    },
    signer,
  )
  return (await client.agents.publish({ params: { orgId, agentId: agent.id }, body: { bundle } })).policy
}

/**
 * Gives an agent a task. Its token is made on this machine, and only its hash is registered. `scopes` narrows the
 * policy to these secret names. Without `scopes`, the whole policy applies.
 *
 * @returns the token, which is shown only this once, and the header in which the agent sends it.
 * @throws RefusedError `invalid_request` for a name that the policy does not permit, `forbidden`; UnavailableError.
 * @example const { token, header } = await dispatchTask(client, 'builder', { scopes: ['API_KEY'], ttlSeconds: 900 })
 */
export async function dispatchTask(
  client: Client,
  agentRef: string,
  wish: { scopes?: string[]; ttlSeconds?: number; label?: string } = {},
): Promise<{ token: string; task: AgentTask; header: string }> {
  const { token, taskRef, tokenHash } = await newTaskToken()
  const { task, header } = await client.tasks.dispatch({ params: { agentRef }, body: { taskRef, tokenHash, ...wish } })
  if (task.taskRef !== taskRef)
    throw clientError('malformed_answer', 'it contains a different task from the one that was registered')
  return { token, task, header }
}
