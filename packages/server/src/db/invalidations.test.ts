import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Database } from './database.ts'
import { openIdentity } from './identity.ts'
import { pollInvalidations } from './invalidations.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const invalidation = { horizon: '7', identity: 'server 1', orgId: 'org_a', environmentId: 'env_a' }

/**
 * Starts polling with a cache in use. The database answers each poll with one invalidation, until the test replaces
 * `answer`.
 */
async function startPolling() {
  const clock = { ms: 1_000_000 }
  const done: string[] = []
  const world = {
    clock,
    done,
    answer: async () => [invalidation],
    /** Runs the next poll -> its calls to the cache. */
    async next() {
      done.length = 0
      await vi.advanceTimersToNextTimerAsync()
      return [...done]
    },
  }
  const cache = {
    get askedAtMs() {
      return clock.ms
    },
    evict: (orgId: string, environmentId: string | null) => done.push(`evict ${orgId} ${environmentId}`),
    clear: () => done.push('clear'),
    polled: (atMs: number) => done.push(`polled ${atMs - clock.ms}`),
  }
  const identity = openIdentity()
  identity.onExchange(() => done.push('forget all'))
  const db = { rows: () => world.answer() } as unknown as Database
  const warn = () => done.push('warn')
  const { stop } = pollInvalidations(db, cache, identity, warn, () => clock.ms)
  await vi.advanceTimersByTimeAsync(0)
  return { ...world, world, identity, stop }
}

const evicted = ['evict org_a env_a', 'polled 0']
const cleared = ['clear', 'polled 0']

test('the first poll clears the cache, and each later poll evicts the changed entries', async () => {
  const { done, next, stop } = await startPolling()
  expect(done).toEqual(cleared)
  for (let polls = 0; polls < 2; polls++) expect(await next()).toEqual(evicted)
  await stop()
})

test('the first poll after failed ones clears the cache, because missed invalidations may be deleted by then', async () => {
  const { world, next, stop } = await startPolling()
  const { answer } = world
  world.answer = () => Promise.reject(new Error('no database'))
  expect([await next(), await next()]).toEqual([['warn'], []])
  world.answer = answer
  expect([await next(), await next()]).toEqual([cleared, evicted])
  await stop()
})

test.each([
  ['another server or database answers', { identity: 'server 2' }],
  ['the horizon goes back', { horizon: '6' }],
])('when %s, the cache is cleared and everything is forgotten, although no poll failed', async (_, changed) => {
  const { world, next, stop } = await startPolling()
  expect(await next()).toEqual(evicted)
  world.answer = async () => [{ ...invalidation, ...changed }]
  expect([await next(), await next()]).toEqual([['forget all', ...cleared], evicted])
  await stop()
})

test('when a connection has found another database, the next poll does not trust the old horizon', async () => {
  const { world, identity, next, stop } = await startPolling()
  expect(await next()).toEqual(evicted)
  identity.note('server 2')
  world.answer = async () => [{ ...invalidation, identity: 'server 2' }]
  expect([await next(), await next()]).toEqual([cleared, evicted])
  await stop()
})

test('after more than a minute without a poll, the next poll clears the cache', async () => {
  const { clock, next, stop } = await startPolling()
  clock.ms += 60_000
  expect(await next()).toEqual(evicted)
  clock.ms += 60_001
  expect([await next(), await next()]).toEqual([cleared, evicted])
  await stop()
})

test('a poll is dated by its start, because it may miss a change that commits while it runs', async () => {
  const { world, clock, next, stop } = await startPolling()
  const { answer } = world
  world.answer = () => {
    clock.ms += 900
    return answer()
  }
  expect(await next()).toEqual(['evict org_a env_a', 'polled -900'])
  await stop()
})
