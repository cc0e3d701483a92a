import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Database } from './database.ts'
import { pollInvalidations } from './invalidations.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const change = { horizon: '7', orgId: 'org_a', environmentId: 'env_a' }

/** A hearer that somebody keeps asking, and a database that answers each look with one change, until `answer` is replaced. */
async function listen() {
  const clock = { ms: 1_000_000 }
  const done: string[] = []
  const world = {
    clock,
    done,
    answer: async () => [change],
    /** What the next look makes of what it finds. */
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
    polled: (atMs: number) => done.push(`heard ${atMs - clock.ms}`),
  }
  const db = { rows: () => world.answer() } as unknown as Database
  const warn = () => done.push('warn')
  const { stop } = pollInvalidations(db, cache, warn, () => clock.ms)
  await vi.advanceTimersByTimeAsync(0)
  return { ...world, world, stop }
}

const heard = ['evict org_a env_a', 'heard 0']
const forgotten = ['clear', 'heard 0']

test('the first look forgets everything, and each after it what has changed', async () => {
  const { done, next, stop } = await listen()
  expect(done).toEqual(forgotten)
  for (let look = 0; look < 2; look++) expect(await next()).toEqual(heard)
  await stop()
})

test('after looks that failed the next forgets everything, for what they missed may no longer be kept', async () => {
  const { world, next, stop } = await listen()
  const { answer } = world
  world.answer = () => Promise.reject(new Error('no database'))
  expect([await next(), await next()]).toEqual([['warn'], []])
  world.answer = answer
  expect([await next(), await next()]).toEqual([forgotten, heard])
  await stop()
})

test('after more than a minute without a look the next forgets everything', async () => {
  const { clock, next, stop } = await listen()
  clock.ms += 60_000
  expect(await next()).toEqual(heard)
  clock.ms += 60_001
  expect([await next(), await next()]).toEqual([forgotten, heard])
  await stop()
})

test('what changes during a look has not been heard', async () => {
  const { world, clock, next, stop } = await listen()
  const { answer } = world
  world.answer = () => {
    clock.ms += 900
    return answer()
  }
  expect(await next()).toEqual(['evict org_a env_a', 'heard -900'])
  await stop()
})
