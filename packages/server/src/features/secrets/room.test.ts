import { expect, test } from 'vitest'
import { openRoom } from './room.ts'

const env = 'env_a'
const instant = Date.UTC(2026, 10, 24)

/** How many writes of a byte it takes before somebody has to count. */
function taken(room: ReturnType<typeof openRoom>): number {
  let count = 0
  while (room.take(env, 1)) count++
  return count
}

test('a server writes a part of what is free, and counts again after that or a minute', () => {
  let nowMs = instant
  const room = openRoom(() => new Date(nowMs))
  expect(room.take(env, 1)).toBe(false)
  room.counted(env, { secrets: 5000, bytes: 1e9 })
  expect(taken(room)).toBe(250)
  room.counted(env, { secrets: 5000, bytes: 1e9 })
  expect(room.take(env, 1)).toBe(true)
  nowMs += 60_001
  expect(room.take(env, 1)).toBe(false)
})

test('nothing is free in memory where what is under way may fill it', () => {
  const room = openRoom(() => new Date(instant))
  room.counted(env, { secrets: 1000, bytes: 1e9 })
  expect(taken(room)).toBe(0)
})

test('an environment counts as nearly full for as long as its count is kept', () => {
  let nowMs = instant
  const room = openRoom(() => new Date(nowMs))
  expect(room.isTight(env)).toBe(false)
  room.counted(env, { secrets: 1001, bytes: 1e9 })
  expect(room.isTight(env)).toBe(false)
  room.counted(env, { secrets: 1000, bytes: 1e9 })
  expect(room.isTight(env)).toBe(true)
  nowMs += 60_001
  expect(room.isTight(env)).toBe(false)
})

test('a write that made no new secret gives its place back, but not its bytes', () => {
  const room = openRoom(() => new Date(instant))
  room.counted(env, { secrets: 1016, bytes: 1e9 })
  for (let n = 0; n < 100; n++) {
    expect(room.take(env, 1)).toBe(true)
    room.giveBack(env)
  }
  expect(taken(room)).toBe(1)
  const bytes = 1600
  room.counted(env, { secrets: 5000, bytes: 4 * 1024 * 1024 + bytes })
  expect(room.take(env, bytes / 16)).toBe(true)
  room.giveBack(env)
  expect(room.take(env, 1)).toBe(false)
})

test('a place is counted once for all who ask meanwhile, and again for who asks after that', async () => {
  const room = openRoom(() => new Date(instant))
  let counts = 0
  const counted = Promise.withResolvers<{ secrets: number; bytes: number }>()
  const count = () => {
    counts++
    return counted.promise
  }
  const asking = [room.count(env, count), room.count(env, count)]
  counted.resolve({ secrets: 1032, bytes: 1e9 })
  await Promise.all(asking)
  expect([counts, taken(room)]).toEqual([1, 2])
  await room.count(env, count)
  expect([counts, taken(room)]).toEqual([2, 2])
})

test('a count that failed fails for all who asked, and the next who asks has it made', async () => {
  const room = openRoom(() => new Date(instant))
  const failing = () => Promise.reject(new Error('lost'))
  const asked = await Promise.allSettled([room.count(env, failing), room.count(env, failing)])
  expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await room.count(env, async () => ({ secrets: 1016, bytes: 1e9 }))
  expect(taken(room)).toBe(1)
})
