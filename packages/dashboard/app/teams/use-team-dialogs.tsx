import { useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { api } from '../api.ts'
import { forgetReader } from '../envs/known-readers.ts'
import { orgQueries } from '../queries.ts'
import { useConfirm } from '../ui/use-confirm.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import { type Lost, type Team, teamQueries } from './queries.ts'
import { countText } from './words.ts'

// This part of the page is loaded when it first opens.
const RenameDialog = lazy(async () => ({ default: (await import('../ui/rename-dialog.tsx')).RenameDialog }))

/** The queries that a lost key makes stale. */
export const staleByLoss = (orgId: string) =>
  ['teams', 'access', 'holdings', 'envs', 'rekey-due'].map((part) => orgQueries(orgId, part))

/** Forgets that this browser gave these keys to these people. */
export function forgetLost(lost: Lost): void {
  for (const { environmentId, userIds } of lost) for (const userId of userIds) forgetReader(userId, environmentId)
}

/** The dialogs that rename and delete a team. `onDeleted` leaves the page of a deleted team. */
export function useTeamDialogs(onDeleted?: () => Promise<void>) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const renaming = useDialog<Team>()
  const deleting = useConfirm(({ id, name, members, environments }: Team) => ({
    title: `Delete the team ${name}?`,
    text: `Its ${members === 1 ? 'person loses' : `${members} people lose`} the keys that only this team gave, of ${countText(environments, 'environment')}. They may have kept a copy: re-key the environments afterwards.`,
    confirm: 'Delete',
    ...(members > 0 && environments > 0 ? { typed: name } : {}),
    onConfirm: async () => {
      const { lost } = await api.teams.delete({ params: { orgId: org.id, teamId: id } })
      forgetLost(lost)
      await onDeleted?.()
    },
    stale: staleByLoss(org.id),
  }))
  const dialogs = (
    <>
      <Suspense>
        {renaming.show((onClose, { id, name }) => (
          <RenameDialog
            name={name}
            onRename={(to) => api.teams.update({ params: { orgId: org.id, teamId: id }, body: { name: to } })}
            stale={[teamQueries(org.id)]}
            onClose={onClose}
          />
        ))}
      </Suspense>
      {deleting.dialog}
    </>
  )
  return { rename: renaming.open, remove: deleting.open, dialogs }
}
