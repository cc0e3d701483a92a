import { describe, expect, test } from 'vitest'
import { Refusal } from './errors.ts'
import { type Counted, openLimiter, rates } from './rate-limits.ts'

/** A limiter whose clock moves only when the test advances it. */
function limiter() {
  let nowMs = 1_000_000
  const { take } = openLimiter(() => nowMs)
  const counted: Counted = {}
  return {
    advance: (ms: number) => {
      nowMs += ms
    },
    /** The rate limit headers of the last answer. */
    said: () => counted.limitHeaders,
    /** Sends a request -> the seconds to wait, or null if it may pass. */
    ask: (key = 'someone', rate: keyof typeof rates = 'stranger') => {
      try {
        take(rate, key, counted)
        return null
      } catch (error) {
        if (error instanceof Refusal && error.code === 'rate_limited') return error.retryAfterSeconds
        throw error
      }
    },
  }
}
const passed = (answers: unknown[]) => answers.filter((answer) => answer === null).length
const times = <T>(count: number, ask: () => T) => Array.from({ length: count }, ask)

describe.each(Object.entries(rates))('the limit of a %s', (name, { burst, perSecond }) => {
  const rate = name as keyof typeof rates

  test('allows a burst, and then as many requests as are refilled over time', () => {
    const { ask, advance } = limiter()
    expect(passed(times(burst, () => ask('someone', rate)))).toBe(burst)
    expect(ask('someone', rate)).toBeGreaterThan(0)
    advance((3 / perSecond) * 1000)
    expect(passed(times(10, () => ask('someone', rate)))).toBe(3)
  })

  test('tells the wait time, after which one more request passes', () => {
    const { ask, advance } = limiter()
    times(burst, () => ask('someone', rate))
    const seconds = ask('someone', rate) as number
    expect(seconds).toBe(Math.ceil(1 / perSecond))
    advance(seconds * 1000)
    expect(ask('someone', rate)).toBeNull()
  })

  test('tells in each answer how many requests are left and when the bucket is full, also in a refusal', () => {
    const { ask, advance, said } = limiter()
    const windowSeconds = Math.round(burst / perSecond)
    const facts = (remaining: number, seconds: number) => [
      'ratelimit-policy',
      `"${name}";q=${burst};w=${windowSeconds}`,
      'ratelimit',
      `"${name}";r=${remaining};t=${seconds}`,
    ]
    ask('someone', rate)
    expect(said()).toEqual(facts(burst - 1, Math.ceil(1 / perSecond)))
    times(burst - 2, () => ask('someone', rate))
    expect(said()).toEqual(facts(1, Math.ceil((burst - 1) / perSecond)))
    ask('someone', rate)
    expect(said()).toEqual(facts(0, windowSeconds))
    expect(ask('someone', rate)).not.toBeNull()
    expect(said()).toEqual(facts(0, windowSeconds))
    advance(windowSeconds * 1000)
    ask('someone', rate)
    expect(said()).toEqual(facts(burst - 1, Math.ceil(1 / perSecond)))
  })

  test('allows no more than a burst after a long pause', () => {
    const { ask, advance } = limiter()
    times(burst, () => ask('someone', rate))
    advance((burst / perSecond) * 1000 * 100)
    expect(passed(times(burst * 2, () => ask('someone', rate)))).toBe(burst)
  })
})

test('refused requests are not counted, so a caller that keeps trying does not wait longer', () => {
  const { ask, advance } = limiter()
  times(rates.stranger.burst, () => ask())
  const first = ask()
  times(1000, () => ask())
  expect(ask()).toBe(first)
  advance(1000 / rates.stranger.perSecond)
  expect(ask()).toBeNull()
})

test('each key and each limit of a key is counted separately', () => {
  const { ask } = limiter()
  times(rates.stranger.burst, () => ask('one'))
  expect(ask('one')).not.toBeNull()
  expect(ask('two')).toBeNull()
  expect(ask('one', 'signup')).toBeNull()
})

test('addresses of one IPv6 network are counted together', () => {
  const { ask } = limiter()
  times(rates.stranger.burst, () => ask('2001:db8::1'))
  expect(ask('2001:db8::ffff')).not.toBeNull()
  expect(ask('2001:db8:0:1::1')).toBeNull()
})

test('the wait time is a whole number of seconds and at least one', () => {
  const { ask, advance } = limiter()
  times(rates.principal.burst, () => ask('someone', 'principal'))
  advance(1)
  expect(ask('someone', 'principal')).toBe(1)
})

test('a Terraform plan of 2,000 resources may send two requests for each of them at once', () => {
  const { ask } = limiter()
  expect(passed(times(4000, () => ask('token', 'principal')))).toBe(4000)
})

test('beyond 100,000 keys the limiter forgets the least recently used one', () => {
  const { ask } = limiter()
  times(rates.stranger.burst, () => ask('old'))
  times(rates.stranger.burst, () => ask('kept'))
  expect([ask('old'), ask('kept')]).toEqual([1, 1])
  for (let n = 0; n < 99_999; n++) ask(`address-${n}`)
  expect(ask('kept')).toBe(1)
  expect(ask('old')).toBeNull()
})
