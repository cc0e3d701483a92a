import type { Team as TeamRow } from '@skerry/contract/teams/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import type { Checked } from '../../http/access.ts'
import { type InOrg, type Org, within } from '../orgs/scope.ts'

export type Team = Checked<Static<typeof TeamRow>>
export type InTeam = InOrg & { team: Team }

/** The columns of `teams t`. */
export const teamColumns = `t.id, t.name,
  (select count(*) from team_members m where m.org_id = t.org_id and m.team_id = t.id) as members,
  (select count(*) from team_environments e where e.org_id = t.org_id and e.team_id = t.id) as environments,
  t.created_at, t.updated_at`

export const findTeam = (db: Sql, org: Pick<Org, 'id'>, teamId: string) =>
  db.row<Team>(`select ${teamColumns} from teams t where t.org_id = $1 and t.id = $2`, [org.id, teamId])

export const team = within<'team', 'teamId', Team>(
  'team',
  'teamId',
  'The team must belong to the organization',
  findTeam,
)
