import type { Sql, Tx } from '../../db/database.ts'
import type { Work } from '../../http/route.ts'
import type { Org } from '../orgs/scope.ts'
import { disableAgents, findAgentsMadeBy } from './store.ts'

/** Lists the enabled agents that a person made. */
export const listAgentsMadeBy = (db: Sql, org: Org, userId: string) => findAgentsMadeBy(db, org, userId)

/** Disables the agents that a person made, and returns them. Another admin can enable one again. */
export async function disableAgentsMadeBy(
  { db, org, now, audit }: { db: Tx; org: Org; now: string; audit: Work<'agent.updated'>['audit'] },
  userId: string,
): Promise<{ id: string; name: string }[]> {
  const disabled = await disableAgents(db, org, userId, now)
  for (const { id } of disabled)
    audit('agent.updated', id, { enabled: false, cause: 'the person who made it was offboarded' })
  return disabled
}
