/** The facts about a person's session that decide whether it may do more than read. */
export interface Session {
  /** Signed in with a browser, or with a CLI credential that a browser session approved. */
  kind: 'browser' | 'cli'
  /** null if an external identity provider keeps the session. */
  id: string | null
  /** The person has a second factor. */
  secondFactor: boolean
  /** When the person last entered it in this session. */
  mfaAt: string | null
}

/** Whether a session is protected by a second factor: the person entered it, and still has one. */
export const isSecondFactorBehind = ({ secondFactor, mfaAt }: Session): boolean => secondFactor && mfaAt !== null

export interface UserPrincipal {
  type: 'user'
  id: string
  session: Session
}

export interface TokenPrincipal {
  type: 'service_token'
  id: string
  orgId: string
  role: 'admin' | 'member'
  /** The environment that the token is bound to. */
  environmentId: string | null
  /** The expiry time, in epoch milliseconds. */
  validUntilMs: number
}

export interface MachinePrincipal {
  type: 'm2m'
  id: string
  orgId: string
}

/** The caller. A machine client has no key; a service token and a user may have one. */
export type Principal = UserPrincipal | TokenPrincipal | MachinePrincipal

interface OfProject {
  orgId: string
  projectId: string
}

/** A product that uses the vault, identified by one of its API keys. */
export interface PlatformPrincipal extends OfProject {
  type: 'vault_platform'
  id: string
}

export interface ExecutorPrincipal extends OfProject {
  type: 'vault_executor'
  id: string
}

/** A person who opened a link of a product, identified by the browser that claimed it. */
export interface EndUserPrincipal extends OfProject {
  type: 'vault_end_user'
  /** A digest of the id that the product uses for that person: see `endUserDigest`. */
  id: string
  sessionId: string
}

/** Callers of the vault. They are not members of the project's organization, and can use only the vault's routes. */
export type VaultPrincipal = PlatformPrincipal | ExecutorPrincipal | EndUserPrincipal

/** A caller on any surface. */
export type AnyPrincipal = Principal | VaultPrincipal

export const isVaultPrincipal = (principal: AnyPrincipal): principal is VaultPrincipal =>
  principal.type.startsWith('vault_')

/** A caller who was looked up for this request, or is in a current cache. */
interface Confirmed {
  confirmed: true
  principal: AnyPrincipal
}

/**
 * A service token from the cache. The facts of a token never change. Before any write the server confirms that the
 * token is still valid.
 */
export interface Unconfirmed {
  confirmed: false
  principal: TokenPrincipal
  tokenHash: string
}

export type Identified = Confirmed | Unconfirmed

/** The environment that a service token is bound to; null for every other caller. */
export const boundTo = (principal: Principal): string | null =>
  principal.type === 'service_token' ? principal.environmentId : null
