import { NameAndSlug } from '../form/name-and-slug.tsx'
import { useApiForm } from '../form/use-api-form.ts'
import type { Stale } from '../queries.ts'
import { FormDialog } from '../ui/form-dialog.tsx'

/** Creates an object that has a name and a slug. */
export function CreateDialog(props: {
  title: string
  placeholder: string
  onCreate: (body: { name: string; slug: string }) => Promise<unknown>
  stale: readonly Stale[]
  onClose: () => void
}) {
  const { title, placeholder, onCreate, stale, onClose } = props
  // Applications, groups and environments share the same rules for names and slugs.
  const form = useApiForm('apps', 'create', { name: '', slug: '' })
  return (
    <FormDialog title={title} submit="Create" form={form} onClose={onClose} onSubmit={onCreate} stale={stale}>
      <NameAndSlug form={form} placeholder={placeholder} />
    </FormDialog>
  )
}
