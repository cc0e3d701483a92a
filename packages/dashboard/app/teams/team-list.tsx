import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { TwoLines } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { List, type ListColumn } from '../ui/list.tsx'
import { missingQuery, type Team, teamsQuery } from './queries.ts'
import { useTeamDialogs } from './use-team-dialogs.tsx'
import { countText } from './words.ts'

/** The teams of the organization. Admins see how many keys wait. */
export function TeamList() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const isAdmin = org.role !== 'member'
  const { rename, remove, dialogs } = useTeamDialogs()
  const waiting = useQuery({ ...missingQuery(org.id), enabled: isAdmin }).data
  const countOf = ({ id }: Team) => waiting?.missing.filter(({ teamIds }) => teamIds.includes(id)).length ?? 0
  const columns: ListColumn<Team>[] = [
    {
      header: 'Team',
      cell: ({ id, name }) => (
        <TwoLines
          main={
            <AnchorLink to="/orgs/$org/teams/$team" params={{ org: org.slug, team: id }}>
              {name}
            </AnchorLink>
          }
          title={name}
        />
      ),
      sort: ({ name }) => name,
    },
    { header: 'People', cell: ({ members }) => shown(members), sort: ({ members }) => members, width: 110 },
    {
      header: 'Environments',
      cell: ({ environments }) => shown(environments),
      sort: ({ environments }) => environments,
      width: 130,
    },
  ]
  if (isAdmin)
    columns.push({
      header: 'Waiting',
      cell: (team) => {
        const count = countOf(team)
        return count > 0 && `${waiting?.hasMore ? 'at least ' : ''}${countText(count, 'key')}`
      },
      sort: countOf,
      width: 150,
    })
  return (
    <>
      <List
        label="Teams"
        query={useQuery(teamsQuery(org.id))}
        rows={({ teams }) => teams}
        columns={columns}
        minWidth={640}
        rowId={({ id }) => id}
        rowName={({ name }) => name}
        {...(isAdmin
          ? {
              actions: (team: Team) => [
                { label: 'Rename…', onClick: () => rename(team) },
                { label: 'Delete…', danger: true, onClick: () => remove(team) },
              ],
            }
          : {})}
        empty={
          <Empty title="No team yet" command={isAdmin && `skerry teams create payments --org ${org.slug}`}>
            A team lists people and the environments that they should read. Give an environment to a team once, and each
            person who joins gets its key.
          </Empty>
        }
      />
      {dialogs}
    </>
  )
}

/** Zero is blank. */
const shown = (count: number) => (count === 0 ? '' : String(count))
