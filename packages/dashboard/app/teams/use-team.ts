import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams, useRouteContext } from '@tanstack/react-router'
import { type Team, teamQuery } from './queries.ts'

/** Returns the team in the address. The pages below `teams/$team` appear only after it has loaded. */
export function useTeam(): Team {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { team } = useParams({ from: '/_app/orgs/$org/teams/$team' })
  return useSuspenseQuery(teamQuery(org.id, team)).data.team
}
