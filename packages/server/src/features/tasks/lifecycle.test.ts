import { audit } from '@skerry/contract/audit/endpoints'
import { tasks } from '@skerry/contract/tasks/endpoints'
import { expect, test } from 'vitest'
import { newTask, newWorkingAgent } from '../../../test/agent-steps.ts'
import { openTenant } from '../../../test/scene.ts'
import { type Status, type Trigger, taskLifecycle } from './lifecycle.ts'

const { world, tenant } = await openTenant()
const { orgId } = tenant
const { as } = tenant.admin
const { agent } = await newWorkingAgent(world, tenant)

interface Dispatched {
  taskId: string
  token: string
}

const revoke = ({ taskId }: Dispatched) => world.call(tasks.revoke, { as, params: { taskId } })
const expire = async () => {
  world.clock.advance(61)
  return { status: 200 }
}

/** How a task gets into each state. */
const into: Record<Status, (task: Dispatched) => Promise<unknown>> = {
  active: async () => {},
  expired: expire,
  revoked: revoke,
}

/**
 * The call that triggers a change, and the status of its answer if no row allows it. Revoking again is answered like
 * the first time.
 */
const triggers: Record<Trigger, { by: (task: Dispatched) => Promise<{ status: number }>; refused: number }> = {
  use: { by: ({ token }) => world.call(tasks.introspect, { as, body: { token } }), refused: 403 },
  time: { by: expire, refused: 200 },
  revoke: { by: revoke, refused: 200 },
}

const pairs = (Object.keys(into) as Status[]).flatMap((state) =>
  (Object.keys(triggers) as Trigger[]).map((trigger): [Status, Trigger] => [state, trigger]),
)

test.each(pairs)('a task in the state %s reacts to %s as its lifecycle table says', async (state, trigger) => {
  const { task, token } = await newTask(world, tenant, agent.slug, { ttlSeconds: 60 })
  const dispatched = { taskId: task.id, token }
  await into[state](dispatched)
  const { status } = await triggers[trigger].by(dispatched)
  const next = taskLifecycle.next(state, trigger)
  expect(status).toBe(next === undefined ? triggers[trigger].refused : 200)
  const now = next ?? state
  const { body } = await world.call(tasks.get, { as, params: { taskId: task.id } })
  expect(body.task.status).toBe(now)
  const query = { action: 'agent.task_revoked', resourceId: task.id }
  const { entries } = (await world.call(audit.list, { as, params: { orgId }, query })).body
  expect(entries).toHaveLength(now === 'revoked' ? 1 : 0)
})
