/** Facts of a person's session that decide what it may do beyond reading. */
export interface Session {
  /** Signed in with a browser, or with a CLI credential that a browser session approved. */
  kind: 'browser' | 'cli'
  /** null where an external issuer keeps the session. */
  id: string | null
  /** The person has a second factor. */
  secondFactor: boolean
  /** When it was last entered in this session. */
  mfaAt: string | null
}

/** Whether a second factor stands behind a session: it was entered, and the person has not removed it since. */
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
  /** Epoch milliseconds from which it has expired. */
  validUntilMs: number
}

export interface MachinePrincipal {
  type: 'm2m'
  id: string
  orgId: string
}

/** Who is calling. A machine client holds no key; a service token and a user may. */
export type Principal = UserPrincipal | TokenPrincipal | MachinePrincipal

interface OfProject {
  orgId: string
  projectId: string
}

/** A product that uses the vault, by one of its keys. */
export interface PlatformPrincipal extends OfProject {
  type: 'vault_platform'
  id: string
}

export interface ExecutorPrincipal extends OfProject {
  type: 'vault_executor'
  id: string
}

/** A person who opened a link of a product, in the browser that claimed it. */
export interface EndUserPrincipal extends OfProject {
  type: 'vault_end_user'
  /** A digest of the product's id of that person: see `endUserDigest`. */
  id: string
  sessionId: string
}

/** Callers of the vault. They belong to no organization, and pass no route but those of their own surface. */
export type VaultPrincipal = PlatformPrincipal | ExecutorPrincipal | EndUserPrincipal

/** A caller on any surface. */
export type AnyPrincipal = Principal | VaultPrincipal

export const isVaultPrincipal = (principal: AnyPrincipal): principal is VaultPrincipal =>
  principal.type.startsWith('vault_')

/** A caller who was looked up for this request, or a moment ago by a cache that is current. */
interface Confirmed {
  confirmed: true
  principal: AnyPrincipal
}

/**
 * A service token that memory knows. What a token is never changes; whether it is still in force is confirmed before
 * anything is written.
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
