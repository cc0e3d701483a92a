import { Badge } from '@mantine/core'
import { isSecretChange } from '@skerry/sdk/secret-change'
import type { ChangeRequest, SecretChange, Status } from './queries.ts'

const colors: Record<Status, string> = {
  open: 'yellow',
  applied: 'sea',
  rejected: 'red',
  withdrawn: 'gray',
  superseded: 'gray',
}

export const StatusBadge = ({ status }: { status: Status }) => <Badge color={colors[status]}>{status}</Badge>

/** Returns the verb of a change, to which the secret's name is added. */
export function actionLabel({ action, baseVersion, restoreVersion, deletedSecretId }: SecretChange): string {
  if (action === 'delete') return 'Delete'
  if (action === 'restore' && deletedSecretId != null) return 'Restore the deleted secret'
  if (action === 'restore') return `Restore version ${restoreVersion} of`
  return baseVersion === 0 ? 'Create' : 'Change'
}

/** Returns the title of a change, or of the group of changes that is decided together with it. */
export function titleOf(change: ChangeRequest): string {
  if (!isSecretChange(change)) return 'Re-key the environment'
  return change.groupSize > 1
    ? `Change ${change.secretName} and ${change.groupSize - 1} more`
    : `${actionLabel(change)} ${change.secretName}`
}
