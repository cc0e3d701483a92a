import { Checkbox, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { Cancelled } from '../prompts.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { showToast } from '../ui/toast.ts'
import type { Column } from './columns.ts'
import { NoteField } from './preview.tsx'
import { Removals } from './removals.tsx'
import { type Removal, removeAll } from './remove.ts'
import { secretsText } from './secrets-text.ts'
import { offerRestore } from './undo-deletion.ts'

interface Props {
  orgId: string
  columns: Column[]
  /** The selected secrets. */
  names: string[]
  onClose: () => void
  onDone: () => void
}

type Removed = Removal & { where: string }

/** Deletes the selected secrets from the chosen environments. It asks once, and keeps the secrets for 30 days. */
export function BulkDeleteDialog({ orgId, columns, names: given, onClose, onDone }: Props) {
  // The selection changes while secrets are deleted, because deleted ones leave their row.
  const [names] = useState(given)
  const [into, setInto] = useState<string[]>(columns.length === 1 ? columns.map((one) => one.environmentId) : [])
  const [note, setNote] = useState('')
  const [removals, setRemovals] = useState<Removed[]>([])
  const chosen = columns.filter((column) => into.includes(column.environmentId) && secretsIn(column, names).length > 0)
  const count = chosen.reduce((sum, column) => sum + secretsIn(column, names).length, 0)
  const remove = async () => {
    const done: Removed[] = []
    for (const column of chosen) {
      done.push({ where: column.name, ...(await removeAll(orgId, column, secretsIn(column, names), note)) })
      setRemovals([...done])
    }
    tell(orgId, columns, done)
    // The dialog stays open and names the secrets that were not deleted.
    if (done.some(({ failed }) => failed.length > 0)) throw new Cancelled()
    onDone()
  }
  return (
    <FormDialog
      title={`Delete ${secretsText(names.length)}`}
      submit={`${labelOf(chosen)} ${secretsText(count)}`}
      onClose={onClose}
      onSubmit={remove}
      disabled={count === 0}
    >
      <Text size="sm">
        Programs that start after the deletion do not get them. You can restore them with their history for 30 days.
      </Text>
      <Checkbox.Group label="From" value={into} onChange={setInto}>
        <Stack gap={6} mt={6}>
          {columns.map((column) => (
            <Checkbox
              key={column.environmentId}
              value={column.environmentId}
              label={column.name}
              description={countText(column, names)}
              disabled={secretsIn(column, names).length === 0}
              size="xs"
            />
          ))}
        </Stack>
      </Checkbox.Group>
      {chosen.some(({ isProtected }) => isProtected) && <NoteField note={note} onChange={setNote} />}
      <Removals removals={removals} />
    </FormDialog>
  )
}

/** The selected secrets that the environment itself has. */
const secretsIn = ({ own, entries }: Column, names: string[]) =>
  own === null
    ? []
    : names.flatMap((name) => {
        const entry = entries.get(name)
        return entry?.own ? [entry.secret] : []
      })

function countText(column: Column, names: string[]): string {
  if (!column.own) return column.loading ? 'Loading…' : 'You do not have its key.'
  const count = secretsIn(column, names).length
  const inherited = names.filter((name) => column.entries.get(name)?.own === false).length
  const own = `Has ${count} of ${names.length}.`
  return inherited === 0 ? own : `${own} ${inherited} more come from a group or a parent and are not deleted.`
}

function labelOf(chosen: Column[]): string {
  const areProtected = chosen.map(({ isProtected }) => isProtected)
  if (!areProtected.includes(true)) return 'Delete'
  return areProtected.includes(false) ? 'Delete or propose to delete' : 'Propose to delete'
}

function tell(orgId: string, columns: Column[], done: Removed[]): void {
  const deleted = done.flatMap((one) => one.deleted)
  const queued = done.flatMap((one) => one.queued)
  const waiting = queued.length > 0 ? [`The deletion of ${secretsText(queued.length)} waits for approval.`] : []
  const nameOf = (id: string) => columns.find(({ environmentId }) => environmentId === id)?.name ?? ''
  if (deleted.length > 0)
    offerRestore([`Deleted ${secretsText(deleted.length)}.`, ...waiting].join(' '), orgId, deleted, nameOf)
  else if (waiting.length > 0) showToast(waiting.join(' '))
}
