import { AddSecretDialog } from './add-secret.tsx'
import type { Asking } from './asking.ts'
import type { Column } from './columns.ts'
import { ConflictDialog } from './conflict.tsx'
import { CopyColumnDialog } from './copy-column.tsx'
import { PasteDialog } from './paste.tsx'
import { SecretDrawer } from './secret-drawer.tsx'
import type { useEdits } from './use-edits.ts'

/** Whatever a matrix asks the person about. */
export function Dialogs(props: {
  orgId: string
  columns: Column[]
  asking: Asking
  edits: ReturnType<typeof useEdits>
  onClose: () => void
}) {
  const { orgId, columns, asking, edits, onClose } = props
  if (asking.kind === 'add') return <AddSecretDialog {...{ orgId, columns, onClose }} />
  // As it is by now: what a dialog was opened with may have changed since.
  const column = columns.find(({ environmentId }) => environmentId === asking.column.environmentId)
  if (!column) return null
  if (asking.kind === 'paste') return <PasteDialog {...{ orgId, column, onClose }} />
  if (asking.kind === 'copy') return <CopyColumnDialog {...{ orgId, columns, column, onClose }} />
  const { name } = asking
  if (asking.kind === 'secret') return <SecretDrawer {...{ orgId, columns, column, name, onClose }} />
  const draft = edits.drafts.get(name)?.[column.environmentId]
  if (!draft?.theirs) return null
  const { theirs } = draft
  const settle = (then: () => void) => () => {
    then()
    onClose()
  }
  return (
    <ConflictDialog
      {...{ name, draft, theirs, onClose }}
      where={column.name}
      onKeepMine={settle(() => edits.keepMine(column, name, theirs))}
      onTakeTheirs={settle(() => edits.cancel(column, name))}
    />
  )
}
