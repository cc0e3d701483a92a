import { NameField } from '../form/name-field.tsx'
import { useApiForm } from '../form/use-api-form.ts'
import type { Stale } from '../queries.ts'
import { FormDialog } from './form-dialog.tsx'

/**
 * Renames any object whose `update` endpoint accepts a name.
 *
 * @example <RenameDialog name={app.name} description="The slug stays as it is." onRename={rename} stale={stale} onClose={onClose} />
 */
export function RenameDialog(props: {
  name: string
  description?: string
  onRename: (name: string) => Promise<unknown>
  stale: readonly Stale[]
  onClose: () => void
}) {
  const { name, description, onRename, stale, onClose } = props
  // All names follow the same rules.
  const form = useApiForm('apps', 'update', { name })
  return (
    <FormDialog
      title={`Rename ${name}`}
      submit="Rename"
      form={form}
      onClose={onClose}
      onSubmit={(body) => onRename(body.name)}
      stale={stale}
    >
      <NameField description={description} {...form.getInputProps('name')} />
    </FormDialog>
  )
}
