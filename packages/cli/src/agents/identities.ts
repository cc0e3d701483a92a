import { readUnverifiedPolicy } from '@skerry/crypto/policy'
import { type Agent, listAgents } from '@skerry/sdk/internal/agents'
import { openDirectory } from '../directory.ts'
import { findKnown } from '../find-one.ts'
import type { InOrg, SignedIn } from '../frame.ts'
import { forgetName, noteNew } from '../known-names.ts'
import { checkSlug } from '../names.ts'
import { note, type Output, writeLine, writeTable } from '../output.ts'
import { findPlace, namedPlace } from '../places.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { Session } from '../session.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { shownMoment, shownTime } from '../times.ts'
import { printRules } from './rules.ts'

interface CreateOptions extends Flags {
  name?: string
  app?: string
  env?: string
  group?: string
  branch?: string
}

/** The agent is bound to an environment only if an option names one. The project's folder alone binds nothing. */
export async function create(slug: string, { session, flags, orgId }: InOrg<CreateOptions>): Promise<Output> {
  const { name = slug, app, env, group, branch } = flags
  const isBound = env !== undefined || group !== undefined || app !== undefined || branch !== undefined
  const place = isBound ? await findPlace(session, namedPlace(session, flags)) : undefined
  const body = { name, slug, ...(place ? { environmentId: place.envId } : {}) }
  const { agent } = await session.client.agents.create({ params: { orgId }, body })
  noteNew(session, orgId, { kind: 'agent', id: agent.id, name: slug })
  return {
    json: { agent },
    text: () => writeLine(agent.id),
    after: () =>
      note(
        `created agent ${agent.slug}; it can do nothing until you run \`skerry agent policy publish ${agent.slug} --file <path>\``,
      ),
  }
}

export const checkCreate = (_flags: CreateOptions, slug: string): void => void checkSlug(slug, 'the agent')

export async function list({ session }: SignedIn): Promise<Output> {
  const agents = await listAgents(session.client, (await session.org()).id)
  return {
    json: { agents },
    text: () =>
      writeTable(
        ['slug', 'name', 'state', 'policy', 'fetched', 'id'],
        agents.map((one) => [
          one.slug,
          one.name,
          one.enabled ? 'enabled' : 'disabled',
          one.policyVersion === 0 ? 'none' : String(one.policyVersion),
          shownTime(one.lastPolicyFetchAt),
          one.id,
        ]),
        'no agents yet; create one with `skerry agent create <slug>`',
      ),
  }
}

export async function agentOf(session: Session, wanted: string): Promise<{ orgId: string; agent: Agent }> {
  const { id: orgId } = await session.org()
  const agents = await listAgents(session.client, orgId)
  const agent = findKnown({ session, orgId }, agents, wanted, {
    kind: 'agent',
    noun: 'agent',
    list: 'skerry agent ls',
    nameOf: ({ slug }) => slug,
    isSlug: true,
  })
  return { orgId, agent }
}

export async function show(wanted: string, { session }: SignedIn): Promise<Output> {
  const { orgId, agent } = await agentOf(session, wanted)
  const params = { orgId, agentId: agent.id }
  const { environmentSlug } = await session.client.agents.get({ params })
  const [policy] = (await session.client.agents.policies({ params })).policies
  return {
    json: { agent, environmentSlug, policy: policy ?? null },
    text: async () => {
      const { environmentId } = agent
      const label = (await openDirectory(session, [environmentId]))(environmentId) ?? environmentSlug
      writeLine(`${agent.slug} (${agent.name}), ${agent.id}, ${agent.enabled ? 'enabled' : 'disabled'}`)
      writeLine(label === null ? 'not bound to an environment' : `bound to ${label}`)
      if (!policy) return writeLine('no policy: the agent can use no secret')
      writeLine(
        `policy ${policy.version}, signed by ${policy.signerThumbprint}, until ${shownMoment(policy.expiresAt)}`,
      )
      printRules(readUnverifiedPolicy(policy.bundle).rules)
    },
  }
}

export async function update(
  wanted: string,
  enabled: boolean,
  { session, flags }: SignedIn<Confirmable>,
): Promise<Output> {
  const { orgId, agent } = await agentOf(session, wanted)
  if (!enabled)
    await confirmOrRefuse(
      `disables agent ${agent.slug}; its running proxies refuse its requests from their next refresh on`,
      flags,
    )
  const { agent: after } = await session.client.agents.update({
    params: { orgId, agentId: agent.id },
    body: { enabled },
  })
  return {
    json: { agent: after },
    after: () => note(`agent ${after.slug} is ${after.enabled ? 'enabled' : 'disabled'}`),
  }
}

export async function remove(wanted: string, { session, flags }: SignedIn<Confirmable>): Promise<Output> {
  const { orgId, agent } = await agentOf(session, wanted)
  await confirmOrRefuse(`deletes agent ${agent.slug} with its policy, tasks and activity`, flags)
  await session.client.agents.delete({ params: { orgId, agentId: agent.id } })
  forgetName(session, orgId, agent.id)
  note(`deleted agent ${agent.slug}; its running proxies refuse its requests from their next refresh on`)
  return { json: { deleted: agent.id } }
}
