import { expect, it } from 'vitest'
import { open } from '../../src/sync/cloudflare-workers.ts'
import { testOutbound } from '../outbound.ts'
import { connection, workersFake } from './cloudflare-workers-fake.ts'
import { syncConformance } from './conformance.ts'

syncConformance('edge-workers', workersFake)

it('a push deploys once, and a push that only removes missing names does not deploy', async () => {
  const fake = await workersFake()
  const session = open(connection, testOutbound({ 'edge-workers': fake.origin }))
  const write = Array.from({ length: 99 }, (_, index) => ({ name: `NAME_${index}`, value: 'x', memo: null }))
  expect((await session.push({ runId: 'run', write, remove: [] })).written).toHaveLength(99)
  expect(fake.writes()).toBe(1)
  await session.push({ runId: 'run', write: [], remove: [{ name: 'NEVER_THERE', memo: null }] })
  expect(fake.writes()).toBe(1)
  await fake.stop()
})

it('a push is refused until the newest version is deployed, and is not tried in halves', async () => {
  const fake = await workersFake()
  fake.holdBack()
  const session = open(connection, testOutbound({ 'edge-workers': fake.origin }))
  const write = ['A', 'B'].map((name) => ({ name, value: 'x', memo: null }))
  await expect(session.push({ runId: 'run', write, remove: [] })).rejects.toThrow('deploy it first')
  expect(fake.writes()).toBe(1)
  await fake.stop()
})

it('a key of the Worker is locked', async () => {
  const fake = await workersFake()
  fake.keys.add('SIGNING')
  const session = open(connection, testOutbound({ 'edge-workers': fake.origin }))
  expect(await session.list()).toEqual([{ name: 'SIGNING', revision: null, locked: expect.any(String) }])
  await fake.stop()
})
