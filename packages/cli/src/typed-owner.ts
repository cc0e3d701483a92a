import { idPrefixes } from '@skerry/contract/prefixes'

/**
 * The slug of an application or a group as the user typed it, for a request with its id. An id that the user typed needs no
 * name.
 */
export function typedOwner(given: string | undefined): { typed: { owner?: string } } {
  if (given === undefined) return { typed: {} }
  const isId = given.startsWith(idPrefixes.application) || given.startsWith(idPrefixes.group)
  return { typed: isId ? {} : { owner: given } }
}
