import { secretNamePattern } from '@skerry/contract/patterns'
import { type Filter, filters } from './filters.ts'

/**
 * The part of the address that a matrix has: the filter, and the secret whose drawer is open. The text of the search is not in
 * it, because it may be a value.
 */
export interface MatrixSearch {
  show?: Exclude<Filter, 'all'>
  secret?: string
  /** The slug of the environment or branch of `secret`. */
  in?: string
}

const secretName = new RegExp(secretNamePattern)
const slug = /^[a-z0-9-]{1,64}$/

/** Returns the fields of an address that are valid. A secret without an environment is opened in the first one that has it. */
export function matrixSearch({ show, secret, in: place }: Record<string, unknown>): MatrixSearch {
  return {
    ...(filters.some(({ value }) => value === show && value !== 'all') ? { show: show as Exclude<Filter, 'all'> } : {}),
    ...(typeof secret === 'string' && secretName.test(secret) ? { secret } : {}),
    ...(typeof place === 'string' && slug.test(place) ? { in: place } : {}),
  }
}
