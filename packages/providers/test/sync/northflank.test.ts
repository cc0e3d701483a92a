import { expect, it } from 'vitest'
import { open } from '../../src/sync/northflank.ts'
import { testOutbound } from '../outbound.ts'
import { syncConformance } from './conformance.ts'
import { connection, northflankFake } from './northflank-fake.ts'

syncConformance('app-platform-d', northflankFake)

const session = (fake: { origin: string }) => open(connection, testOutbound({ 'app-platform-d': fake.origin }))

it('a removal fails if Northflank keeps the name', async () => {
  const fake = await northflankFake('adds')
  fake.put('OLD', 'x')
  const changes = { write: [{ name: 'NEW', value: 'y', memo: null }], remove: [{ name: 'OLD', memo: null }] }
  const { written, removed, failed } = await session(fake).push({ runId: 'run', ...changes })
  expect(written.map(({ name }) => name)).toEqual(['NEW'])
  expect(removed).toEqual([])
  expect(failed).toEqual([{ name: 'OLD', reason: expect.stringContaining('did not delete') }])
  await fake.stop()
})

it('a token that does not show the variables is denied before it empties the group', async () => {
  const fake = await northflankFake()
  fake.put('THEIRS', 'x')
  fake.hide()
  const write = [{ name: 'NEW', value: 'y', memo: null }]
  await expect(session(fake).push({ runId: 'run', write, remove: [] })).rejects.toMatchObject({ reason: 'denied' })
  expect(fake.writes()).toBe(0)
  await fake.stop()
})

it('a push that only removes missing names writes nothing', async () => {
  const fake = await northflankFake()
  await session(fake).push({ runId: 'run', write: [], remove: [{ name: 'GONE', memo: null }] })
  expect(fake.writes()).toBe(0)
  await fake.stop()
})
