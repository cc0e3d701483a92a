import { toFailure } from '../failure.ts'
import { everyRow } from '../pages.ts'
import type { Session } from '../session.ts'

/**
 * The open changes of an environment, or of one secret in it, under the ids that other commands show. A caller who may not
 * see them gets none.
 */
export async function openChangesOf(
  session: Session,
  { orgId, envId }: { orgId: string; envId: string },
  secretName?: string,
): Promise<string[]> {
  const query = { envId, status: 'open', limit: 200 } as const
  const found = await everyRow(
    (at) => session.client.changes.list({ params: { orgId }, query: { ...query, ...at } }),
    ({ changeRequests }) => changeRequests,
  ).catch((error) => {
    if (toFailure(error).kind !== 'refused') throw error
    return []
  })
  const wanted = found.filter((one) => secretName === undefined || one.secretName === secretName)
  return [...new Set(wanted.map(({ id, groupId }) => groupId ?? id))]
}
