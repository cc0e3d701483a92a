import { Alert, Checkbox, NumberInput } from '@mantine/core'
import { type Approvers, whoseChangesPass } from '@skerry/contract/changes/approvers'
import { isClient } from '@skerry/contract/grants/readers'
import { limits } from '@skerry/contract/limits'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useApiForm } from '../form/use-api-form.ts'
import { isFresh, type Stale } from '../queries.ts'
import { granteesQuery } from '../secrets/queries.ts'
import type { Environment } from '../secrets/use-columns.ts'
import { membersQuery } from '../secrets/use-name-of.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { ProblemAlert } from '../ui/problem.tsx'

export interface ProtectionSettings {
  requiredApprovals: number
  allowSelfApproval: boolean
}

/** Sets the protection of an environment. Settings under which no change could be approved cannot be saved. */
export function ProtectionDialog(props: {
  environment: Environment
  before: ProtectionSettings
  onSave: (settings: ProtectionSettings) => Promise<unknown>
  stale: readonly Stale[]
  onClose: () => void
}) {
  const { environment, before, onSave, stale, onClose } = props
  const form = useApiForm('protection', 'put', { ...before })
  const { approvers, error } = useApprovers(environment)
  const pass = approvers && whoseChangesPass(approvers, form.values)
  return (
    <FormDialog
      title={`Protect ${environment.name}`}
      submit="Save"
      form={form}
      onClose={onClose}
      onSubmit={onSave}
      stale={stale}
      disabled={!pass || pass === 'nobody'}
    >
      <NumberInput
        label="Approvals that a change needs"
        min={1}
        max={limits.requiredApprovalsMax}
        allowDecimal={false}
        clampBehavior="strict"
        data-autofocus
        {...form.getInputProps('requiredApprovals')}
      />
      <Checkbox
        label="Admins may approve their own changes"
        description="Only owners and admins approve."
        {...form.getInputProps('allowSelfApproval', { type: 'checkbox' })}
      />
      <ProblemAlert error={error} />
      {approvers && pass === 'nobody' && (
        <Alert color="red" variant="light" role="alert" title="Nobody could approve a change">
          {adminsText(approvers)}. Make another member an admin, require fewer approvals, or let admins approve their
          own changes.
        </Alert>
      )}
      {approvers && pass === 'others' && (
        <Alert color="yellow" variant="light" title="Nobody could approve a change that an admin proposes">
          {adminsText(approvers)}. Changes that others propose can be approved.
        </Alert>
      )}
    </FormDialog>
  )
}

const adminsText = ({ admins }: Approvers) =>
  admins === 1 ? 'This organization has one admin' : `This organization has ${admins} admins`

/** Loads how many admins can approve, and how many other key holders can propose changes. */
function useApprovers({ id }: Environment): { approvers: Approvers | null; error: unknown } {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const members = useQuery({ ...membersQuery(org.id), staleTime: 0 })
  const grantees = useQuery({ ...granteesQuery(org.id, id), staleTime: 0 })
  const error = members.error ?? grantees.error
  if (!isFresh(members) || !isFresh(grantees) || !members.data || !grantees.data) return { approvers: null, error }
  const admins = new Set(members.data.members.filter(({ role }) => role !== 'member').map(({ userId }) => userId))
  const writers = grantees.data.grantees.filter(isClient).filter(({ principalId }) => !admins.has(principalId))
  return { approvers: { admins: admins.size, otherWriters: writers.length }, error }
}
