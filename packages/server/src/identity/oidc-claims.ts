import type { JWTPayload } from 'jose'
import type { Session } from '../kernel/principal.ts'

/** Authentication methods (RFC 8176) that tell of a second factor. */
const methods = new Set<unknown>(['mfa', 'otp', 'hwk', 'swk', 'pop', 'sms'])

/** What an issuer says of a person's second factor: whether there is one, and when it was last entered. Never later than now. */
export function secondFactorOf(claims: JWTPayload, now: string): Pick<Session, 'secondFactor' | 'mfaAt'> {
  const used = Array.isArray(claims.amr) && claims.amr.some((method) => methods.has(method))
  const latest = Date.parse(now) / 1000
  const mfaAt = instantOf(claims.mfa_time, latest) ?? (used ? instantOf(claims.auth_time, latest) : null)
  return { secondFactor: used || claims.mfa_enrolled === true || mfaAt !== null, mfaAt }
}

/** The clock of an issuer may be ahead of ours by this much; further on, a time is none. */
const skewSeconds = 60

function instantOf(epochSeconds: unknown, latest: number): string | null {
  if (typeof epochSeconds !== 'number' || !(epochSeconds >= 0 && epochSeconds <= latest + skewSeconds)) return null
  return new Date(Math.min(epochSeconds, latest) * 1000).toISOString()
}
