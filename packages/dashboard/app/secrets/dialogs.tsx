import { lazy } from 'react'
import { SecretDrawer } from '../drawer/secret-drawer.tsx'
import { AskDialog } from '../requests/ask.tsx'
import { AddSecretDialog } from './add-secret.tsx'
import { BulkDeleteDialog } from './bulk-delete.tsx'
import type { CellActions } from './cell-actions.ts'
import type { Column } from './columns.ts'
import { ConflictDialog } from './conflict.tsx'
import { CopyColumnDialog } from './copy-column.tsx'
import { DeletedDialog } from './deleted.tsx'
import { DownloadDialog } from './download.tsx'
import type { MatrixDialog } from './matrix-dialog.ts'
import { PasteDialog } from './paste.tsx'
import { TransferDialog } from './transfer-dialog.tsx'
import type { useEdits } from './use-edits.ts'

// This part of the page is loaded when it is first needed.
const RenameSecretDialog = lazy(async () => ({ default: (await import('./rename-secret.tsx')).RenameSecretDialog }))

/** The open dialog of a matrix. */
export function Dialogs(props: {
  orgId: string
  columns: Column[]
  /** The secrets that the matrix shows, in its order. */
  names: string[]
  dialog: MatrixDialog
  edits: ReturnType<typeof useEdits>
  actions: CellActions
  onOpen: (dialog: MatrixDialog) => void
  onClose: () => void
}) {
  const { orgId, columns, names, dialog, edits, actions, onOpen, onClose } = props
  if (dialog.kind === 'add') return <AddSecretDialog {...{ orgId, columns, onClose }} />
  if (dialog.kind === 'deleted') return <DeletedDialog {...{ orgId, columns, onClose }} />
  if (dialog.kind === 'bulk') {
    const { action, names, onDone } = dialog
    const bulk = { orgId, columns, names, onDone, onClose }
    return action === 'delete' ? <BulkDeleteDialog {...bulk} /> : <TransferDialog kind={action} {...bulk} />
  }
  // The column may have changed since the dialog opened, so the current one is used.
  const column = columns.find(({ environmentId }) => environmentId === dialog.column.environmentId)
  if (!column) return null
  if (dialog.kind === 'ask') return <AskDialog {...{ orgId, onClose }} first={[column.environmentId]} />
  if (dialog.kind === 'paste') return <PasteDialog {...{ orgId, column, onClose }} />
  if (dialog.kind === 'copy') return <CopyColumnDialog {...{ orgId, columns, column, onClose }} />
  if (dialog.kind === 'download') return <DownloadDialog {...{ orgId, column, onClose }} />
  const { name } = dialog
  if (dialog.kind === 'rename') return <RenameSecretDialog {...{ orgId, columns, name, onClose }} />
  if (dialog.kind === 'secret')
    return <SecretDrawer {...{ orgId, columns, column, name, names, edits, actions, onOpen, onClose }} />
  const draft = edits.drafts.get(name)?.[column.environmentId]
  if (!draft?.theirs) return null
  const { theirs } = draft
  const thenClose = (then: () => void) => () => {
    then()
    onClose()
  }
  return (
    <ConflictDialog
      {...{ name, draft, theirs, onClose }}
      environmentId={column.environmentId}
      where={column.name}
      onKeepMine={thenClose(() => edits.keepMine(column, name, theirs))}
      onTakeTheirs={thenClose(() => edits.cancel(column, name))}
    />
  )
}
