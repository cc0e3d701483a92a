/** Facts of a person's session that decide what it may do beyond reading. */
export interface Session {
  /** A browser session: signed in by the identity provider, not by a CLI credential. */
  browser: boolean
}

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
  expiresAt: string | null
}

export interface MachinePrincipal {
  type: 'm2m'
  id: string
  orgId: string
}

/** Who is calling. A machine client holds no key; a service token and a user may. */
export type Principal = UserPrincipal | TokenPrincipal | MachinePrincipal
