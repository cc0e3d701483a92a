import { idPattern, idPrefixes } from '@skerry/contract/prefixes'
import { knownNameOf } from './known-names.ts'
import type { Session } from './session.ts'

/**
 * The slug of an application or a group as the user typed it, for a request with its id. No signed entry has such an id. So
 * for an id that the user typed, it is the slug that this machine knows, or nothing.
 */
export function typedOwner(
  session: Session,
  orgId: string,
  given: string | undefined,
): { typed: { owner?: string | undefined } } {
  const isId = given?.startsWith(idPrefixes.application) || given?.startsWith(idPrefixes.group)
  return { typed: { owner: isId ? knownNameOf(session, orgId, given!) : given } }
}

/**
 * The address of a person or the name of a token as the user typed it, for a request with its id. An id that the user typed
 * needs no name.
 */
export function typedHolder(given: string): { typed: { holder?: string } } {
  const isId = (['user', 'serviceToken'] as const).some((kind) => new RegExp(idPattern(kind)).test(given))
  return { typed: isId ? {} : { holder: given } }
}

/** The name of a managed key as the user typed it, for a request with its id. */
export const typedKey = (given: string): { typed: { managedKey?: string } } => ({
  typed: new RegExp(idPattern('kmsKey')).test(given) ? {} : { managedKey: given },
})
