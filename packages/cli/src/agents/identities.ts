import { readUnverifiedPolicy } from '@skerry/crypto/policy'
import { type Agent, findAgent, listAgents } from '@skerry/sdk/internal/agents'
import { note, writeJson, writeLine, writeTable } from '../output.ts'
import { findPlace } from '../places.ts'
import { confirmOrRefuse } from '../prompt.ts'
import { openSession, type Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { printRules } from './rules.ts'

interface CreateOptions extends Flags {
  name?: string
  app?: string
  env?: string
  group?: string
  branch?: string
}

/** Of a project's folder nothing is taken: an agent is bound where that is said. */
export async function create(slug: string, flags: CreateOptions): Promise<void> {
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  const { name = slug, app, env, group, branch } = flags
  const isBound = env !== undefined || group !== undefined || app !== undefined || branch !== undefined
  const place = isBound ? await findPlace(session, { ...session.settings, group }) : undefined
  const body = { name, slug, ...(place ? { environmentId: place.envId } : {}) }
  const { agent } = await session.client.agents.create({ params: { orgId }, body })
  if (flags.json) writeJson({ agent })
  else writeLine(agent.id)
  note(`made agent ${agent.slug}; it may do nothing until a policy is published: skerry agent policy publish`)
}

export async function list(flags: Flags): Promise<void> {
  const session = await openSession(flags)
  const agents = await listAgents(session.client, (await session.org()).id)
  if (flags.json) return writeJson({ agents })
  writeTable(
    ['id', 'slug', 'name', 'state', 'policy', 'fetched'],
    agents.map((one) => [
      one.id,
      one.slug,
      one.name,
      one.enabled ? 'enabled' : 'disabled',
      one.policyVersion === 0 ? 'none' : String(one.policyVersion),
      one.lastPolicyFetchAt ?? 'never',
    ]),
  )
}

export async function agentOf(session: Session, wanted: string): Promise<{ orgId: string; agent: Agent }> {
  const { id: orgId } = await session.org()
  return { orgId, agent: await findAgent(session.client, orgId, wanted) }
}

export async function show(wanted: string, flags: Flags): Promise<void> {
  const session = await openSession(flags)
  const { orgId, agent } = await agentOf(session, wanted)
  const params = { orgId, agentId: agent.id }
  const { environmentSlug } = await session.client.agents.get({ params })
  const [policy] = (await session.client.agents.policies({ params })).policies
  if (flags.json) return writeJson({ agent, environmentSlug, policy: policy ?? null })
  writeLine(`${agent.slug} (${agent.name}), ${agent.id}, ${agent.enabled ? 'enabled' : 'disabled'}`)
  writeLine(environmentSlug === null ? 'bound to no environment' : `bound to ${environmentSlug}`)
  if (!policy) return writeLine('no policy is published: it may do nothing')
  writeLine(`policy ${policy.version}, signed by ${policy.signerThumbprint}, until ${policy.expiresAt}`)
  printRules(readUnverifiedPolicy(policy.bundle).rules)
}

export async function update(wanted: string, enabled: boolean, flags: Flags & { yes?: boolean }): Promise<void> {
  const session = await openSession(flags)
  const { orgId, agent } = await agentOf(session, wanted)
  if (!enabled) await confirmOrRefuse(`disables agent ${agent.slug}`, flags)
  const { agent: after } = await session.client.agents.update({
    params: { orgId, agentId: agent.id },
    body: { enabled },
  })
  if (flags.json) writeJson({ agent: after })
  note(`agent ${after.slug} is ${after.enabled ? 'enabled' : 'disabled'}`)
}

export async function remove(wanted: string, flags: Flags & { yes?: boolean }): Promise<void> {
  const session = await openSession(flags)
  const { orgId, agent } = await agentOf(session, wanted)
  await confirmOrRefuse(`deletes agent ${agent.slug} with its policy, tasks and activity`, flags)
  await session.client.agents.delete({ params: { orgId, agentId: agent.id } })
  note(`removed agent ${agent.slug}; a proxy keeps the policy that it has until that expires`)
  if (flags.json) writeJson({ deleted: agent.id })
}
