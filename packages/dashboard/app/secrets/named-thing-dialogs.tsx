import { TextInput } from '@mantine/core'
import { NameAndSlug } from '../form/name-and-slug.tsx'
import { useApiForm } from '../form/use-api-form.ts'
import { FormDialog } from '../ui/form-dialog.tsx'

/** Creates something that has a name and a slug. */
export function CreateDialog(props: {
  title: string
  placeholder: string
  onCreate: (body: { name: string; slug: string }) => Promise<unknown>
  onClose: () => void
}) {
  const { title, placeholder, onCreate, onClose } = props
  // Applications, groups and environments have names and slugs of the same form.
  const form = useApiForm('apps', 'create', { name: '', slug: '' })
  return (
    <FormDialog title={title} submit="Create" form={form} onClose={onClose} onSubmit={onCreate}>
      <NameAndSlug form={form} placeholder={placeholder} />
    </FormDialog>
  )
}

/** Renames anything whose `update` takes a name. */
export function RenameDialog(props: {
  title: string
  name: string
  onRename: (name: string) => Promise<unknown>
  onClose: () => void
}) {
  const { title, onRename, onClose } = props
  const form = useApiForm('apps', 'update', { name: props.name })
  return (
    <FormDialog title={title} submit="Rename" form={form} onClose={onClose} onSubmit={({ name }) => onRename(name)}>
      <TextInput
        label="Name"
        description="The slug stays as it is."
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('name')}
      />
    </FormDialog>
  )
}
