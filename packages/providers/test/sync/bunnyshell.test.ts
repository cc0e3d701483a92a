import { expect, it } from 'vitest'
import { syncProvider } from '../../src/sync/registry.ts'
import { testOutbound } from '../outbound.ts'
import { connection, environment, project, variablesFake } from './bunnyshell-fake.ts'
import { oneByOneConformance } from './clouds.ts'

const { describe: factsOf, open } = await syncProvider('env-platform')

oneByOneConformance('env-platform', () => variablesFake(environment))
oneByOneConformance('env-platform', async () => ({
  ...(await variablesFake({ kind: 'project', id: 'PRJ1' })),
  connection: project,
}))

it('the list contains all pages by number, and follows no link of an answer', async () => {
  const fake = await variablesFake(environment)
  for (const name of ['A_1', 'A_2', 'A_3', 'A_4', 'A_5']) fake.put(name, 'x')
  const names = (await open(connection, testOutbound({ 'env-platform': fake.origin })).list()).map(({ name }) => name)
  expect(names).toEqual(['A_1', 'A_2', 'A_3', 'A_4', 'A_5'])
  await fake.stop()
})

it('a name that somebody created between list and write is theirs, and one whose answer was lost is ours', async () => {
  const fake = await variablesFake(environment)
  const session = open(connection, testOutbound({ 'env-platform': fake.origin }))
  for (const [isNew, held] of [
    [true, 'theirs'],
    [false, 'ours'],
  ] as const) {
    fake.put('FIRST_NAME', 'theirs')
    fake.hide('FIRST_NAME')
    const write = [{ name: 'FIRST_NAME', value: 'ours', memo: null, isNew }]
    const { failed } = await session.push({ runId: 'run_1', write, remove: [] })
    expect([failed.map(({ foreign }) => foreign), fake.values().get('FIRST_NAME')]).toEqual([isNew ? [true] : [], held])
  }
  await fake.stop()
})

it('variables are secret unless the destination says otherwise', async () => {
  const fake = await variablesFake(environment)
  const write = [{ name: 'FIRST_NAME', value: 'one', memo: null }]
  const outbound = testOutbound({ 'env-platform': fake.origin })
  await open(connection, outbound).push({ runId: 'run_1', write, remove: [] })
  expect(fake.flags.get('FIRST_NAME')).toBe(true)
  const plain = { ...connection, destination: { ...connection.destination, secret: false } }
  await open(plain, outbound).push({ runId: 'run_2', write, remove: [] })
  expect(fake.flags.get('FIRST_NAME')).toBe(false)
  expect(factsOf(plain).rules).not.toBe(factsOf(connection).rules)
  expect(factsOf(plain).places).toEqual(factsOf(connection).places)
  await fake.stop()
})
