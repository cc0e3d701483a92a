import { api } from '../api.ts'
import { NameField } from '../form/name-field.tsx'
import { useApiForm } from '../form/use-api-form.ts'
import { orgQueries } from '../queries.ts'
import { FormDialog } from '../ui/form-dialog.tsx'

export function NewKeyDialog(props: {
  params: { orgId: string; projectId: string }
  onClose: () => void
  onMade: (secret: string) => void
}) {
  const { params, onClose, onMade } = props
  const form = useApiForm('vaultProjects', 'createKey', { name: '' })
  const create = async (body: { name: string }) => {
    const { secret } = await api.vaultProjects.createKey({ params, body })
    onMade(secret)
  }
  return (
    <FormDialog
      title="New platform key"
      submit="Create"
      form={form}
      onClose={onClose}
      onSubmit={create}
      stale={[orgQueries(params.orgId, 'vault')]}
    >
      <NameField description="Where it is used." placeholder="backend" {...form.getInputProps('name')} />
    </FormDialog>
  )
}
