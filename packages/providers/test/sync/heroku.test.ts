import { expect, it } from 'vitest'
import { open } from '../../src/sync/heroku.ts'
import { testOutbound } from '../outbound.ts'
import { syncConformance } from './conformance.ts'
import { connection, herokuFake } from './heroku-fake.ts'

syncConformance('app-platform-f', herokuFake)

const named = (...names: string[]) => names.map((name) => ({ name, value: 'x', memo: null }))

it('a push of writes and removals is one release', async () => {
  const fake = await herokuFake()
  fake.put('OLD', 'x')
  const session = open(connection, testOutbound({ 'app-platform-f': fake.origin }))
  await session.push({ runId: 'run', write: named('A', 'B', 'C'), remove: [{ name: 'OLD', memo: null }] })
  expect([fake.releases(), [...fake.values().keys()]]).toEqual([1, ['A', 'B', 'C']])
  await session.push({ runId: 'run', write: [], remove: [{ name: 'OLD', memo: null }] })
  expect(fake.releases()).toBe(1)
  await fake.stop()
})

it('the search in halves ends early when no name at all is accepted', async () => {
  const fake = await herokuFake()
  const names = Array.from({ length: 64 }, (_, index) => `NAME_${index}`)
  for (const name of names) fake.refuse(name)
  const session = open(connection, testOutbound({ 'app-platform-f': fake.origin }))
  const { failed } = await session.push({ runId: 'run', write: named(...names), remove: [] })
  expect(failed).toHaveLength(64)
  expect(fake.writes()).toBeLessThan(20)
  await fake.stop()
})
