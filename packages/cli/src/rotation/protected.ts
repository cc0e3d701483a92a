import { openChangesOf } from '../changes/open.ts'
import { warn } from '../output.ts'
import type { Session } from '../session.ts'

/**
 * An admin decides about a rotation when they create it, so its writes wait for no approval. Says so, and names the open
 * changes of the secret: the server applies none after it has replaced the value.
 *
 * @param isNow whether the command replaces the value itself, and not only a later rotation
 */
export async function warnIfProtected(
  session: Session,
  place: { orgId: string; envId: string; label: string },
  { secretName, isNow }: { secretName: string; isNow: boolean },
): Promise<boolean> {
  const { orgId, envId, label } = place
  const { protection } = await session.client.protection.get({ params: { orgId, envId } })
  if (protection === null) return false
  warn(`${label} is protected; this rotation changes it without approval`)
  const open = await openChangesOf(session, place, secretName)
  if (open.length === 0) return true
  const [are, them] = open.length === 1 ? ['is', 'it'] : ['are', 'them']
  const cause = isNow ? 'This command' : 'The next rotation'
  warn(
    `${open.join(', ')} ${are} open and would change ${secretName}. ${cause} makes ${them} stale: nobody can approve ${them} afterwards`,
  )
  return true
}
