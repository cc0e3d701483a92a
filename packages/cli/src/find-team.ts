import type { Answer } from '@skerry/contract/endpoint'
import { isNamed } from '@skerry/contract/prefixes'
import type { teams } from '@skerry/contract/teams/endpoints'
import { Failure } from './failure.ts'
import { checkKnownName } from './known-names.ts'
import { orNearest } from './nearest.ts'
import type { Session } from './session.ts'

export type Team = Answer<typeof teams.list>['teams'][number]

/** Finds a team by id or name. Upper and lower case of a name make no difference. */
export async function findTeam(session: Session, orgId: string, wanted: string): Promise<Team> {
  const { teams } = await session.client.teams.list({ params: { orgId } })
  const found =
    teams.find(({ id, name }) => isNamed(wanted, 'team', { id, name })) ??
    teams.find(({ name }) => name.toLowerCase() === wanted.toLowerCase())
  if (!found) {
    const names = teams.map(({ name }) => name)
    throw new Failure('notFound', `there is no team '${wanted}'`, orNearest(wanted, names, 'see `skerry teams ls`'))
  }
  checkKnownName(session, orgId, { kind: 'team', noun: 'team', wanted, id: found.id, name: found.name })
  return found
}
