import type { Stale } from '../queries.ts'
import { RenameDialog } from './rename-dialog.tsx'
import { useConfirm } from './use-confirm.tsx'
import { useDialog } from './use-dialog.ts'

/** The dialogs that rename and delete an object whose slug never changes. To delete it, a person types the slug. */
export function useRenameAndDelete(props: {
  object: { name: string; slug: string }
  onRename: (name: string) => Promise<unknown>
  question: { title: string; text: string }
  onDelete: () => Promise<unknown>
  stale: readonly Stale[]
}) {
  const { object, onRename, question, onDelete, stale } = props
  const { open, show } = useDialog()
  const dialog = show((onClose) => (
    <RenameDialog
      name={object.name}
      description="The slug stays as it is."
      onRename={onRename}
      stale={stale}
      onClose={onClose}
    />
  ))
  const deleting = useConfirm(() => ({
    ...question,
    confirm: 'Delete',
    typed: object.slug,
    onConfirm: onDelete,
    stale,
  }))
  return { renaming: { open, dialog }, deleting }
}
