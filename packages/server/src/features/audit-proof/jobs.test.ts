import { auditProof } from '@skerry/contract/audit-proof/endpoints'
import { expect, onTestFinished, test } from 'vitest'
import { openWorld } from '../../../test/world.ts'
import { startSealing } from './jobs.ts'

test('a new server has its export key at once, and seals within its first seconds', async () => {
  const world = await openWorld()
  onTestFinished(world.close)
  const { status, body } = await world.call(auditProof.exportKey)
  expect([status, body.algorithm]).toEqual([200, 'Ed25519'])
  const due = await world.server.context.db.rows<{ seconds: number }>(
    `select ceil(extract(epoch from due_at - created_at))::int as seconds from jobs where name = 'audit.seal' order by 1`,
  )
  expect(due.map(({ seconds }) => seconds)).toEqual(expect.arrayContaining([2, 5]))
})

test('the start makes the export key, before anything is sealed', async () => {
  const world = await openWorld()
  onTestFinished(world.close)
  const { context } = world.server
  await context.db.rows('delete from export_signing_keys')
  await startSealing(context)
  expect((await world.call(auditProof.exportKey)).status).toBe(200)
})

test('a server without a server key publishes no export key', async () => {
  const world = await openWorld({ SKERRY_SERVER_KEY: '' })
  onTestFinished(world.close)
  const hasKey = world.server.context.serverKey !== null
  expect((await world.call(auditProof.exportKey)).status).toBe(hasKey ? 200 : 404)
})
