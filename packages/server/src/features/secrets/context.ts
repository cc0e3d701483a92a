import type { Propose } from './proposal.ts'
import type { QuotaContext } from './quota-cache.ts'
import type { Writes } from './writes.ts'

/** What writes of secrets work with. */
export interface SecretsContext extends QuotaContext {
  writes: Writes
  /** Writes to environments that are nearly full. */
  countedWrites: Writes
  /** Of changes/, which stands on secrets because it applies what was proposed. */
  propose: Propose
}
