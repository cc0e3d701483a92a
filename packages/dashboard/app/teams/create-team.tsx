import { NameField } from '../form/name-field.tsx'
import { useApiForm } from '../form/use-api-form.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { teamQueries } from './queries.ts'

export function CreateTeam(props: {
  orgId: string
  onCreate: (body: { name: string }) => Promise<unknown>
  onClose: () => void
}) {
  const { orgId, onCreate, onClose } = props
  const form = useApiForm('teams', 'create', { name: '' })
  return (
    <FormDialog
      title="New team"
      submit="Create"
      form={form}
      onClose={onClose}
      onSubmit={onCreate}
      stale={[teamQueries(orgId)]}
    >
      <NameField
        description="A team has no key. It lists who should read what."
        placeholder="Payments"
        {...form.getInputProps('name')}
      />
    </FormDialog>
  )
}
