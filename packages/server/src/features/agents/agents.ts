import type { agents } from '@skerry/contract/agents/endpoints'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { boundTo } from '../../kernel/principal.ts'
import { lockMaker } from '../../model/people/made.ts'
import type { InOrg } from '../orgs/scope.ts'
import { thumbprintOf } from './bundle.ts'
import type { Agent, OnAgent } from './scope.ts'
import { deleteAgent, findBinding, findPublicKey, insertAgent, listAgents, updateAgent } from './store.ts'

export async function list({ db, org, principal, query }: In<typeof agents.list, InOrg>): Out<typeof agents.list> {
  const cursor = pageFrom(query, 'agent')
  const page = pageOf(await listAgents(db, org, boundTo(principal), cursor), cursor, byCreation)
  return { agents: page.rows.map(toResponse), nextCursor: page.nextCursor }
}

export async function create(input: In<typeof agents.create, InOrg>): Out<typeof agents.create> {
  const { db, org, principal, body, now, newId, audit } = input
  const { name, slug, environmentId = null } = body
  await checkBinding(input, environmentId)
  await lockMaker(db, org, principal)
  const agent = await insertAgent(db, org, { id: newId('agent'), name, slug, environmentId, createdBy: principal, now })
  if (!agent) throw fail('conflict', 'body.slug: another agent uses it')
  audit('agent.created', agent.id, { slug, environmentId })
  return { agent: toResponse(agent) }
}

export async function signer({ db, principal }: In<typeof agents.signer, InOrg>): Out<typeof agents.signer> {
  const publicKeyJwk = principal.type === 'user' ? await findPublicKey(db, principal.id) : undefined
  return {
    signer: publicKeyJwk === undefined ? null : { userId: principal.id, thumbprint: thumbprintOf(publicKeyJwk) },
  }
}

export async function get({ db, agent }: In<typeof agents.get, OnAgent>): Out<typeof agents.get> {
  const environment = agent.environmentId === null ? undefined : await findBinding(db, agent, agent.environmentId)
  return { agent: toResponse(agent), environmentSlug: environment?.slug ?? null }
}

export async function update(input: In<typeof agents.update, OnAgent>): Out<typeof agents.update> {
  const { db, agent, body, now, audit } = input
  const { name = agent.name, enabled = agent.enabled, environmentId = agent.environmentId } = body
  if (body.environmentId !== undefined) await checkBinding(input, environmentId)
  const isLost = agent.lostEnvironmentId !== null && body.environmentId === undefined
  if (enabled && isLost)
    throw fail(
      'conflict',
      'the environment of this agent was deleted: name another, or null for none, in environmentId',
    )
  const after = await updateAgent(db, agent, { name, enabled, environmentId, isLost, now })
  if (!after) throw fail('not_found', 'no such agent')
  audit('agent.updated', agent.id, { ...body })
  return { agent: toResponse(after) }
}

export async function remove({ db, agent, audit }: In<typeof agents.delete, OnAgent>): Out<typeof agents.delete> {
  const deleted = await deleteAgent(db, agent)
  if (!deleted) throw fail('not_found', 'no such agent')
  const { slug, environmentId, policyVersion } = agent
  audit('agent.deleted', agent.id, { slug, environmentId, policyVersion })
  return { ok: true }
}

/** A bound token may bind agents only to its own environment. */
async function checkBinding(
  { db, org, principal }: Pick<In<typeof agents.create, InOrg>, 'db' | 'org' | 'principal'>,
  environmentId: string | null,
): Promise<void> {
  const own = boundTo(principal)
  if (own !== null && environmentId !== own)
    throw fail('forbidden', 'this token is bound to an environment: it manages the agents that are bound there')
  if (environmentId !== null && !(await findBinding(db, { orgId: org.id }, environmentId)))
    throw fail('invalid_request', 'body.environmentId: no such env')
}

const toResponse = ({ orgId, lostEnvironmentId, ...agent }: Agent) => agent
