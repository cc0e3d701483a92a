import type { Propose } from './proposal.ts'
import type { QuotaContext } from './quota-cache.ts'
import type { Writes } from './writes.ts'

/** The context of handlers that write secrets. */
export interface SecretsContext extends QuotaContext {
  writes: Writes
  /** Writes to environments that are nearly full. */
  countedWrites: Writes
  /** Implemented in changes/, which depends on secrets/ because it applies proposals. */
  propose: Propose
}
