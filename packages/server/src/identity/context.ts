import type { KernelContext } from '../kernel/context.ts'
import type { ServerKey } from '../keys/server-key.ts'
import type { LastUsed } from './last-used.ts'
import type { Oidc } from './oidc.ts'
import type { RejectedTokens } from './rejected-tokens.ts'
import type { SessionTokens } from './session-tokens.ts'
import type { TokenMemory } from './token-memory.ts'

/** What it takes to find out who asks. */
export interface IdentityContext extends KernelContext {
  /** null with PostgreSQL and no SKERRY_SERVER_KEY: nobody can be signed in. */
  serverKey: ServerKey | null
  /** null where nobody else signs people in. */
  oidc: Oidc | null
  sessionTokens: SessionTokens
  tokenMemory: TokenMemory
  lastUsed: LastUsed
  rejectedTokens: RejectedTokens
}
