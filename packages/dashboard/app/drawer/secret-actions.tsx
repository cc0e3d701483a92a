import { Button, Group } from '@mantine/core'
import { useState } from 'react'
import type { Entry } from '../secrets/columns.ts'
import { CopyColumnDialog } from '../secrets/copy-column.tsx'
import { NoteField } from '../secrets/preview.tsx'
import { offerRestore } from '../secrets/undo-deletion.ts'
import { deleteSecret, orReread } from '../secrets/write.ts'
import { showToast } from '../ui/toast.ts'
import { useConfirm } from '../ui/use-confirm.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import type { Cell } from './cell.ts'

/** Copies the secret to another environment, renames it, or deletes it. */
export function SecretActions({ orgId, columns, column, entry, onOpen, onClose }: Cell & { entry: Entry }) {
  const [note, setNote] = useState('')
  const { name } = entry.secret
  const copying = useDialog()
  const remove = async () => {
    const { environmentId } = column
    const outcome = await orReread(deleteSecret(orgId, environmentId, entry.secret, note), orgId, environmentId)
    if (outcome === 'queued') showToast(`The deletion of ${name} waits for approval.`)
    else offerRestore(`Deleted ${name} from ${column.name}.`, orgId, [entry.secret], () => column.name)
    onClose()
  }
  const verb = column.isProtected ? 'Propose to delete' : 'Delete'
  const deleting = useConfirm(() => ({
    title: `${verb} ${name} from ${column.name}?`,
    text: (
      <>
        Programs that start after the deletion do not get it. You can restore it with its history for 30 days.
        {column.isProtected && <NoteField note={note} onChange={setNote} />}
      </>
    ),
    confirm: verb,
    onConfirm: remove,
  }))
  return (
    <Group gap="xs" mb="xl">
      <Button variant="default" onClick={() => copying.open()}>
        Copy to another environment…
      </Button>
      {entry.own && (
        <Button variant="default" onClick={() => onOpen({ kind: 'rename', column, name })}>
          Rename…
        </Button>
      )}
      {entry.own && (
        <Button variant="subtle" color="red" onClick={() => deleting.open()}>
          {verb}…
        </Button>
      )}
      {copying.show((close) => (
        <CopyColumnDialog {...{ orgId, columns, column, name }} onClose={close} />
      ))}
      {deleting.dialog}
    </Group>
  )
}
