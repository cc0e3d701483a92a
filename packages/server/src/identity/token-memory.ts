import type { TokenPrincipal } from '../kernel/principal.ts'

/** Service tokens that were looked up before, by the hash of what they present. Forgotten with their organization's answers. */
export interface TokenMemory {
  /** One whose invalidations have been read: it was in force a moment ago. */
  findConfirmedToken(bearerHash: string): TokenPrincipal | undefined
  /** Whose token this is, for a caller who checks in the database that it is still in force. */
  findUnconfirmedToken(bearerHash: string): TokenPrincipal | undefined
  /** Counts evictions. Read before the database is: what was evicted meanwhile is not kept. */
  generation(): number
  keepToken(generation: number, bearerHash: string, token: TokenPrincipal): void
}
