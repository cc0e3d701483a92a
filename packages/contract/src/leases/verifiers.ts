import { Type } from 'typebox'

// Verifiers that a client sends instead of a password. A database would treat a malformed one as the password itself
// (PostgreSQL hashes it). So the grammar is exact: standard base64 of exact length, without spare bits.

const base64Of32Bytes = '[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]='
const base64Salt = '(?:[A-Za-z0-9+/]{4}){5,21}(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?'

const patterns = {
  postgres: `^SCRAM-SHA-256\\$[1-9][0-9]{3,5}:${base64Salt}\\$${base64Of32Bytes}:${base64Of32Bytes}$`,
  mysql: '^\\*[0-9A-F]{40}$',
  redis: '^[0-9a-f]{64}$',
} as const

export const ScramVerifier = Type.String({
  pattern: patterns.postgres,
  description: 'SCRAM-SHA-256 verifier of the password: `SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>`.',
})

export const NativePasswordHash = Type.String({
  pattern: patterns.mysql,
  description: 'mysql_native_password hash: `*` and upper-case hex of SHA1(SHA1(password)).',
})

export const Sha256Digest = Type.String({
  pattern: patterns.redis,
  description: 'SHA-256 of the password in lower-case hex.',
})

/** The iterations that a SCRAM verifier may have. Every sign-in costs this much, on both sides. */
const scramIterations = { min: 4096, max: 100_000 } as const

/**
 * Says why a string is not a verifier for accounts of this provider, or null if it is one. The reason never repeats the
 * string, because on some targets it is as good as a password.
 *
 * @example verifierProblem('mysql', '*0123...') // null
 */
export function verifierProblem(provider: keyof typeof patterns, verifier: string): string | null {
  if (!new RegExp(patterns[provider]).test(verifier)) return `is not a ${names[provider]}`
  if (provider !== 'postgres') return null
  const iterations = Number(/^SCRAM-SHA-256\$(\d+):/.exec(verifier)?.[1])
  const { min, max } = scramIterations
  return iterations < min || iterations > max ? `has iterations outside ${min} to ${max}` : null
}

const names = {
  postgres: 'SCRAM-SHA-256 verifier',
  mysql: 'mysql_native_password hash (* and 40 upper-case hex characters)',
  redis: 'SHA-256 digest in lower-case hex',
} as const
