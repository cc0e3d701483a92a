import { fail } from './errors.ts'

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
}

export const unlimited: Limiter = { take: () => {} }

/** Buckets are dropped when this many are held: the oldest are full again long before. */
const bucketsMax = 100_000

/**
 * Rate limits in this process's memory, as the instant at which a bucket will be full again (GCRA): one number per key
 * and nothing to refill. Several servers on one database each keep their own.
 */
export function openLimiter(nowMs: () => number): Limiter {
  const fullAt = new Map<string, number>()
  return {
    take(name, key) {
      const rate: Rate = rates[name]
      const now = nowMs()
      const bucket = `${name} ${key}`
      const intervalMs = 1000 / rate.perSecond
      const full = Math.max(fullAt.get(bucket) ?? 0, now) + intervalMs
      const waitMs = full - now - rate.burst * intervalMs
      if (waitMs > 0) {
        const seconds = Math.ceil(waitMs / 1000)
        throw fail('rate_limited', `too many requests; try again in ${seconds} s`, { retryAfterSeconds: seconds })
      }
      // Moved to the end, so that the first one is the one longest unused.
      fullAt.delete(bucket)
      fullAt.set(bucket, full)
      if (fullAt.size > bucketsMax) fullAt.delete(fullAt.keys().next().value as string)
    },
  }
}
