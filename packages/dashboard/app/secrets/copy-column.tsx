import { Select, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { checkMeanings } from '../envs/meanings.ts'
import { keyring } from '../keyring.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { type Change, changeOf, namesOfColumn } from './changes.ts'
import { type Column, type Entry, type Layer, sealedParts } from './columns.ts'
import type { BothValues } from './compared-values.tsx'
import { LoadingNames } from './loading-names.tsx'
import { submitLabel } from './paste.tsx'
import { Failures, NoteField, Preview, Progressing } from './preview.tsx'
import { useChoice } from './use-choice.ts'
import { openCell } from './use-revealed.ts'
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
  const { changes: compared, error } = useChanges(column, storing ?? target, name)
  const changes = useMarked(compared, target, queued)
  const choice = useChoice(changes)
  const { names } = choice
  const apply = async () => {
    if (!target?.own) return
    const base = new Map(changes.map((change) => [change.name, change.baseVersion]))
    const write = await writerOf(orgId, column, { ...target, own: target.own }, names, note)
    await store(target, names, (one) => write(one, base.get(one) ?? 0), `copied to ${target.name}`)
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

/** Seals all values for the target, or fails. Returns a function that writes one of them. */
async function writerOf(
  orgId: string,
  column: Column,
  { environmentId, own: { wrappedDek } }: Column & { own: Layer },
  names: string[],
  note: string,
) {
  await checkMeanings([environmentId])
  const from = sealedParts(names.map((name) => column.entries.get(name) as Entry))
  const sealed = await keyring.call('resealSecrets', { from, to: { wrappedDek, environmentId } })
  const ciphertexts = new Map(sealed.map((one) => [one.name, one.ciphertext]))
  return (name: string, baseVersion: number) => {
    const ciphertext = ciphertexts.get(name) as string
    return writeSecret({ orgId, environmentId, name, ciphertext, wrappedDek, baseVersion, note })
  }
}

async function openBoth(column: Column, target: Column, name: string): Promise<BothValues> {
  const open = (at: Column) => openCell({ column: at, entry: at.entries.get(name) as Entry })
  const [before, after] = await Promise.all([open(target), open(column)])
  return { before, after }
}

/**
 * Returns the changes. The worker compares values: equal IDs mean equal values. Values that cannot be decrypted are
 * left out.
 */
function useChanges(column: Column, target: Column | undefined, only: string | undefined) {
  const [changes, setChanges] = useState<Change[]>([])
  const [error, setError] = useState<unknown>(null)
  useEffect(() => {
    setChanges([])
    if (!target) return
    let ended = false
    const names = only === undefined ? namesOfColumn(column) : [only]
    Promise.all([valueIdsOf(column, names), valueIdsOf(target, names)]).then(
      ([from, to]) => {
        if (ended) return
        const open = names.filter((name) => (from.get(name) ?? -1) >= 0)
        setChanges(open.map((name) => changeOf(name, target.entries.get(name), from.get(name) === to.get(name))))
      },
      (thrown) => ended || setError(thrown),
    )
    return () => {
      ended = true
    }
  }, [column, target, only])
  return { changes, error }
}

async function valueIdsOf({ entries }: Column, names: string[]): Promise<ReadonlyMap<string, number>> {
  const parts = sealedParts(names.flatMap((name) => entries.get(name) ?? []))
  const identified = parts.map(async (part) => {
    const valueIds = await keyring.call('identifyValues', part)
    return part.secrets.map(({ name }, i) => [name, valueIds[i] as number] as const)
  })
  return new Map((await Promise.all(identified)).flat())
}
