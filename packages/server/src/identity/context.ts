import type { KernelContext } from '../kernel/context.ts'
import type { ServerKey } from '../keys/server-key.ts'
import type { LastUsed } from './last-used.ts'
import type { Oidc } from './oidc.ts'
import type { RejectedTokens } from './rejected-tokens.ts'
import type { SessionTokens } from './session-tokens.ts'
import type { TokenMemory } from './token-memory.ts'

/** The context that authenticates callers. */
export interface IdentityContext extends KernelContext {
  /** null with PostgreSQL and without SKERRY_SERVER_KEY: nobody can sign in. */
  serverKey: ServerKey | null
  /** null if no external identity provider is configured. */
  oidc: Oidc | null
  sessionTokens: SessionTokens
  tokenMemory: TokenMemory
  lastUsed: LastUsed
  rejectedTokens: RejectedTokens
}
