import { agents } from '@skerry/contract/agents/endpoints'
import { tasks } from '@skerry/contract/tasks/endpoints'
import { expect, test } from 'vitest'
import { cell, newAgent, newTask, newTaskToken, newWorkingAgent, publish } from '../../../test/agent-steps.ts'
import { newToken, signUp } from '../../../test/tenant.ts'
import { openWorld } from '../../../test/world.ts'
import { sweepActivity } from './jobs.ts'

const world = await openWorld()
const tenant = await signUp(world)
const { orgId } = tenant
const as = tenant.admin.as
const member = await newToken(world, tenant)

const introspect = (token: string, by = member.as) => world.call(tasks.introspect, { as: by, body: { token } })
const dispatch = (agentRef: string, more: object, by = as) => {
  const { taskRef, tokenHash } = newTaskToken()
  return world.call(tasks.dispatch, { as: by, params: { agentRef }, body: { taskRef, tokenHash, ...more } })
}

test('a task only narrows the policy, and the error names a secret that the policy does not permit', async () => {
  const { agent } = await newWorkingAgent(world, tenant)
  expect((await dispatch(agent.slug, { scopes: ['API_KEY', 'NOT_THERE'] })).error?.message).toContain('NOT_THERE')
  for (const ttlSeconds of [59, 43_201]) expect((await dispatch(agent.slug, { ttlSeconds })).status).toBe(400)
  expect((await dispatch(agent.slug, {}, member.as)).status).toBe(403)
  expect((await dispatch(agent.slug, {}, tenant.machine.as)).status).toBe(201)
  const empty = await newAgent(world, tenant)
  expect((await dispatch(empty.slug, {})).error?.message).toContain('no policy is published')
  const { token, header } = await newTask(world, tenant, agent.slug, { scopes: ['API_KEY'] })
  expect(header).toBe('x-seekrit-ticket')
  const { body } = await introspect(token)
  expect(body.session).toMatchObject({ agent: { slug: agent.slug }, scopes: ['API_KEY'], policyVersion: 1 })
  expect((await introspect((await newTask(world, tenant, agent.slug)).token)).body.session.scopes).toBeNull()
  expect(
    (await introspect((await newTask(world, tenant, agent.slug, { scopes: [] })).token)).body.session.scopes,
  ).toEqual([])
})

test('the server refuses a task that was revoked, has expired, or belongs to a disabled agent', async () => {
  const { agent } = await newWorkingAgent(world, tenant)
  const [revoked, late, third] = [1, 2, 3].map(() => newTask(world, tenant, agent.slug, { ttlSeconds: 60 }))
  const { task, token } = await revoked!
  const params = { taskId: task.taskRef }
  expect((await world.call(tasks.revoke, { as: member.as, params })).status).toBe(403)
  for (const _ of [1, 2]) expect((await world.call(tasks.revoke, { as, params })).body.task.status).toBe('revoked')
  expect((await introspect(token)).error?.message).toBe('this task has been revoked')
  const expiring = await late!
  world.clock.advance(61)
  expect((await introspect(expiring.token)).error?.message).toBe('this task has expired')
  world.clock.advance(-61)
  await world.call(agents.update, { as, params: { orgId, agentId: agent.id }, body: { enabled: false } })
  expect((await introspect((await third!).token)).error?.message).toBe('the agent of this task is disabled')
  expect((await dispatch(agent.slug, {})).status).toBe(403)
  const { body } = await world.call(tasks.list, { as, params: { orgId, agentId: agent.id } })
  expect(body.tasks).toHaveLength(3)
  expect(JSON.stringify(body)).not.toContain(token.slice(-43))
})

test('a token of another organization finds no task, by token or by id', async () => {
  const { agent } = await newWorkingAgent(world, tenant)
  const { token, task } = await newTask(world, tenant, agent.slug)
  const stranger = (await signUp(world)).admin.as
  expect((await introspect(token, stranger)).status).toBe(404)
  expect((await world.call(tasks.get, { as: stranger, params: { taskId: task.id } })).status).toBe(404)
  expect((await introspect(token, tenant.machine.as)).status).toBe(403)
})

test('reports are added up by the hour, and the view lists permitted secrets that nobody used', async () => {
  const { agent, person } = await newWorkingAgent(world, tenant)
  const windowStart = world.clock.now().toISOString()
  const report = (entries: object[], more: object = {}, by = member.as) =>
    world.call(tasks.report, {
      as: by,
      params: { agentRef: agent.slug },
      body: { windowStart, policyVersion: 1, entries, ...more } as never,
    })
  const used = { ...cell, secrets: { API_KEY: 1 } }
  expect((await report([used, used, { ...cell, decision: 'no_rule', ruleIndex: null }])).status).toBe(200)
  expect((await report([{ ...used, count: 5 }])).status).toBe(200)
  const view = async () =>
    (await world.call(tasks.activity, { as, params: { orgId, agentId: agent.id }, query: { days: 90 } })).body
  const { activity, summary } = await view()
  expect(activity).toMatchObject([
    { decision: 'allow', count: 7, secrets: { API_KEY: 3 } },
    { decision: 'no_rule', count: 1, secrets: {} },
  ])
  expect(summary).toMatchObject({ total: 8, allowed: 7, refused: 1, hosts: 1, unusedRules: [1] })
  expect(summary.unusedSecrets).toEqual(['HOOK_URL', 'OTHER_KEY'])
  const redacted = { ...cell, redactions: { API_KEY: 2 } }
  expect((await report([redacted, { ...redacted, count: 0 }])).status).toBe(200)
  expect((await report([{ ...redacted, count: 0 }])).status).toBe(200)
  expect(await view()).toMatchObject({
    activity: [{ count: 8, secrets: { API_KEY: 3 }, redactions: { API_KEY: 6 } }, { redactions: {} }],
    summary: { total: 9, redacted: 6 },
    timeline: [
      { host: cell.host, decision: 'allow', count: 8, startsAt: `${windowStart.slice(0, 10)}T00:00:00.000Z` },
      { host: cell.host, decision: 'no_rule', count: 1 },
    ],
  })
  await publish(world, { orgId, agent, person }, { policy_version: 2 })
  expect((await view()).summary.unusedRules).toEqual([1])
  const bad = async (entries: object[], more: object = {}) => (await report(entries, more)).status
  const old = new Date(world.clock.now().getTime() - 25 * 3_600_000 - 1000).toISOString()
  expect(await bad([used], { windowStart: old })).toBe(400)
  expect(await bad([{ ...cell, decision: 'perhaps' }])).toBe(400)
  expect(await bad([{ ...cell, secrets: {} }])).toBe(400)
  expect(await bad([{ ...cell, redactions: {} }])).toBe(400)
  expect(await bad([{ ...cell, count: 0 }])).toBe(400)
  expect(await bad([])).toBe(400)
  expect(await bad(Array.from({ length: 501 }, () => cell))).toBe(400)
  expect((await report([used], {}, as)).status).toBe(200)
  expect((await report([used], {}, person.as)).status).toBe(403)
  world.clock.advance(91 * 86_400)
  await sweepActivity(world.server.context)
  world.clock.advance(-91 * 86_400)
  expect((await view()).summary.total).toBe(0)
})
