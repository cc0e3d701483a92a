import { limits } from '@skerry/contract/limits'
import { storableLineOf } from '../provider-error.ts'
import type { Removal } from './provider.ts'

/** The account had no objects, and no problem is left. */
export const nothingLeft: Removal = { dropped: [], reassigned: [], problem: null }

/** Shortens the object names that a target reports, because an account may own any number of objects with any names. */
export function removalOf(dropped: readonly string[], reassigned: readonly string[], problem: string | null): Removal {
  return { dropped: namesOf(dropped), reassigned: namesOf(reassigned), problem }
}

function namesOf(labels: readonly string[]): string[] {
  const max = limits.leaseObjectsNamedMax
  const shown = labels.length > max ? labels.slice(0, max - 1) : labels
  const names = shown.map(storableLineOf)
  return labels.length > max ? [...names, `and ${labels.length - names.length} more`] : names
}
