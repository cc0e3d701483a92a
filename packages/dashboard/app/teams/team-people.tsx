import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { api } from '../api.ts'
import { membersQuery } from '../secrets/use-name-of.ts'
import { TwoLines } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { List, type ListColumn } from '../ui/list.tsx'
import { useConfirm } from '../ui/use-confirm.tsx'
import { missingQuery, type TeamDetail, type TeamMember, teamQuery } from './queries.ts'
import { SearchField } from './search-field.tsx'
import { useShown } from './use-shown.ts'
import { forgetLost, staleByLoss } from './use-team-dialogs.tsx'
import { countText } from './words.ts'

const nameOf = ({ name, email, userId }: TeamMember): string => name ?? email ?? userId

/** The people of a team, and how many keys each still waits for. */
export function TeamPeople({ team }: { team: TeamDetail['team'] }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const isAdmin = org.role !== 'member'
  const shown = useShown(
    useQuery(teamQuery(org.id, team.id)),
    ({ members }) => members,
    ({ name, email }) => `${name ?? ''} ${email ?? ''}`,
  )
  const removing = useRemoving(org.id, team)
  return (
    <>
      <SearchField label="Find a person" all={shown.all} value={shown.search} onChange={shown.setSearch} />
      <List
        label="People of the team"
        query={shown.query}
        rows={shown.rows}
        columns={usePeopleColumns(org.id, team.id, isAdmin)}
        minWidth={600}
        rowId={({ userId }) => userId}
        rowName={nameOf}
        {...(isAdmin
          ? { action: (row: TeamMember) => ({ label: 'Remove', danger: true, onClick: () => removing.open(row) }) }
          : {})}
        empty={
          <Empty
            title="Nobody is in this team yet"
            command={isAdmin && `skerry teams include "${team.name}" name@example.com --org ${org.slug}`}
          >
            Add people. An admin who holds the keys grants them after a comparison of words.
          </Empty>
        }
      />
      {removing.dialog}
    </>
  )
}

function usePeopleColumns(orgId: string, teamId: string, isAdmin: boolean): ListColumn<TeamMember>[] {
  const members = useQuery(membersQuery(orgId)).data?.members
  const missing = useQuery({ ...missingQuery(orgId, { teamId }), enabled: isAdmin }).data?.missing
  const roles = new Map((members ?? []).map(({ userId, role }) => [userId, role]))
  const columns: ListColumn<TeamMember>[] = [
    {
      header: 'Person',
      cell: (one) => <TwoLines main={nameOf(one)} below={nameOf(one) === one.email ? null : one.email} />,
    },
    { header: 'Role', cell: ({ userId }) => roles.get(userId) ?? '', width: 120 },
  ]
  if (!isAdmin) return columns
  const waiting = Map.groupBy(missing ?? [], ({ principalId }) => principalId)
  const waits = ({ userId }: TeamMember) => {
    const rows = waiting.get(userId) ?? []
    if (rows.length === 0) return ''
    return rows.some(({ publicKeyJwk }) => publicKeyJwk === null)
      ? 'has no keyring yet'
      : `${countText(rows.length, 'key')} waiting`
  }
  return [...columns, { header: 'Keys', cell: waits, width: 200 }]
}

function useRemoving(orgId: string, team: TeamDetail['team']) {
  return useConfirm((member: TeamMember) => ({
    title: `Remove ${nameOf(member)} from ${team.name}?`,
    text: `${nameOf(member)} loses the keys that only this team gave. They may have kept a copy: re-key the environments afterwards.`,
    confirm: 'Remove',
    onConfirm: async () => {
      const params = { orgId, teamId: team.id, userId: member.userId }
      forgetLost((await api.teams.removeMember({ params })).lost)
    },
    stale: staleByLoss(orgId),
  }))
}
