import { expect, it } from 'vitest'
import { syncProvider } from '../../src/sync/registry.ts'
import { testOutbound } from '../outbound.ts'
import { oneByOneConformance } from './clouds.ts'
import { connection, netlifyFake } from './netlify-fake.ts'

const { describe: factsOf, open } = await syncProvider('site-host')

oneByOneConformance('site-host', netlifyFake)

const session = (fake: { origin: string }, given = connection) =>
  open(given, testOutbound({ 'site-host': fake.origin }))
const push = (name: string) => ({ runId: 'run', write: [{ name, value: 'new', memo: null }], remove: [] })
const removal = (name: string) => ({ runId: 'run', write: [], remove: [{ name, memo: null }] })

it('values of other contexts are kept, also when ours are removed', async () => {
  const fake = await netlifyFake()
  fake.add('NAME', true, { context: 'production', value: 'old' }, { context: 'branch-deploy', value: 'theirs' })
  await session(fake).push(push('NAME'))
  expect(fake.held('NAME')).toEqual(['branch-deploy theirs', 'deploy-preview new', 'production new'])
  await session(fake).push(removal('NAME'))
  expect(fake.held('NAME')).toEqual(['branch-deploy theirs'])
  await fake.stop()
})

it('a readable variable becomes a secret only if no value of others is lost', async () => {
  const fake = await netlifyFake()
  fake.add('OURS', false, { context: 'production', value: 'old' })
  fake.add('SHARED', false, { context: 'production', value: 'old' }, { context: 'dev', value: 'theirs' })
  await session(fake).push(push('OURS'))
  expect([fake.isSecret('OURS'), fake.held('OURS')]).toEqual([true, ['deploy-preview new', 'production new']])
  const { failed } = await session(fake).push(push('SHARED'))
  expect(failed).toMatchObject([{ name: 'SHARED', reason: expect.stringContaining('other contexts') }])
  expect(fake.held('SHARED')).toEqual(['dev theirs', 'production old'])
  await fake.stop()
})

it('a value for all contexts is listed, and is never removed', async () => {
  const fake = await netlifyFake()
  fake.add('NAME', false, { context: 'all', value: 'theirs' })
  expect((await session(fake).list()).map(({ name }) => name)).toEqual(['NAME'])
  await session(fake).push(removal('NAME'))
  expect(fake.held('NAME')).toEqual(['all theirs'])
  expect(fake.writes()).toBe(0)
  await fake.stop()
})

it('values of different branches are separate', async () => {
  const fake = await netlifyFake()
  fake.add('NAME', true, { context: 'branch', context_parameter: 'main', value: 'theirs' })
  const destination = { ...connection.destination, contexts: ['branch' as const], branch: 'staging' }
  const staging = session(fake, { ...connection, destination } as unknown as typeof connection)
  expect(await staging.list()).toEqual([])
  await staging.push(push('NAME'))
  expect(fake.held('NAME')).toEqual(['branch new', 'branch theirs'])
  await staging.push(removal('NAME'))
  expect(fake.held('NAME')).toEqual(['branch theirs'])
  await fake.stop()
})

it('a site of another team, and a branch without its context, are refused', async () => {
  const fake = await netlifyFake()
  const config = { ...connection.config, accountId: 'other' }
  await expect(session(fake, { ...connection, config } as typeof connection).verify()).rejects.toMatchObject({
    reason: 'invalid',
  })
  const destination = { ...connection.destination, branch: 'main' }
  expect(() => factsOf({ ...connection, destination })).toThrow('branch')
  await fake.stop()
})
