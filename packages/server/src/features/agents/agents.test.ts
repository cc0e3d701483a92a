import { agents } from '@skerry/contract/agents/endpoints'
import { envs } from '@skerry/contract/envs/endpoints'
import { expect, test } from 'vitest'
import {
  newAgent,
  newSigning,
  newWorkingAgent,
  policyOf,
  publish,
  rules,
  signBundle,
} from '../../../test/agent-steps.ts'
import { auditRows } from '../../../test/state.ts'
import { newApp, newEnv, newToken, signUp } from '../../../test/tenant.ts'
import { openWorld } from '../../../test/world.ts'
import { recordDisabled } from './jobs.ts'

const world = await openWorld()
const tenant = await signUp(world)
const { orgId } = tenant
const as = tenant.admin.as
const person = await newSigning(world, tenant)
const { publicKeyJwk } = person

const fetchPolicy = (agentRef: string, more: object = {}) =>
  world.call(agents.policy, { as, params: { agentRef }, ...more })

test('a policy is served as it was signed, by id and by slug, and as 304 to a client that has it', async () => {
  const { agent, bundle } = await newWorkingAgent(world, tenant)
  const answer = await fetchPolicy(agent.slug)
  expect(answer.body).toMatchObject({ bundle, version: 1, agent: { id: agent.id, slug: agent.slug } })
  const etag = answer.headers.get('etag') as string
  const again = await fetchPolicy(agent.id, { headers: { 'if-none-match': etag } })
  expect(again.status).toBe(304)
  const { body } = await world.call(agents.get, { as, params: { orgId, agentId: agent.id } })
  expect(body.agent.lastPolicyFetchAt).not.toBeNull()
})

test('a policy that no proxy would accept is refused with the reason, and nothing is published', async () => {
  const agent = await newAgent(world, tenant)
  const other = await newAgent(world, tenant)
  const now = Math.floor(world.clock.now().getTime() / 1000)
  const body = policyOf(world, { orgId, agent, publicKeyJwk })
  const signer = { ...body.signer, kid: 'A'.repeat(43) }
  const someone = await newSigning(world, tenant)
  const send = (bundle: string, caller = person.as) =>
    world.call(agents.publish, { as: caller, params: { orgId, agentId: agent.id }, body: { bundle } })
  const says = async (change: object, message: string, status = 400) => {
    const answer = await send(signBundle({ ...body, ...change }, person.privateKey))
    expect([answer.status, answer.error?.message]).toEqual([status, expect.stringContaining(message)])
  }
  await says({ signer }, 'signer.kid')
  await says({ signer: policyOf(world, { orgId, agent, ...someone }).signer }, 'not signed with your key')
  await says({ v: 2 }, 'v is not 1')
  await says({ org: 'org_other' }, 'another organization')
  await says({ agent: other.id }, 'another agent')
  await says({ agent_slug: other.slug }, 'another slug')
  await says({ policy_version: 2 }, 'policy_version is 2, and the next one is 1', 409)
  await says({ expires_at: now + 3500 }, 'from 1 hour to 90 days')
  await says({ expires_at: now + 91 * 86_400 }, 'from 1 hour to 90 days')
  await says({ rules: [{ ...rules[0], paths: ['v1'] }] }, 'rules[0].paths[0]')
  await says({ rules: [{ ...rules[0], deny: [] }] }, 'a member that no rule has')
  const [, bytes] = signBundle(body, person.privateKey).split('.')
  const forged = await send(`ap1.${bytes}.${signBundle(body, someone.privateKey).split('.')[2]}`)
  expect(forged.error?.message).toContain('the signature is not of these bytes')
  const token = await send(signBundle(body, person.privateKey), as)
  expect(token.status).toBe(403)
  expect((await fetchPolicy(agent.id)).status).toBe(404)
})

test('versions count up by one, and a rollback serves an earlier bundle as a new version with its old expiry', async () => {
  const { agent, bundle, person } = await newWorkingAgent(world, tenant)
  const second = await publish(world, { orgId, agent, person }, { policy_version: 2, rules: [] })
  expect(second.status).toBe(201)
  const params = { orgId, agentId: agent.id, version: '1' }
  const back = await world.call(agents.rollback, { as, params })
  expect(back.body.policy).toMatchObject({ version: 3, bundle, rolledBackFrom: 1 })
  expect((await publish(world, { orgId, agent, person }, { policy_version: 2 })).status).toBe(409)
  expect((await publish(world, { orgId, agent, person }, { policy_version: 4 })).status).toBe(201)
  const { body } = await world.call(agents.policies, { as, params })
  expect(body.policies.map((one) => one.version)).toEqual([4, 3, 2, 1])
  expect((await world.call(agents.rollback, { as, params: { ...params, version: '9' } })).status).toBe(404)
  world.clock.advance(86_400)
  expect((await world.call(agents.rollback, { as, params })).error?.message).toContain('version 1 has expired')
  world.clock.advance(-86_400)
})

test('a disabled agent is served to nobody, and a bound one not to tokens of another environment', async () => {
  const appOf = async () => (await newApp(world, tenant)).id
  const [here, there] = [await newEnv(world, tenant, await appOf()), await newEnv(world, tenant, await appOf())]
  const { agent } = await newWorkingAgent(world, tenant, { environmentId: here.id })
  const reads = async (environmentId: string, role: 'member' | 'admin' = 'member') =>
    (await fetchPolicy(agent.slug, { as: (await newToken(world, tenant, { role, environmentId })).as })).status
  expect([await reads(here.id), await reads(there.id), await reads(there.id, 'admin')]).toEqual([200, 403, 403])
  const bound = await newToken(world, tenant, { role: 'admin', environmentId: there.id })
  const params = { orgId, agentId: agent.id }
  const free = { name: 'Free', slug: 'free' }
  expect((await world.call(agents.update, { as: bound.as, params, body: { name: 'x' } })).status).toBe(403)
  expect((await world.call(agents.create, { as: bound.as, params: { orgId }, body: free })).status).toBe(403)
  expect((await world.call(agents.list, { as: bound.as, params: { orgId } })).body.agents).toEqual([])
  await world.call(agents.update, { as, params, body: { enabled: false } })
  expect((await fetchPolicy(agent.slug)).error?.message).toBe('this agent is disabled')
})

test('an agent whose environment is deleted is disabled, not unbound, and the audit log names the environment', async () => {
  const env = await newEnv(world, tenant, (await newApp(world, tenant)).id)
  const { agent } = await newWorkingAgent(world, tenant, { environmentId: env.id })
  await world.call(envs.delete, { as, params: { orgId, envId: env.id } })
  expect((await fetchPolicy(agent.slug)).status).toBe(403)
  const params = { orgId, agentId: agent.id }
  const enable = (more: object = {}) => world.call(agents.update, { as, params, body: { enabled: true, ...more } })
  expect((await enable()).error?.message).toContain('the environment of this agent was deleted')
  await recordDisabled(world.server.context)
  const entries = (await auditRows(world)).filter(({ resourceId }) => resourceId === agent.id)
  expect(entries.at(-1)).toMatchObject({ action: 'agent.updated', metadata: { enabled: false, environmentId: env.id } })
  expect((await enable({ environmentId: null })).status).toBe(200)
  expect((await fetchPolicy(agent.slug)).status).toBe(200)
})

test('the thumbprint of a signer is that of their own key, and a token is no signer', async () => {
  const mine = await world.call(agents.signer, { as: person.as, params: { orgId } })
  const { kid } = policyOf(world, { orgId, agent: { id: '', slug: '' }, publicKeyJwk }).signer
  expect(mine.body.signer).toEqual({ userId: person.id, thumbprint: kid })
  expect((await world.call(agents.signer, { as, params: { orgId } })).body.signer).toBeNull()
})
