import { Checkbox, Stack, Textarea, TextInput } from '@mantine/core'
import { secretNamePattern } from '@skerry/contract/patterns'
import { useState } from 'react'
import { clearedMessage, usePlaintext } from '../keyring.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { showToast } from '../ui/toast.ts'
import { applyAll, type Outcome } from './changes.ts'
import type { Column } from './columns.ts'
import { LoadingNames } from './loading-names.tsx'
import { Failures, NoteField } from './preview.tsx'
import { rereadAfter, sealAndWrite } from './write.ts'

const validName = new RegExp(secretNamePattern)

/** A new secret, in one environment or several at once. */
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
  const taken = chosen.filter(({ entries }) => entries.get(name)?.own)
  const problem =
    name !== '' && !validName.test(name)
      ? 'Letters, digits and _, at most 255; it does not begin with a digit.'
      : taken.length > 0
        ? `Is there already in ${taken.map((one) => one.name).join(', ')}.`
        : null
  const add = async () => {
    setOutcome(null)
    // By id: a branch may be called what its environment is called.
    const byId = new Map(chosen.map((column) => [column.environmentId, column]))
    const write = (environmentId: string) => {
      const own = byId.get(environmentId)?.own
      return sealAndWrite({
        orgId,
        environmentId,
        name,
        value,
        note,
        baseVersion: 0,
        wrappedDek: own?.wrappedDek ?? '',
      })
    }
    const result = await applyAll([...byId.keys()], write, () => {})
    if (result.failed.length > 0) {
      const failed = result.failed.map((one) => ({ ...one, name: byId.get(one.name)?.name ?? one.name }))
      if (byId.size > 1) setOutcome({ ...result, failed })
      // Only these environments are tried again: in the others, the secret is stored or waits for approval.
      setInto(result.failed.map((one) => one.name))
      await Promise.all(result.failed.map((one) => rereadAfter([one.error], orgId, one.name)))
      throw result.failed[0]?.error
    }
    const placesOf = (ids: Iterable<string>) => [...ids].map((id) => byId.get(id)?.name ?? id).join(', ')
    const stored = result.written.size > 0 ? [`${name} stored in ${placesOf(result.written.keys())}.`] : []
    const waiting = result.queued.length > 0 ? [`${name} waits for approval in ${placesOf(result.queued)}.`] : []
    showToast([...stored, ...waiting].join(' '))
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
