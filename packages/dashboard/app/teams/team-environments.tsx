import { Badge } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { api } from '../api.ts'
import { useNameOf } from '../secrets/use-name-of.ts'
import { OneLine, TwoLines } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { List, type ListColumn } from '../ui/list.tsx'
import { useConfirm } from '../ui/use-confirm.tsx'
import { missingQuery, type TeamDetail, type TeamEnvironment, teamQuery } from './queries.ts'
import { SearchField } from './search-field.tsx'
import { useShown } from './use-shown.ts'
import { forgetLost, staleByLoss } from './use-team-dialogs.tsx'
import { namesText } from './words.ts'

/** The environments of a team: how many of its people have each key, and who waits. */
export function TeamEnvironments({ team }: { team: TeamDetail['team'] }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const isAdmin = org.role !== 'member'
  const nameOf = useNameOf(org.id)
  const shown = useShown(
    useQuery(teamQuery(org.id, team.id)),
    ({ environments }) => environments,
    ({ label }) => label,
  )
  const missing = useQuery({ ...missingQuery(org.id, { teamId: team.id }), enabled: isAdmin }).data?.missing
  const waitingIn = ({ environmentId }: TeamEnvironment) =>
    (missing ?? []).filter((row) => row.environmentId === environmentId).map(({ principalId }) => nameOf(principalId))
  const taking = useTaking(org.id, team)
  return (
    <>
      <SearchField label="Find an environment" all={shown.all} value={shown.search} onChange={shown.setSearch} />
      <List
        label="Environments of the team"
        query={shown.query}
        rows={shown.rows}
        columns={[nameColumn(org.slug), ...(isAdmin ? stateColumns(team.members, waitingIn, nameOf) : [])]}
        minWidth={700}
        rowId={({ environmentId }) => environmentId}
        rowName={({ label }) => label}
        {...(isAdmin
          ? {
              action: (row: TeamEnvironment) => ({ label: 'Take away', danger: true, onClick: () => taking.open(row) }),
            }
          : {})}
        empty={
          <Empty
            title="This team has no environment yet"
            command={isAdmin && `skerry teams grant "${team.name}" web-shop/staging --org ${org.slug}`}
          >
            Give it environments with “Grant access”. Its people get the keys once their words are compared.
          </Empty>
        }
      />
      {taking.dialog}
    </>
  )
}

const nameColumn = (org: string): ListColumn<TeamEnvironment> => ({
  header: 'Environment',
  cell: ({ environmentId, label, held }) => (
    <TwoLines
      main={
        <AnchorLink to="/orgs/$org/envs/$env" params={{ org, env: environmentId }} className="mono">
          {label}
        </AnchorLink>
      }
      title={label}
      below={held ? null : 'You do not hold its key'}
    />
  ),
})

function stateColumns(
  people: number,
  waitingIn: (row: TeamEnvironment) => string[],
  nameOf: (id: string) => string,
): ListColumn<TeamEnvironment>[] {
  return [
    {
      header: 'Keys',
      cell: ({ missing, lockedOut }) => {
        const have = people - (missing ?? 0) - lockedOut.length
        const isComplete = missing === 0 && people > 0
        return (
          <Badge color={isComplete ? 'green' : 'yellow'} variant="light">
            {have} of {people} {people === 1 ? 'has' : 'have'} the key
          </Badge>
        )
      },
      width: 180,
    },
    { header: 'Waiting', cell: (row) => <OneLine text={namesText(waitingIn(row))} /> },
    {
      header: 'Locked out',
      cell: ({ lockedOut }) => <OneLine text={namesText(lockedOut.map(nameOf))} />,
      width: 180,
    },
  ]
}

function useTaking(orgId: string, team: TeamDetail['team']) {
  return useConfirm(({ environmentId, label }: TeamEnvironment) => ({
    title: `Take ${label} from ${team.name}?`,
    text: 'Its people lose the key, unless another team or a direct grant gives it. They may have kept a copy: re-key the environment afterwards.',
    confirm: 'Take away',
    onConfirm: async () => {
      const params = { orgId, teamId: team.id, envId: environmentId }
      forgetLost((await api.teams.removeEnvironment({ params })).lost)
    },
    stale: staleByLoss(orgId),
  }))
}
