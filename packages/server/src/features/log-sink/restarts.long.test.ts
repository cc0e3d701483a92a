import { setTimeout as sleep } from 'node:timers/promises'
import { logSink } from '@skerry/contract/log-sink/endpoints'
import { expect, test } from 'vitest'
import { type Received, startCollector } from '../../../test/services/collector.ts'
import { newGroup, signUp, type Tenant } from '../../../test/tenant.ts'
import { until } from '../../../test/until.ts'
import { openWorld } from '../../../test/world.ts'
import { seal } from '../audit-proof/seal.ts'
import { shipAll } from './jobs.ts'

const rounds = 3
const rowsPerRound = 20

test('a collector that is killed and restarted under load gets every entry, in order for each organization', async () => {
  const world = await openWorld({ SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
  await world.server.context.queue.stop()
  let collector = await startCollector()
  const { port } = collector
  const tenants = [await signUp(world), await signUp(world)]
  for (const of of tenants) {
    const body = { endpoint: collector.url }
    await world.call(logSink.set, { as: of.admin.as, params: { orgId: of.orgId }, body })
  }
  const received: Received[] = []
  let isWriting = true
  const ship = async ({ orgId }: Tenant) => {
    await seal(world.server.context)
    await shipAll(world.server.context, orgId)
  }
  const shipping = (async () => {
    while (isWriting) {
      await Promise.all(tenants.map(ship))
      // The embedded database has only one connection, and others need it too.
      await sleep(50)
    }
  })()
  for (let round = 0; round < rounds; round++) {
    const writing = Promise.all(
      tenants.flatMap((of) => Array.from({ length: rowsPerRound }, () => newGroup(world, of))),
    )
    // The collector is killed during a batch: it has taken the batch, but has not answered.
    const cutOff = new Promise<void>((resolve) => {
      collector.answer = (response, records) => {
        received.push(...records)
        response.destroy()
        resolve()
        return false
      }
    })
    await cutOff
    await collector.close()
    await writing
    collector = await startCollector(port)
    collector.answer = (_, records) => received.push(...records) > 0
    await until('it has taken something', () => collector.records.length > 0)
  }
  isWriting = false
  await shipping
  await Promise.all(tenants.map(ship))

  for (const { orgId } of tenants) {
    const sealedIds = await world.server.context.db.rows<{ entryId: string }>(
      'select entry_id from audit_leaves where org_id = $1 order by position',
      [orgId],
    )
    const own = received.filter(
      ({ attributes, body }) => attributes['skerry.org.id'] === orgId && body !== 'audit.checkpoint',
    )
    // An entry that arrived twice counts where it arrived first.
    const ids = [...new Set(own.map(({ attributes }) => attributes['skerry.audit.id']))]
    expect(ids.length).toBeGreaterThan(rounds * rowsPerRound)
    const isSent = new Set(ids)
    const inOrder = sealedIds.map(({ entryId }) => entryId)
    // The sink begins after the entries that are older than it.
    expect(ids).toEqual(inOrder.slice(inOrder.findIndex((id) => isSent.has(id))))
  }
  await collector.close()
  await world.close()
}, 300_000)
