import { Select, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { checkMeanings } from '../envs/meanings.ts'
import { keyring } from '../keyring.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { type Change, changeOf, namesOfColumn } from './changes.ts'
import { type Column, type Entry, sealedParts } from './columns.ts'
import { LoadingNames } from './loading-names.tsx'
import { submitLabel } from './paste.tsx'
import { Failures, NoteField, Preview, Progressing, wanted } from './preview.tsx'
import { useStoring } from './use-storing.ts'
import { writeSecret } from './write.ts'

interface Props {
  orgId: string
  columns: Column[]
  column: Column
  /** One secret only. */
  name?: string
  onClose: () => void
}

/** Values of one environment into another. They are opened and sealed again in the keyring's worker, and not shown. */
export function CopyColumnDialog({ orgId, columns, column, name, onClose }: Props) {
  const targets = columns.filter(({ own, environmentId }) => own && environmentId !== column.environmentId)
  const [targetId, setTargetId] = useState(targets[0]?.environmentId ?? null)
  const target = targets.find(({ environmentId }) => environmentId === targetId)
  const [excluded, setExcluded] = useState<ReadonlySet<string>>(new Set())
  const [note, setNote] = useState('')
  const { storing, progress, outcome, store } = useStoring(orgId)
  const { changes, error } = useChanges(column, storing ?? target, name)
  const names = wanted(changes, excluded)
  const apply = async () => {
    if (!target?.own) return
    const { environmentId, own } = target
    await checkMeanings([environmentId])
    const from = sealedParts(names.map((one) => column.entries.get(one) as Entry))
    const sealed = await keyring.call('resealSecrets', { from, to: { wrappedDek: own.wrappedDek, environmentId } })
    const ciphertexts = new Map(sealed.map((one) => [one.name, one.ciphertext]))
    const base = new Map(changes.map((change) => [change.name, change.baseVersion]))
    const write = (one: string) =>
      writeSecret({
        orgId,
        environmentId,
        name: one,
        ciphertext: ciphertexts.get(one) as string,
        baseVersion: base.get(one) ?? 0,
        note,
      })
    await store(target, names, write)
  }
  return (
    <FormDialog
      title={name === undefined ? `Copy ${column.name} to another environment` : `Copy ${name} of ${column.name}`}
      submit={submitLabel(names.length, target?.isProtected ?? false)}
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
          data={targets.map((one) => ({ value: one.environmentId, label: one.name }))}
          value={targetId}
          onChange={setTargetId}
          allowDeselect={false}
          data-autofocus
        />
      )}
      <LoadingNames names={names} />
      <ProblemAlert error={error} />
      <Preview changes={changes} excluded={excluded} onExclude={setExcluded} />
      {target?.isProtected && <NoteField note={note} onChange={setNote} />}
      <Progressing {...progress} />
      <Failures outcome={outcome} />
    </FormDialog>
  )
}

/** The worker compares: equal ids mean equal values. Values that cannot be decrypted are left out. */
function useChanges(column: Column, target: Column | undefined, only: string | undefined) {
  const [changes, setChanges] = useState<Change[]>([])
  const [error, setError] = useState<unknown>(null)
  useEffect(() => {
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
