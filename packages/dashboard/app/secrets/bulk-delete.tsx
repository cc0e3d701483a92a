import { Checkbox, Stack, Text } from '@mantine/core'
import { useRef, useState } from 'react'
import { Cancelled } from '../prompts.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { showToast } from '../ui/toast.ts'
import type { Column } from './columns.ts'
import { NoteField } from './preview.tsx'
import type { Secret } from './queries.ts'
import { Removals } from './removals.tsx'
import { addRemoval, isProposed, type RemovalFrom, removeAll } from './remove.ts'
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

/**
 * Deletes the selected secrets from the chosen environments, and keeps them for 30 days. After a failure it can be tried
 * again: that sends only what is not done yet, and Undo then restores the secrets of all attempts.
 */
export function BulkDeleteDialog({ orgId, columns, names: given, onClose, onDone }: Props) {
  // The selection changes while secrets are deleted, because deleted ones leave their row.
  const [names] = useState(given)
  const [into, setInto] = useState<string[]>(columns.length === 1 ? columns.map((one) => one.environmentId) : [])
  const [note, setNote] = useState('')
  const [removals, setRemovals] = useState<RemovalFrom[]>([])
  const hideOffer = useRef(() => {})
  const left = (column: Column) => secretsIn(column, names).filter((secret) => !isProposed(removals, secret))
  const chosen = columns.filter((column) => into.includes(column.environmentId) && left(column).length > 0)
  const count = chosen.reduce((sum, column) => sum + left(column).length, 0)
  const remove = async () => {
    let done = removals.map((one) => ({ ...one, deleted: one.deleted.filter((secret) => !isThere(columns, secret)) }))
    for (const column of chosen) {
      done = addRemoval(done, column, await removeAll(orgId, column, left(column), note))
      setRemovals(done)
    }
    hideOffer.current()
    hideOffer.current = tell(orgId, columns, done)
    // The dialog stays open and names the secrets that were not deleted.
    const failedIn = done.filter(({ failed }) => failed.length > 0).map(({ environmentId }) => environmentId)
    if (chosen.some(({ environmentId }) => failedIn.includes(environmentId))) throw new Cancelled()
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

/** Returns true if an environment has the secret. A deleted secret is there again after Undo. */
const isThere = (columns: Column[], { id, environmentId, name }: Secret) =>
  columns.find((column) => column.environmentId === environmentId)?.entries.get(name)?.secret.id === id

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

/** Tells the result of all attempts. Returns a function that hides the offer to undo them. */
function tell(orgId: string, columns: Column[], done: RemovalFrom[]): () => void {
  const deleted = done.flatMap((one) => one.deleted)
  const queued = done.flatMap((one) => one.queued)
  const waiting = queued.length > 0 ? [`The deletion of ${secretsText(queued.length)} waits for approval.`] : []
  const nameOf = (id: string) => columns.find(({ environmentId }) => environmentId === id)?.name ?? ''
  if (deleted.length > 0)
    return offerRestore([`Deleted ${secretsText(deleted.length)}.`, ...waiting].join(' '), orgId, deleted, nameOf)
  if (waiting.length > 0) showToast(waiting.join(' '))
  return () => {}
}
