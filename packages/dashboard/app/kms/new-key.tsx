import { Select, Text } from '@mantine/core'
import { type KmsSpec, kmsSpecs } from '@skerry/contract/kms/specs'
import { useRouteContext } from '@tanstack/react-router'
import { NameField } from '../form/name-field.tsx'
import { useApiForm } from '../form/use-api-form.ts'
import { orgQueries } from '../queries.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { showToast } from '../ui/toast.ts'
import { createKey } from './make.ts'
import { specLabels } from './specs.ts'

const specs = Object.keys(kmsSpecs).map((spec) => {
  const { main, below } = specLabels[spec as KmsSpec]
  return { value: spec, label: `${below}: ${main}` }
})

/** Creates a managed key, which only its creator holds at first. */
export function NewKeyDialog({ onClose }: { onClose: () => void }) {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const form = useApiForm('kms', 'create', { name: '', spec: 'aes-256-gcm' as KmsSpec })
  const create = async ({ name, spec }: { name: string; spec: KmsSpec }) => {
    await createKey(org.id, { userId: me.user?.id ?? '' }, { name, spec })
    showToast(`Key “${name}” created.`)
  }
  return (
    <FormDialog
      title="New managed key"
      submit="Create"
      form={form}
      onClose={onClose}
      onSubmit={create}
      stale={[orgQueries(org.id, 'kms')]}
    >
      <NameField placeholder="receipts" {...form.getInputProps('name')} />
      <Select label="What it does" data={specs} allowDeselect={false} {...form.getInputProps('spec')} />
      <Text size="sm" c="dimmed">
        The key is made in this browser and wrapped to you. Grant it to programs and people on its page.
      </Text>
    </FormDialog>
  )
}
