import { idPattern, idPrefixes } from '@skerry/contract/prefixes'

/**
 * The slug of an application or a group as the user typed it, for a request with its id. An id that the user typed needs no
 * name.
 */
export function typedOwner(given: string | undefined): { typed: { owner?: string } } {
  if (given === undefined) return { typed: {} }
  const isId = given.startsWith(idPrefixes.application) || given.startsWith(idPrefixes.group)
  return { typed: isId ? {} : { owner: given } }
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
