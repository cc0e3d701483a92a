import { Box, Button } from '@mantine/core'
import { limits } from '@skerry/contract/limits'
import { createFileRoute } from '@tanstack/react-router'
import { useTeam } from '../../../../../teams/use-team.ts'
import { useTeamDialogs } from '../../../../../teams/use-team-dialogs.tsx'
import { ForAdmins } from '../../../../../ui/for-admins.tsx'
import { SettingsRow } from '../../../../../ui/settings-row.tsx'

export const Route = createFileRoute('/_app/orgs/$org/teams/$team/settings')({ component: TeamSettings })

/** The settings of a team: its name, its deletion and its limits. */
function TeamSettings() {
  const { org } = Route.useRouteContext()
  const navigate = Route.useNavigate()
  const team = useTeam()
  const { rename, remove, dialogs } = useTeamDialogs(() =>
    navigate({ to: '/orgs/$org/teams', params: { org: org.slug } }),
  )
  return (
    <ForAdmins>
      <Box maw={720}>
        <SettingsRow
          title="Name"
          action={
            <Button variant="default" onClick={() => rename(team)}>
              Rename…
            </Button>
          }
        >
          {team.name}
        </SettingsRow>
        <SettingsRow
          title="Delete"
          action={
            <Button variant="default" onClick={() => remove(team)}>
              Delete…
            </Button>
          }
        >
          Its people lose the keys that only this team gave.
        </SettingsRow>
        <SettingsRow title="Limits" action={null}>
          A team has at most {limits.teamMembersMax} people and {limits.teamEnvironmentsMax} environments. An
          organization has at most {limits.teamsMax} teams.
        </SettingsRow>
        {dialogs}
      </Box>
    </ForAdmins>
  )
}
