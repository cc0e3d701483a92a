import { recall, remember } from './id-cache.ts'
import type { Session } from './session.ts'

// Whether a token is bound to an environment, only a resolve without one tells. That it is not is asked once.

const unboundKey = ({ principal }: Session) => `unbound ${principal.id}`

/** A token that this command made for a machine client is bound to nothing. */
export function mayBeBound(session: Session): boolean {
  const { credential } = session.settings
  if (session.principal.type === 'user' || recall(unboundKey(session)) !== undefined) return false
  return credential.from === 'environment' || (credential.from === 'profile' && credential.profile.client === undefined)
}

export const rememberUnbound = (session: Session): void => remember(unboundKey(session), 'yes')
