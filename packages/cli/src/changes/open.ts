import { toFailure } from '../failure.ts'
import { warn } from '../output.ts'
import { everyRow } from '../pages.ts'
import type { Session } from '../session.ts'

interface Environment {
  orgId: string
  envId: string
}

/** The open changes of an environment. A caller who may not see them gets none. */
export async function listOpenChanges(session: Session, { orgId, envId }: Environment) {
  const query = { envId, status: 'open', limit: 200 } as const
  return everyRow(
    (at) => session.client.changes.list({ params: { orgId }, query: { ...query, ...at } }),
    ({ changeRequests }) => changeRequests,
  ).catch((error) => {
    if (toFailure(error).kind !== 'refused') throw error
    return []
  })
}

/** The open changes of an environment, or of one secret in it, under the ids that other commands show. */
export async function openChangesOf(session: Session, place: Environment, secretName?: string): Promise<string[]> {
  const found = await listOpenChanges(session, place)
  const wanted = found.filter((one) => secretName === undefined || one.secretName === secretName)
  return [...new Set(wanted.map(({ id, groupId }) => groupId ?? id))]
}

/**
 * Names the open changes that a new key of the environment supersedes. Call it before the question.
 *
 * @param rekeyId the change that proposes the new key
 */
export async function warnOfSuperseded(
  session: Session,
  place: Environment & { label: string },
  rekeyId?: string,
): Promise<string[]> {
  const open = (await openChangesOf(session, place)).filter((id) => id !== rekeyId)
  if (open.length > 0)
    warn(
      `the new key of ${place.label} supersedes open changes, which are encrypted with the old key: ${open.join(', ')}`,
    )
  return open
}
