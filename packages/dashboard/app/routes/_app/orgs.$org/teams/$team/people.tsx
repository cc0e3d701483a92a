import { createFileRoute } from '@tanstack/react-router'
import { TeamPeople } from '../../../../../teams/team-people.tsx'
import { useTeam } from '../../../../../teams/use-team.ts'

/** The people of a team. */
export const Route = createFileRoute('/_app/orgs/$org/teams/$team/people')({
  component: () => <TeamPeople team={useTeam()} />,
})
