import { fail } from './errors.ts'
import { networkOf } from './network.ts'

interface Rate {
  /** Requests that may come at once. */
  burst: number
  /** Requests a second after that. */
  perSecond: number
}

/** Every rate limit. An import of hundreds of secrets must fit, and so must a Terraform run; guessing must not. */
export const rates = {
  /** A plan of 2,000 resources reads each of them, some with what hangs on it, as fast as it is answered. */
  principal: { burst: 5000, perSecond: 200 },
  /** Requests of an address that carry no valid credential. */
  stranger: { burst: 120, perSecond: 2 },
  signup: { burst: 20, perSecond: 20 / 3600 },
  cliLogin: { burst: 30, perSecond: 30 / 3600 },
  /** Each device that waits asks every two seconds, and an office may share an address. */
  cliLoginPoll: { burst: 120, perSecond: 5 },
  /** Beginnings of a sign-in, by address. Offices share one. */
  sign_in: { burst: 30, perSecond: 30 / 600 },
  /** Links and registration codes that are tried, by address. */
  vaultClaim: { burst: 10, perSecond: 10 / 60 },
  vaultRegister: { burst: 10, perSecond: 10 / 60 },
  /** A person on the Connect page. */
  vaultConnect: { burst: 60, perSecond: 1 },
  vaultPlatform: { burst: 600, perSecond: 10 },
  /** Credentials that an executor reads. */
  vaultRelease: { burst: 1200, perSecond: 20 },
} as const satisfies Record<string, Rate>

export type RateName = keyof typeof rates

/** Those of a caller who is known. All others are of an address, which stands for its network. */
const ofCallers: ReadonlySet<RateName> = new Set(['principal', 'vaultConnect', 'vaultPlatform', 'vaultRelease'])

/** Where a limit leaves what the answer will say of it: names and values of headers in turn. */
export interface Counted {
  limitHeaders?: readonly string[]
}

export interface Limiter {
  /** Takes one request from the bucket of `key`, or throws rate_limited with the seconds to wait. */
  take(rate: RateName, key: string, counted: Counted): void
  /** The same, but says whether there was one to take. */
  admits(rate: RateName, key: string, counted: Counted): boolean
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
    // Moved to the end, so that the first one is the one longest unused.
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
 * The fields of draft-ietf-httpapi-ratelimit-headers: what a bucket holds and how soon it fills, then what is left in it and
 * the seconds until it is full again.
 */
function headersOf(name: RateName, untilFullMs: number): readonly string[] {
  const { burst, perSecond }: Rate = rates[name]
  // Sums of fractions fall short of whole numbers by a hair.
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
