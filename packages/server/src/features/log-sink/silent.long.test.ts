import { logSink } from '@skerry/contract/log-sink/endpoints'
import { afterAll, expect, test } from 'vitest'
import { startCollector } from '../../../test/services/collector.ts'
import { newGroup, signUp, type Tenant } from '../../../test/tenant.ts'
import { openWorld } from '../../../test/world.ts'
import { seal } from '../audit-proof/seal.ts'
import { shipAll } from './jobs.ts'

// This test lasts as long as the time limit for an answer of a collector.

const world = await openWorld({ SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.1' })
const collector = await startCollector()
afterAll(async () => {
  await world.close()
  await collector.close()
})
world.waitLimits.answerMs = null
const { context } = world.server
await context.queue.stop()

const shown = async ({ admin, orgId }: Tenant) =>
  (await world.call(logSink.get, { as: admin.as, params: { orgId } })).body.logSink

async function withSink(): Promise<Tenant> {
  const of = await signUp(world)
  await seal(context)
  await world.call(logSink.set, { as: of.admin.as, params: { orgId: of.orgId }, body: { endpoint: collector.url } })
  return of
}

test('a collector that never answers times out, delays no other organization, and gets everything again', async () => {
  const [of, other] = [await withSink(), await withSink()]
  await newGroup(world, of)
  await seal(context)
  const asked = new Promise<void>((resolve) => {
    collector.answer = (_, records) => {
      if (records.some(({ attributes }) => attributes['skerry.org.id'] !== of.orgId)) return true
      resolve()
      return false
    }
  })
  const shipping = shipAll(context, of.orgId)
  await asked
  await shipAll(context, other.orgId)
  expect(await shown(other)).toMatchObject({ lastError: null, waitingEntries: 0 })
  expect(await shown(of)).toMatchObject({ lastAttemptAt: null, waitingEntries: 2 })
  await shipping
  expect(await shown(of)).toMatchObject({
    enabled: true,
    lastSuccessAt: null,
    lastError: expect.stringContaining('did not answer in time'),
    waitingEntries: 2,
  })
  collector.answer = null
  collector.records.length = 0
  await shipAll(context, of.orgId)
  expect(collector.records.map(({ body }) => body)).toEqual(['log_sink.updated', 'group.created', 'audit.checkpoint'])
  expect(await shown(of)).toMatchObject({ lastError: null, waitingEntries: 0 })
})
