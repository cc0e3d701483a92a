import { fail } from './errors.ts'
import { networkOf } from './network.ts'

interface Rate {
  /** How many requests may arrive at once. */
  burst: number
  /** How many requests per second are allowed after that. */
  perSecond: number
}

/** All rate limits. They must allow an import of hundreds of secrets and a Terraform run, but must prevent guessing. */
export const rates = {
  /**
   * A Terraform plan of 2,000 resources reads each of them, some with related resources, as fast as the server answers.
   */
  principal: { burst: 5000, perSecond: 200 },
  /** Requests from an address without a valid credential. */
  stranger: { burst: 120, perSecond: 2 },
  signup: { burst: 20, perSecond: 20 / 3600 },
  cliLogin: { burst: 30, perSecond: 30 / 3600 },
  /** This limit is high, because each waiting device polls every two seconds, and an office may share an address. */
  cliLoginPoll: { burst: 120, perSecond: 5 },
  /** Started sign-ins per address. Offices share one. */
  sign_in: { burst: 30, perSecond: 30 / 600 },
  /** Attempts with links and registration codes, per address. */
  vaultClaim: { burst: 10, perSecond: 10 / 60 },
  vaultRegister: { burst: 10, perSecond: 10 / 60 },
  /** A person on the Connect page. */
  vaultConnect: { burst: 60, perSecond: 1 },
  vaultPlatform: { burst: 600, perSecond: 10 },
  /** Credentials that an executor reads. */
  vaultRelease: { burst: 1200, perSecond: 20 },
} as const satisfies Record<string, Rate>

export type RateName = keyof typeof rates

/** These limits count per authenticated caller. All other limits count per IP address (IPv6: per network). */
const ofCallers: ReadonlySet<RateName> = new Set(['principal', 'vaultConnect', 'vaultPlatform', 'vaultRelease'])

/** The limiter stores the response headers here: names and values in turn. */
export interface Counted {
  limitHeaders?: readonly string[]
}

export interface Limiter {
  /** Counts one request against the bucket of `key`, or throws rate_limited with the seconds to wait. */
  take(rate: RateName, key: string, counted: Counted): void
  /** Does the same, but returns false instead of throwing. */
  admits(rate: RateName, key: string, counted: Counted): boolean
}

export const unlimited: Limiter = { take: () => {}, admits: () => true }

type Buckets = Record<RateName, Map<string, number>>

/**
 * The maximum number of buckets per limit. Beyond it the least recently used bucket is dropped; it is usually full
 * again by then.
 */
const bucketsMax = 100_000

/**
 * Rate limits in the memory of this process. Each bucket is stored as the instant at which it will be full again
 * (GCRA), so it is one number per key and needs no refill. Several servers on one database count separately.
 */
export function openLimiter(nowMs: () => number): Limiter {
  const buckets = Object.fromEntries(Object.keys(rates).map((name) => [name, new Map()])) as Buckets
  /** Counts one request -> 0 if the limit allows it, otherwise the milliseconds until it does. */
  const waitMs = (name: RateName, caller: string, counted: Counted): number => {
    const key = ofCallers.has(name) ? caller : networkOf(caller)
    const { burst, perSecond }: Rate = rates[name]
    const fullAt = buckets[name]
    const now = nowMs()
    const intervalMs = 1000 / perSecond
    const fullBefore = Math.max(fullAt.get(key) ?? 0, now)
    const full = fullBefore + intervalMs
    const missingMs = full - now - burst * intervalMs
    counted.limitHeaders = headersOf(name, missingMs > 0 ? fullBefore - now : full - now)
    if (missingMs > 0) return missingMs
    // Moved to the end, so that the first key is the least recently used one.
    fullAt.delete(key)
    fullAt.set(key, full)
    if (fullAt.size > bucketsMax) fullAt.delete(fullAt.keys().next().value as string)
    return 0
  }
  return {
    take(name, key, counted) {
      const seconds = Math.ceil(waitMs(name, key, counted) / 1000)
      if (seconds === 0) return
      throw fail('rate_limited', `too many requests; try again in ${seconds} s`, { retryAfterSeconds: seconds })
    },
    admits: (name, key, counted) => waitMs(name, key, counted) === 0,
  }
}

/**
 * The headers of draft-ietf-httpapi-ratelimit-headers: the size of the bucket and its refill time, then the rest in it
 * and the seconds until it is full.
 */
function headersOf(name: RateName, untilFullMs: number): readonly string[] {
  const { burst, perSecond }: Rate = rates[name]
  // Rounding errors make sums of fractions slightly smaller than whole numbers.
  const remaining = Math.max(0, Math.floor(burst - (untilFullMs * perSecond) / 1000 + 1e-6))
  const resetSeconds = Math.ceil(untilFullMs / 1000)
  return ['ratelimit-policy', policies[name], 'ratelimit', `"${name}";r=${remaining};t=${resetSeconds}`]
}

const policies = Object.fromEntries(
  Object.entries(rates).map(([name, { burst, perSecond }]) => [
    name,
    `"${name}";q=${burst};w=${Math.round(burst / perSecond)}`,
  ]),
) as Record<RateName, string>
