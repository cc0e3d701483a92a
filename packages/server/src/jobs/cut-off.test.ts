import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { lookForCutOff } from './cut-off.ts'

// What a look finds, and what becomes of it: queue.test.ts. Here the clock alone counts.

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

test('a look that comes late is left out, since the beats of this process are late as well', () => {
  let nowMs = 0
  const rows = vi.fn(async () => [])
  const timer = lookForCutOff({} as never, { engine: 'postgres', rows } as never, fail, () => nowMs)
  const lookAfter = (ms: number) => {
    nowMs += ms
    vi.advanceTimersToNextTimer()
    return rows.mock.calls.length
  }
  expect([2000, 6000, 2000, 3900].map(lookAfter)).toEqual([1, 1, 2, 3])
  clearInterval(timer)
})

const fail = (error: unknown) => {
  throw error
}
