import { Select, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import { FormDialog } from '../ui/form-dialog.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import type { Column } from './columns.ts'
import { openBoth, resealFor, useCopyChanges } from './copying.ts'
import { LoadingNames } from './loading-names.tsx'
import { submitLabel } from './paste.tsx'
import { Failures, NoteField, Preview, Progressing } from './preview.tsx'
import { useChoice } from './use-choice.ts'
import { useMarked, useStoring } from './use-storing.ts'
import { writeSecret } from './write.ts'

interface Props {
  orgId: string
  columns: Column[]
  column: Column
  /** If set, only this secret is copied. */
  name?: string
  onClose: () => void
}

/**
 * Copies values from one environment into another. No target is selected at first. Existing values are replaced only if
 * the person chooses them. The keyring's worker decrypts and seals the values, so the page shows none unless asked.
 */
export function CopyColumnDialog({ orgId, columns, column, name, onClose }: Props) {
  const targets = columns.filter(({ own, environmentId }) => own && environmentId !== column.environmentId)
  const [targetId, setTargetId] = useState<string | null>(null)
  const target = targets.find(({ environmentId }) => environmentId === targetId)
  const [note, setNote] = useState('')
  const { storing, progress, outcome, queued, store, forget } = useStoring(orgId)
  const only = useMemo(() => (name === undefined ? undefined : [name]), [name])
  const { changes: compared, error } = useCopyChanges(column, storing ?? target, only)
  const changes = useMarked(compared, target, queued)
  const choice = useChoice(changes)
  const { names } = choice
  const apply = async () => {
    if (!target?.own) return
    const base = new Map(changes.map((change) => [change.name, change.baseVersion]))
    const { environmentId, own } = target
    const sealed = await resealFor(column, { ...target, own }, names)
    const write = (one: string) => {
      const [ciphertext = '', baseVersion = 0] = [sealed.get(one), base.get(one)]
      return writeSecret({ orgId, environmentId, name: one, ciphertext, wrappedDek: own.wrappedDek, baseVersion, note })
    }
    await store(target, names, write, `copied to ${target.name}`)
  }
  const chooseTarget = (id: string | null) => {
    setTargetId(id)
    choice.forget()
    forget()
  }
  return (
    <FormDialog
      title={name === undefined ? `Copy ${column.name} to another environment` : `Copy ${name} of ${column.name}`}
      submit={submitLabel('Copy', names.length, target?.isProtected ?? false)}
      size="lg"
      onClose={onClose}
      onSubmit={apply}
      disabled={names.length === 0}
    >
      {targets.length === 0 ? (
        <Text size="sm">There is no other environment here whose key you hold.</Text>
      ) : (
        <Select
          label="Into"
          placeholder="Choose an environment"
          data={targets.map((one) => ({ value: one.environmentId, label: one.name }))}
          value={targetId}
          onChange={chooseTarget}
          allowDeselect={false}
          data-autofocus
        />
      )}
      <LoadingNames names={names} />
      <ProblemAlert error={error} />
      {target && (
        <Preview
          key={target.environmentId}
          {...{ changes, choice }}
          where={target.name}
          open={(one) => openBoth(column, target, one)}
        />
      )}
      {target?.isProtected && <NoteField note={note} onChange={setNote} />}
      <Progressing {...progress} />
      <Failures outcome={outcome} />
    </FormDialog>
  )
}
