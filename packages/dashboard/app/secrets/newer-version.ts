import type { Column } from './columns.ts'
import type { Draft } from './use-edits.ts'

/**
 * Returns the version of another person that a draft would replace, or null. Zero means that somebody deleted the secret.
 * The stream of changes brings it while the draft is typed, or the server refuses the draft because of it.
 */
export function newerVersion(column: Column, name: string, draft: Draft): number | null {
  if (draft.theirs) return draft.theirs.version
  if (draft.saving || column.loading || !column.own) return null
  const entry = column.entries.get(name)
  const version = entry?.own ? entry.secret.version : 0
  return version === draft.baseVersion ? null : version
}
