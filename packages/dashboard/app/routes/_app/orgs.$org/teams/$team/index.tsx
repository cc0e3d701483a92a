import { createFileRoute } from '@tanstack/react-router'
import { TeamEnvironments } from '../../../../../teams/team-environments.tsx'
import { useTeam } from '../../../../../teams/use-team.ts'

/** The environments of a team. */
export const Route = createFileRoute('/_app/orgs/$org/teams/$team/')({
  component: () => <TeamEnvironments team={useTeam()} />,
})
