import type { JWTPayload } from 'jose'
import type { Session } from '../kernel/principal.ts'

/** Authentication methods (RFC 8176) that are second factors. */
const methods = new Set<unknown>(['mfa', 'otp', 'hwk', 'swk', 'pop', 'sms'])

/**
 * Reads the second factor from claims: whether there is one, and when it was last entered. That time is never in the
 * future.
 */
export function secondFactorOf(claims: JWTPayload, now: string): Pick<Session, 'secondFactor' | 'mfaAt'> {
  const used = Array.isArray(claims.amr) && claims.amr.some((method) => methods.has(method))
  const latest = Date.parse(now) / 1000
  const mfaAt = instantOf(claims.mfa_time, latest) ?? (used ? instantOf(claims.auth_time, latest) : null)
  return { secondFactor: used || claims.mfa_enrolled === true || mfaAt !== null, mfaAt }
}

/** How far the clock of the issuer may be ahead of ours. A later time is ignored. */
const skewSeconds = 60

function instantOf(epochSeconds: unknown, latest: number): string | null {
  if (typeof epochSeconds !== 'number' || !(epochSeconds >= 0 && epochSeconds <= latest + skewSeconds)) return null
  return new Date(Math.min(epochSeconds, latest) * 1000).toISOString()
}
