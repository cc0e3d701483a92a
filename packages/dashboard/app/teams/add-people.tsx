import { MultiSelect } from '@mantine/core'
import { limits } from '@skerry/contract/limits'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api.ts'
import { nameOfMember } from '../people/member.ts'
import { membersQuery } from '../secrets/use-name-of.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { type TeamDetail, teamQueries } from './queries.ts'

/** Adds people to a team. Their keys wait until somebody who holds them grants them. */
export function AddPeople({ orgId, detail, onClose }: { orgId: string; detail: TeamDetail; onClose: () => void }) {
  const { team, members } = detail
  const [userIds, setUserIds] = useState<string[]>([])
  const there = new Set(members.map(({ userId }) => userId))
  const others = (useQuery(membersQuery(orgId)).data?.members ?? []).filter(({ userId }) => !there.has(userId))
  return (
    <FormDialog
      title={`Add people to ${team.name}`}
      submit={userIds.length > 1 ? `Add ${userIds.length} people` : 'Add'}
      onClose={onClose}
      onSubmit={() => api.teams.addMembers({ params: { orgId, teamId: team.id }, body: { userIds } })}
      stale={[teamQueries(orgId)]}
      disabled={userIds.length === 0}
    >
      <MultiSelect
        label="People"
        description={`Keys are granted afterwards, to people whose words were compared. A team has at most ${limits.teamMembersMax} people.`}
        searchable
        hidePickedOptions
        limit={50}
        nothingFoundMessage="No matching member who is not in the team"
        data={others.map((one) => ({ value: one.userId, label: nameOfMember(one) }))}
        value={userIds}
        onChange={setUserIds}
        data-autofocus
      />
    </FormDialog>
  )
}
