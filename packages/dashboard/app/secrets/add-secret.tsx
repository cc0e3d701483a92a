import { Checkbox, Stack, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { clearedMessage, usePlaintext } from '../keyring.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { showToast } from '../ui/toast.ts'
import { applyAll, type Outcome } from './changes.ts'
import type { Column } from './columns.ts'
import { LoadingNames } from './loading-names.tsx'
import { Failures, NoteField } from './preview.tsx'
import { newNameProblem } from './secret-name.ts'
import { rereadAfter, sealAndWrite } from './write.ts'

/** Adds a secret to one or several environments at once. */
export function AddSecretDialog({
  orgId,
  columns,
  onClose,
}: {
  orgId: string
  columns: Column[]
  onClose: () => void
}) {
  const writable = columns.filter(({ own }) => own)
  const [name, setName] = useState('')
  const [value, setValue, wasCleared] = usePlaintext('')
  const [note, setNote] = useState('')
  const [into, setInto] = useState<string[]>(writable.slice(0, 1).map(({ environmentId }) => environmentId))
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  const chosen = writable.filter(({ environmentId }) => into.includes(environmentId))
  const problem = newNameProblem(name, chosen)
  const add = async () => {
    setOutcome(null)
    const result = await writeInto(chosen, { orgId, name, value, note })
    if (result.failed.length > 0) {
      const failed = result.failed.map((one) => ({ ...one, name: nameIn(chosen, one.name) }))
      if (chosen.length > 1) setOutcome({ ...result, failed })
      // Only the failed environments stay selected. In the others the secret is stored or waits for approval.
      setInto(result.failed.map((one) => one.name))
      await Promise.all(result.failed.map((one) => rereadAfter([one.error], orgId, one.name)))
      throw result.failed[0]?.error
    }
    showToast(addedText(name, chosen, result))
  }
  return (
    <FormDialog
      title="Add a secret"
      submit={chosen.some(({ isProtected }) => isProtected) ? 'Propose' : 'Add'}
      onClose={onClose}
      onSubmit={add}
      disabled={name === '' || problem !== null || chosen.length === 0}
    >
      <TextInput
        label="Name"
        placeholder="DATABASE_URL"
        classNames={{ input: 'mono' }}
        value={name}
        error={problem}
        onChange={(event) => setName(event.currentTarget.value.trim())}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
      />
      <Textarea
        label="Value"
        classNames={{ input: 'mono' }}
        autosize
        minRows={2}
        maxRows={10}
        value={value}
        error={wasCleared && clearedMessage}
        onChange={(event) => setValue(event.currentTarget.value)}
        autoComplete="off"
        spellCheck={false}
      />
      <LoadingNames names={[name]} />
      {writable.length > 1 && (
        <Checkbox.Group label="In" value={into} onChange={setInto}>
          <Stack gap={6} mt={6}>
            {writable.map((column) => (
              <Checkbox key={column.environmentId} value={column.environmentId} label={column.name} size="xs" />
            ))}
          </Stack>
        </Checkbox.Group>
      )}
      {chosen.some(({ isProtected }) => isProtected) && <NoteField note={note} onChange={setNote} />}
      <Failures outcome={outcome} />
    </FormDialog>
  )
}

interface NewSecret {
  orgId: string
  name: string
  value: string
  note: string
}

/**
 * Writes the secret into the chosen environments. The outcome lists environment IDs as names, because a branch and an
 * environment may have the same name.
 */
function writeInto(chosen: Column[], secret: NewSecret): Promise<Outcome> {
  const write = (environmentId: string) => {
    const own = chosen.find((column) => column.environmentId === environmentId)?.own
    return sealAndWrite({ ...secret, environmentId, baseVersion: 0, wrappedDek: own?.wrappedDek ?? '' })
  }
  return applyAll(
    chosen.map(({ environmentId }) => environmentId),
    write,
    () => {},
  )
}

const nameIn = (columns: Column[], id: string): string =>
  columns.find(({ environmentId }) => environmentId === id)?.name ?? id

function addedText(name: string, chosen: Column[], { written, queued }: Outcome): string {
  const placesOf = (ids: Iterable<string>) => [...ids].map((id) => nameIn(chosen, id)).join(', ')
  const stored = written.size > 0 ? [`${name} stored in ${placesOf(written.keys())}.`] : []
  const waiting = queued.length > 0 ? [`${name} waits for approval in ${placesOf(queued)}.`] : []
  return [...stored, ...waiting].join(' ')
}
