import { Badge } from '@mantine/core'
import type { ChangeRequest, Status } from './queries.ts'

const colors: Record<Status, string> = {
  open: 'sea',
  applied: 'sea',
  rejected: 'red',
  withdrawn: 'gray',
  superseded: 'gray',
}

export const StatusBadge = ({ status }: { status: Status }) => (
  <Badge color={colors[status]} variant={status === 'open' ? 'filled' : 'light'}>
    {status}
  </Badge>
)

/** The verb for a change; the secret's name follows it. */
export function actionLabel({ action, baseVersion, restoreVersion }: ChangeRequest): string {
  if (action === 'delete') return 'Delete'
  if (action === 'restore') return `Restore version ${restoreVersion} of`
  return baseVersion === 0 ? 'Create' : 'Change'
}

/** What a change, or all that are decided together with it, is called. */
export const titleOf = (change: ChangeRequest): string =>
  change.groupSize > 1
    ? `Change ${change.secretName} and ${change.groupSize - 1} more`
    : `${actionLabel(change)} ${change.secretName}`
