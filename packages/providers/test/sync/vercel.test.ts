import { expect, it } from 'vitest'
import { syncProvider } from '../../src/sync/registry.ts'
import { testOutbound } from '../outbound.ts'
import { syncConformance } from './conformance.ts'
import { connection, vercelFake } from './vercel-fake.ts'

const { describe: factsOf, open } = await syncProvider('frontend-cloud')

syncConformance('frontend-cloud', vercelFake)

const session = (fake: { origin: string }, destination: Partial<typeof connection.destination> = {}) =>
  open(
    { ...connection, destination: { ...connection.destination, ...destination } },
    testOutbound({ 'frontend-cloud': fake.origin }),
  )
const push = (name: string) => ({ runId: 'run', write: [{ name, value: 'new', memo: null }], remove: [] })
const removal = (name: string) => ({ runId: 'run', write: [], remove: [{ name, memo: null }] })

it('values are sensitive in environments that have sensitive variables', async () => {
  const fake = await vercelFake()
  await session(fake).push(push('NAME'))
  expect(fake.held('NAME')).toEqual(['development encrypted new', 'production,preview sensitive new'])
  await session(fake).push(push('NAME'))
  expect(fake.held('NAME')).toHaveLength(2)
  await fake.stop()
})

it('environments outside of the destination keep their values', async () => {
  const fake = await vercelFake()
  fake.put('NAME', 'theirs')
  await session(fake, { targets: ['production'] }).push(push('NAME'))
  expect(fake.held('NAME')).toEqual(['preview,development encrypted theirs', 'production sensitive new'])
  await session(fake, { targets: ['production', 'preview'] }).push(removal('NAME'))
  expect(fake.held('NAME')).toEqual(['development encrypted theirs'])
  await fake.stop()
})

it('separate values of environments stay separate records', async () => {
  const fake = await vercelFake()
  fake.add({ key: 'NAME', value: 'one', type: 'sensitive', target: ['production'] })
  fake.add({ key: 'NAME', value: 'two', type: 'encrypted', target: ['preview'] })
  await session(fake).push(push('NAME'))
  expect(fake.held('NAME')).toEqual(['development encrypted new', 'preview encrypted new', 'production sensitive new'])
  await fake.stop()
})

it('a refused value leaves the shared record unchanged', async () => {
  const fake = await vercelFake()
  fake.put('NAME', 'theirs')
  fake.refuse('NAME')
  const { failed } = await session(fake, { targets: ['production'] }).push(push('NAME'))
  expect(failed).toEqual([{ name: 'NAME', reason: 'Vercel refused the name: KEY_RESERVED.' }])
  expect(fake.held('NAME')).toEqual(['production,preview,development encrypted theirs'])
  await fake.stop()
})

it('a plain variable becomes a sensitive one', async () => {
  const fake = await vercelFake()
  fake.add({ key: 'NAME', value: 'old', type: 'plain', target: ['production'] })
  await session(fake, { targets: ['production'] }).push(push('NAME'))
  expect(fake.held('NAME')).toEqual(['production sensitive new'])
  await fake.stop()
})

it('values of a branch do not change those of all branches', async () => {
  const fake = await vercelFake()
  fake.add({ key: 'NAME', value: 'theirs', type: 'encrypted', target: ['preview'] })
  const branch = session(fake, { targets: ['preview'], gitBranch: 'staging' })
  expect(await branch.list()).toEqual([])
  await branch.push(push('NAME'))
  expect(fake.held('NAME')).toEqual(['preview encrypted theirs', 'preview sensitive new staging'])
  await branch.push(removal('NAME'))
  expect(fake.held('NAME')).toEqual(['preview encrypted theirs'])
  await fake.stop()
})

it('a variable of an integration is locked, and a system variable is not listed', async () => {
  const fake = await vercelFake()
  fake.add({ key: 'DB', value: 'x', type: 'encrypted', target: ['production'], configurationId: 'icfg' })
  fake.add({ key: 'VERCEL_URL', value: '', type: 'system', target: ['production'] })
  expect(await session(fake).list()).toMatchObject([{ name: 'DB', locked: expect.any(String) }])
  expect((await session(fake).push(push('DB'))).failed).toMatchObject([{ name: 'DB' }])
  expect(fake.writes()).toBe(0)
  await fake.stop()
})

it('the list contains all pages', async () => {
  const fake = await vercelFake()
  for (let index = 0; index < 250; index++) fake.put(`NAME_${index}`, 'x')
  expect(await session(fake).list()).toHaveLength(250)
  await fake.stop()
})

it('a branch is allowed with preview only', () => {
  const destination = { ...connection.destination, gitBranch: 'main' }
  expect(() => factsOf({ ...connection, destination })).toThrow('gitBranch')
})
