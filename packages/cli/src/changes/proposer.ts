import type { ShownChange } from '@skerry/sdk/secrets'
import { toFailure } from '../failure.ts'
import { shellWord } from '../labels.ts'
import { note, warn } from '../output.ts'
import { everyRow } from '../pages.ts'
import type { Session } from '../session.ts'
import { shownTime } from '../times.ts'

// A change stays open when its proposer loses access, because it may be honest work. So the commands that show a change or
// ask for its approval say it, and the commands that end access name the changes that are left.

const words = { revoked: 'revoked', removed: 'removed from the organization' } as const

/** `revoked, 2 hours ago`; undefined while the proposer has access. An older server does not say it. */
export function proposerEnd({ proposerEnded, proposerEndedAt }: Partial<ShownChange>): string | undefined {
  if (!proposerEnded) return undefined
  return proposerEndedAt ? `${words[proposerEnded]}, ${shownTime(proposerEndedAt)}` : words[proposerEnded]
}

/**
 * Names the open changes of a principal that has lost access, and the command that rejects them. Returns their ids; changes
 * that were proposed together have the id of their group.
 */
export async function tellOpenChanges(session: Session, who: { id: string; label: string }): Promise<string[]> {
  try {
    const params = { orgId: (await session.org()).id }
    const open = await everyRow(
      (at) => session.client.changes.list({ params, query: { status: 'open', ...at } }),
      ({ changeRequests }) => changeRequests.filter(({ proposedById }) => proposedById === who.id),
    )
    const ids = [...new Set(open.map(({ id, groupId }) => groupId ?? id))]
    const [changes, them] = ids.length === 1 ? ['1 change', 'it'] : [`${ids.length} changes`, 'them']
    if (ids.length > 0)
      note(
        `${changes} that ${who.label} proposed can still be approved; reject ${them} with \`skerry changes reject ${ids.map(shellWord).join(' ')}\``,
      )
    return ids
  } catch (error) {
    warn(
      `the open changes of ${who.label} could not be listed (${toFailure(error).message}): see \`skerry changes ls\``,
    )
    return []
  }
}
