import type { TokenPrincipal } from '../kernel/principal.ts'

/**
 * A cache of service tokens, by the hash of their bearer. They are evicted together with the answers of their
 * organization.
 */
export interface TokenMemory {
  /** Finds a token if the cache has read all invalidations: it was valid a moment ago. */
  findConfirmedToken(bearerHash: string): TokenPrincipal | undefined
  /** Finds a token that may have been revoked. The caller checks in the database that it is still valid. */
  findUnconfirmedToken(bearerHash: string): TokenPrincipal | undefined
  /** Counts evictions. Read it before the database. `keepToken` ignores a token if an eviction happened since. */
  generation(): number
  keepToken(generation: number, bearerHash: string, token: TokenPrincipal): void
}
