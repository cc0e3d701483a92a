import { describeProblem } from '../ui/problem.tsx'
import { NotUndone, showUndoToast } from '../ui/undo-toast.tsx'
import type { Outcome } from './changes.ts'
import { NameInUse, type Restorable, restoreDeleted } from './deleted-secrets.ts'
import { secretsText } from './secrets-text.ts'

type NameOf = (environmentId: string) => string

/** Shows a toast about a deletion, with a button that restores the deleted secrets. Returns a function that hides it. */
export const offerRestore = (message: string, orgId: string, deleted: Restorable[], whereOf: NameOf): (() => void) =>
  showUndoToast(message, async () => describeRestored(await restoreDeleted(orgId, deleted), deleted, whereOf))

/**
 * Returns the message after deleted secrets were restored.
 *
 * @throws NotUndone with the reasons, if some were not restored.
 */
export function describeRestored(outcome: Outcome, deleted: Restorable[], whereOf: NameOf): string {
  const { written, queued, failed } = outcome
  const [first] = deleted
  const only = deleted.length === 1 && first ? `${first.name} in ${whereOf(first.environmentId)}` : null
  const done = [
    written.size > 0 && `Restored ${only ?? secretsText(written.size)}.`,
    queued.length > 0 && `Restoring ${only ?? secretsText(queued.length)} waits for approval.`,
  ].filter((text) => text !== false)
  if (failed.length === 0) return done.join(' ')
  const reasons = failed.map(({ name: id, error }) => {
    const one = deleted.find((other) => other.id === id)
    return one ? reasonOf(error, one.name, whereOf(one.environmentId)) : ''
  })
  throw new NotUndone([...done, ...reasons.slice(0, reasonsMax)].join(' '))
}

/** A toast has no space for more. The list of deleted secrets shows all of them. */
const reasonsMax = 5

function reasonOf(error: unknown, name: string, where: string): string {
  if (error instanceof NameInUse)
    return `${where} has a secret ${name} again. Delete it there, then restore this one under Deleted.`
  return `${name} in ${where}: ${describeProblem(error).title}.`
}
