// The tables of teams and plans. Only write.ts changes the rows of `team_members`, `key_exclusions` and `planned_grants`.

/** SQL condition: a team asks for the key of this environment for this person, who was not locked out of it. */
export const isDueToTeam = (orgId: string, environmentId: string, userId: string) => `exists (
  select from team_environments te
    join team_members tm on tm.org_id = te.org_id and tm.team_id = te.team_id and tm.user_id = ${userId}
   where te.org_id = ${orgId} and te.environment_id = ${environmentId} and ${isNotExcluded})`

/** SQL condition on `team_environments te` and `team_members tm`: the person was not locked out of the environment. */
export const isNotExcluded = `not exists (
  select from key_exclusions x
   where x.org_id = te.org_id and x.environment_id = te.environment_id and x.user_id = tm.user_id)`
