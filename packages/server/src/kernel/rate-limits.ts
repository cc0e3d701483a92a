import { fail } from './errors.ts'
import { networkOf } from './network.ts'

interface Rate {
  /** Requests that may come at once. */
  burst: number
  /** Requests a second after that. */
  perSecond: number
}

/** Every rate limit. An import of hundreds of secrets or a Terraform run must fit; guessing must not. */
export const rates = {
  principal: { burst: 1000, perSecond: 200 },
  /** Requests of an address that carry no valid credential. */
  stranger: { burst: 120, perSecond: 2 },
  signup: { burst: 20, perSecond: 20 / 3600 },
  cliLogin: { burst: 30, perSecond: 30 / 3600 },
  /** Each device that waits asks every two seconds, and an office may share an address. */
  cliLoginPoll: { burst: 120, perSecond: 5 },
  /** Beginnings of a sign-in, by address. Offices share one. */
  sign_in: { burst: 30, perSecond: 30 / 600 },
} as const satisfies Record<string, Rate>

export type RateName = keyof typeof rates

export interface Limiter {
  /** Takes one request from the bucket of `key`, or throws rate_limited with the seconds to wait. */
  take(rate: RateName, key: string): void
  /** The same, but says whether there was one to take. */
  admits(rate: RateName, key: string): boolean
}

export const unlimited: Limiter = { take: () => {}, admits: () => true }

type Buckets = Record<RateName, Map<string, number>>

/** Buckets of a rate are dropped when this many are held: the oldest are full again long before. */
const bucketsMax = 100_000

/**
 * Rate limits in this process's memory, as the instant at which a bucket will be full again (GCRA): one number per key
 * and nothing to refill. Several servers on one database each keep their own.
 */
export function openLimiter(nowMs: () => number): Limiter {
  const buckets = Object.fromEntries(Object.keys(rates).map((name) => [name, new Map()])) as Buckets
  /** Takes one where there is one to take, or gives the milliseconds until there is. */
  const waitMs = (name: RateName, caller: string): number => {
    const key = name === 'principal' ? caller : networkOf(caller)
    const { burst, perSecond }: Rate = rates[name]
    const fullAt = buckets[name]
    const now = nowMs()
    const intervalMs = 1000 / perSecond
    const full = Math.max(fullAt.get(key) ?? 0, now) + intervalMs
    const missingMs = full - now - burst * intervalMs
    if (missingMs > 0) return missingMs
    // Moved to the end, so that the first one is the one longest unused.
    fullAt.delete(key)
    fullAt.set(key, full)
    if (fullAt.size > bucketsMax) fullAt.delete(fullAt.keys().next().value as string)
    return 0
  }
  return {
    take(name, key) {
      const seconds = Math.ceil(waitMs(name, key) / 1000)
      if (seconds === 0) return
      throw fail('rate_limited', `too many requests; try again in ${seconds} s`, { retryAfterSeconds: seconds })
    },
    admits: (name, key) => waitMs(name, key) === 0,
  }
}
