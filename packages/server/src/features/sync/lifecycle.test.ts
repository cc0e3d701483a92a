import { audit } from '@skerry/contract/audit/endpoints'
import { sync } from '@skerry/contract/sync/endpoints'
import { syncRunStatuses } from '@skerry/contract/sync/schemas'
import { expect, test } from 'vitest'
import { openSync } from '../../../test/scene.ts'
import { stopSchedules } from '../../../test/state.ts'
import { bind, connect, runNow, vaultedEnv, wrapped, write } from '../../../test/sync-scene.ts'
import { instant } from '../../kernel/context.ts'
import {
  type ConnectionStatus,
  type ConnectionTrigger,
  connectionLifecycle,
  type RunStatus,
  runLifecycle,
} from './lifecycle.ts'
import { endCutOff } from './outcome.ts'
import { perform } from './run-job.ts'
import { finishRun } from './run-store.ts'

const { platform, world, tenant } = await openSync()
await stopSchedules(world)
const { orgId } = tenant
const { as } = tenant.admin
const { context } = world.server
const { db } = context

const env = await vaultedEnv(world, tenant)
await write(world, tenant, env, 'API_KEY', 'one')
const connection = await connect(world, tenant, platform)
const binding = await bind(world, tenant, connection, [env], 'shop')

/** Makes a run in this state. A running one waits for its turn. */
async function runIn(state: RunStatus): Promise<string> {
  const { id } = await runNow(world, tenant, binding)
  const ended = state === 'running' ? null : instant(context)
  await db.rows('update sync_runs set status = $2, taken_at = $3, finished_at = $3 where id = $1', [id, state, ended])
  return id
}

const statusOf = async (id: string) =>
  (await db.row<{ status: RunStatus }>('select status from sync_runs where id = $1', [id]))?.status
const entriesOf = async (resourceId: string) =>
  (await world.call(audit.list, { as, params: { orgId }, query: { resourceId } })).body.entries

test.each(syncRunStatuses)(
  'a run in the state %s can end only in the states that its lifecycle table allows',
  async (from) => {
    const id = await runIn(from)
    for (const status of syncRunStatuses) {
      await db.rows('update sync_runs set status = $2 where id = $1', [id, from])
      const end = { status, skipped: [], failures: [], unchanged: 0, error: null, now: instant(context) }
      const moved = await db.transaction((tx) => finishRun(tx, { orgId, id }, end))
      const isRow = runLifecycle.moves.some((row) => row[0] === from && row[1] === 'finish' && row[2] === status)
      expect([moved?.status, await statusOf(id)]).toEqual(isRow ? [status, status] : [undefined, from])
    }
    await db.rows(`update sync_runs set status = 'failed' where id = $1`, [id])
  },
)

test.each(syncRunStatuses)(
  'a run in the state %s starts, or ends as interrupted, only if its lifecycle table allows it',
  async (from) => {
    for (const work of [perform, endCutOff]) {
      const id = await runIn(from)
      const before = await entriesOf(id)
      await work(context, orgId, id)
      const isTaken = runLifecycle.next(from, 'take') !== undefined
      expect(await statusOf(id)).toBe(!isTaken ? from : work === perform ? 'succeeded' : 'failed')
      expect((await entriesOf(id)).length - before.length).toBe(isTaken ? 1 : 0)
    }
  },
)

const inConnection = { as, params: { orgId, connectionId: connection.id } }
const verify = () =>
  world.call(sync.verifyConnection, {
    ...inConnection,
    body: { destination: { provider: 'app-platform-c', appName: 'shop' } },
  })

/** A verification and a run both report whether the destination was reached. */
const onConnection: Record<ConnectionTrigger, (() => Promise<unknown>)[]> = {
  reach: [verify, () => runNow(world, tenant, binding)],
  miss: [verify, () => runNow(world, tenant, binding)].map((call) => async () => {
    platform.answer(() => ({ status: 401, body: { error: 'revoked' } }))
    await call()
    platform.answer(null)
  }),
  replace: [
    async () =>
      world.call(sync.updateConnection, {
        ...inConnection,
        body: { wrappedCredential: await wrapped(platform.token, connection) },
      }),
  ],
}

const connectionStates: Record<ConnectionStatus, true> = { unverified: true, ready: true, failing: true }
const pairs = (Object.keys(connectionStates) as ConnectionStatus[]).flatMap((state) =>
  (Object.keys(onConnection) as ConnectionTrigger[]).map((trigger): [ConnectionStatus, ConnectionTrigger] => [
    state,
    trigger,
  ]),
)

test.each(pairs)('a connection in the state %s reacts to %s as its lifecycle table says', async (state, trigger) => {
  for (const way of onConnection[trigger]) {
    await db.rows('update sync_connections set status = $2 where id = $1', [connection.id, state])
    await way()
    const { connections } = (await world.call(sync.connections, { as, params: { orgId } })).body
    expect(connections.find(({ id }) => id === connection.id)?.status).toBe(connectionLifecycle.next(state, trigger))
  }
})
