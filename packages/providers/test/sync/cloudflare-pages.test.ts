import { expect, it } from 'vitest'
import { open } from '../../src/sync/cloudflare-pages.ts'
import { testOutbound } from '../outbound.ts'
import { connection, pagesFake } from './cloudflare-pages-fake.ts'
import { syncConformance } from './conformance.ts'

syncConformance('edge-pages', pagesFake)

it('an environment outside of the destination keeps its variables', async () => {
  const fake = await pagesFake()
  fake.put('SHARED', 'theirs')
  const destination = { ...connection.destination, environments: ['preview' as const] }
  const session = open({ ...connection, destination }, testOutbound({ 'edge-pages': fake.origin }))
  const changes = { write: [{ name: 'OURS', value: 'x', memo: null }], remove: [{ name: 'SHARED', memo: null }] }
  expect(await session.push({ runId: 'run', ...changes })).toMatchObject({ removed: ['SHARED'], failed: [] })
  expect([...fake.only('production').keys()]).toEqual(['SHARED'])
  expect([...fake.only('preview')]).toEqual([['OURS', { type: 'secret_text', value: 'x' }]])
  expect(fake.writes()).toBe(1)
  await session.push({ runId: 'run', write: [], remove: [{ name: 'SHARED', memo: null }] })
  expect(fake.writes()).toBe(1)
  await fake.stop()
})
