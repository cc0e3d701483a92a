import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Database } from './database.ts'
import { openIdentity } from './identity.ts'
import { pollInvalidations } from './invalidations.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const invalidation = { horizon: '7', identity: 'server 1', orgId: 'org_a', environmentId: 'env_a' }

/** A cache that is in use, and a database that answers each poll with one invalidation, until `answer` is replaced. */
async function startPolling() {
  const clock = { ms: 1_000_000 }
  const done: string[] = []
  const world = {
    clock,
    done,
    answer: async () => [invalidation],
    /** What the next poll does to the cache. */
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

test('the first poll clears the cache, and each one after it evicts what has changed', async () => {
  const { done, next, stop } = await startPolling()
  expect(done).toEqual(cleared)
  for (let polls = 0; polls < 2; polls++) expect(await next()).toEqual(evicted)
  await stop()
})

test('after polls that failed the next one clears the cache, because what they missed may no longer be kept', async () => {
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
])('when %s, although no poll failed, everything is forgotten', async (_, changed) => {
  const { world, next, stop } = await startPolling()
  expect(await next()).toEqual(evicted)
  world.answer = async () => [{ ...invalidation, ...changed }]
  expect([await next(), await next()]).toEqual([['forget all', ...cleared], evicted])
  await stop()
})

test('when a connection has found another database, the next poll does not trust the horizon of the one before', async () => {
  const { world, identity, next, stop } = await startPolling()
  expect(await next()).toEqual(evicted)
  identity.note('server 2')
  world.answer = async () => [{ ...invalidation, identity: 'server 2' }]
  expect([await next(), await next()]).toEqual([cleared, evicted])
  await stop()
})

test('after more than a minute without a poll the next one clears the cache', async () => {
  const { clock, next, stop } = await startPolling()
  clock.ms += 60_000
  expect(await next()).toEqual(evicted)
  clock.ms += 60_001
  expect([await next(), await next()]).toEqual([cleared, evicted])
  await stop()
})

test('a poll counts from its start: what changes while it runs may be missing in it', async () => {
  const { world, clock, next, stop } = await startPolling()
  const { answer } = world
  world.answer = () => {
    clock.ms += 900
    return answer()
  }
  expect(await next()).toEqual(['evict org_a env_a', 'polled -900'])
  await stop()
})
