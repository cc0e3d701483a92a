import { recall, remember } from './id-cache.ts'
import type { Session } from './session.ts'

// A resolve without an environment shows whether a token is bound to one. The answer "not bound" is cached.

const unboundKey = ({ principal }: Session) => `unbound ${principal.id}`

/** A token that this command made for a machine client is never bound. */
export function mayBeBound(session: Session): boolean {
  const { credential } = session.settings
  if (session.principal.type === 'user' || recall(unboundKey(session)) !== undefined) return false
  return credential.from === 'environment' || (credential.from === 'profile' && credential.profile.client === undefined)
}

export const rememberUnbound = (session: Session): void => remember(unboundKey(session), 'yes')
