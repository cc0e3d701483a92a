import { expect, it } from 'vitest'
import { syncProvider } from '../../src/sync/registry.ts'
import { testOutbound } from '../outbound.ts'
import { oneByOneConformance } from './clouds.ts'
import { type Connection, environment, org, repo, roots, secretsFake } from './github-actions-fake.ts'

const { describe: factsOf, open } = await syncProvider('code-host-ci')

oneByOneConformance('code-host-ci', () => secretsFake(environment, roots.environment))
oneByOneConformance('code-host-ci', () => secretsFake(org, roots.org))
oneByOneConformance('code-host-ci', () => secretsFake(repo, roots.repo))

const write = [{ name: 'FIRST_NAME', value: 'one', memo: null }]

it('the list contains all pages, with names in upper case', async () => {
  const fake = await secretsFake(repo, roots.repo)
  for (let index = 0; index < 230; index++) fake.put(`NAME_${index}`, 'x')
  expect((await open(repo, testOutbound({ 'code-host-ci': fake.origin })).list()).length).toBe(230)
  await fake.stop()
})

it('a key that changed meanwhile is fetched again', async () => {
  const fake = await secretsFake(repo, roots.repo)
  const session = open(repo, testOutbound({ 'code-host-ci': fake.origin }))
  await session.push({ runId: 'run_1', write, remove: [] })
  fake.rotate()
  const again = [{ name: 'FIRST_NAME', value: 'two', memo: null }]
  expect(await session.push({ runId: 'run_2', write: again, remove: [] })).toMatchObject({ failed: [] })
  expect(fake.values().get('FIRST_NAME')).toBe('two')
  await fake.stop()
})

it('secrets of an organization are sent with their readers, and a change of the readers changes the rules', async () => {
  const fake = await secretsFake(org, roots.org)
  await open(org, testOutbound({ 'code-host-ci': fake.origin })).push({ runId: 'run_1', write, remove: [] })
  expect(fake.bodies[0]).toMatchObject({ visibility: 'selected', selected_repository_ids: [11, 12] })
  const to = (more: object) => ({
    ...org,
    destination: { provider: 'code-host-ci', kind: 'org', org: 'acme', ...more },
  })
  const all = to({ visibility: 'all' }) as Connection
  expect(factsOf(all).rules).not.toBe(factsOf(org).rules)
  expect(factsOf(all).places).toEqual(factsOf(org).places)
  expect(() => factsOf(to({ visibility: 'selected' }) as Connection)).toThrow(/selectedRepositoryIds: needed/)
  const both = to({ visibility: 'all', selectedRepositoryIds: [1] }) as Connection
  expect(() => factsOf(both)).toThrow(/selectedRepositoryIds: only/)
  await fake.stop()
})

it('a rate limit with status 403 is recognized by its headers', async () => {
  const fake = await secretsFake(repo, roots.repo)
  const push = () =>
    open(repo, testOutbound({ 'code-host-ci': fake.origin })).push({ runId: 'run_1', write, remove: [] })
  fake.limit({ 'retry-after': '30' })
  await expect(push()).rejects.toMatchObject({ reason: 'rate_limited', retryAfterMs: 30_000 })
  const beforeMs = Date.now()
  const resetMs = Math.ceil(beforeMs / 1000) * 1000 + 3_600_000
  fake.limit({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(resetMs / 1000) })
  const limited = await push().catch((error) => error)
  expect(limited.reason).toBe('rate_limited')
  expect(limited.retryAfterMs).toBeGreaterThanOrEqual(resetMs - Date.now())
  expect(limited.retryAfterMs).toBeLessThanOrEqual(resetMs - beforeMs)
  fake.limit({ 'x-ratelimit-remaining': '4999' })
  // With only one name to write, a refused name looks like a refused token.
  await expect(push()).rejects.toMatchObject({ reason: 'denied', message: expect.stringContaining('403') })
  await fake.stop()
})
