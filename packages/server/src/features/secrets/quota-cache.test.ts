import { expect, test } from 'vitest'
import { openQuotaCache } from './quota-cache.ts'

const env = 'env_a'
const instant = Date.UTC(2026, 10, 24)

/** Counts how many writes of one byte succeed before a count is needed. */
function taken(quotaCache: ReturnType<typeof openQuotaCache>): number {
  let count = 0
  while (quotaCache.reserve(env, 1)) count++
  return count
}

test('a server reserves a part of the free quota, and counts again after that or after a minute', () => {
  let nowMs = instant
  const quotaCache = openQuotaCache(() => new Date(nowMs))
  expect(quotaCache.reserve(env, 1)).toBe(false)
  quotaCache.store(env, { secrets: 5000, bytes: 1e9 })
  expect(taken(quotaCache)).toBe(250)
  quotaCache.store(env, { secrets: 5000, bytes: 1e9 })
  expect(quotaCache.reserve(env, 1)).toBe(true)
  nowMs += 60_001
  expect(quotaCache.reserve(env, 1)).toBe(false)
})

test('no quota is free in memory if writes that are under way may use it up', () => {
  const quotaCache = openQuotaCache(() => new Date(instant))
  quotaCache.store(env, { secrets: 1000, bytes: 1e9 })
  expect(taken(quotaCache)).toBe(0)
})

test('an environment counts as nearly full for as long as its count is kept', () => {
  let nowMs = instant
  const quotaCache = openQuotaCache(() => new Date(nowMs))
  expect(quotaCache.isTight(env)).toBe(false)
  quotaCache.store(env, { secrets: 1001, bytes: 1e9 })
  expect(quotaCache.isTight(env)).toBe(false)
  quotaCache.store(env, { secrets: 1000, bytes: 1e9 })
  expect(quotaCache.isTight(env)).toBe(true)
  nowMs += 60_001
  expect(quotaCache.isTight(env)).toBe(false)
})

test('a write that made no new secret releases its reserved secret, but not its bytes', () => {
  const quotaCache = openQuotaCache(() => new Date(instant))
  quotaCache.store(env, { secrets: 1016, bytes: 1e9 })
  for (let n = 0; n < 100; n++) {
    expect(quotaCache.reserve(env, 1)).toBe(true)
    quotaCache.release(env)
  }
  expect(taken(quotaCache)).toBe(1)
  const bytes = 1600
  quotaCache.store(env, { secrets: 5000, bytes: 4 * 1024 * 1024 + bytes })
  expect(quotaCache.reserve(env, bytes / 16)).toBe(true)
  quotaCache.release(env)
  expect(quotaCache.reserve(env, 1)).toBe(false)
})

test('simultaneous requests share one count, and a later request counts again', async () => {
  const quotaCache = openQuotaCache(() => new Date(instant))
  let counts = 0
  const counted = Promise.withResolvers<{ secrets: number; bytes: number }>()
  const count = () => {
    counts++
    return counted.promise
  }
  const asking = [quotaCache.count(env, count), quotaCache.count(env, count)]
  counted.resolve({ secrets: 1032, bytes: 1e9 })
  await Promise.all(asking)
  expect([counts, taken(quotaCache)]).toEqual([1, 2])
  await quotaCache.count(env, count)
  expect([counts, taken(quotaCache)]).toEqual([2, 2])
})

test('a failed count fails for all who waited for it, and the next request counts again', async () => {
  const quotaCache = openQuotaCache(() => new Date(instant))
  const failing = () => Promise.reject(new Error('lost'))
  const asked = await Promise.allSettled([quotaCache.count(env, failing), quotaCache.count(env, failing)])
  expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await quotaCache.count(env, async () => ({ secrets: 1016, bytes: 1e9 }))
  expect(taken(quotaCache)).toBe(1)
})
