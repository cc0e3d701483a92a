import { expect, test } from 'vitest'
import { describedDestinations } from '../../../../providers/test/sync/facts.ts'
import { firstPauseMaxMs, pauseBefore, spared } from './push.ts'

const destinations = await describedDestinations()

test.for(destinations)(
  '$tag: a push begins within 5 seconds of a change, even right after another push',
  ({ facts }) => {
    const { limits } = facts
    const most = limits.pushNamesMax ?? 1000
    for (const names of [1, most]) {
      const sinceLastMs = spared(limits, names)
      expect(pauseBefore(limits, sinceLastMs, true)).toBeLessThanOrEqual(firstPauseMaxMs)
    }
    // Processing changes takes up to 3 seconds more.
    expect(firstPauseMaxMs + 3000).toBeLessThanOrEqual(5000)
  },
)

test.for(destinations)('$tag: full pushes of one run are as far apart as the service asks', ({ facts }) => {
  const { limits } = facts
  const full = limits.pushNamesMax ?? 1
  expect(pauseBefore(limits, spared(limits, full), false)).toBe(limits.pushIntervalMs)
})

test('a push of only a few names needs a shorter pause after it', () => {
  const render = destinations.find(({ tag }) => tag === 'app-platform-b')
  const limits = render?.facts.limits
  if (!limits) throw new Error('no sample of app-platform-b')
  expect([1, 5, 10].map((names) => pauseBefore(limits, spared(limits, names), false))).toEqual([2000, 10_000, 20_000])
})
