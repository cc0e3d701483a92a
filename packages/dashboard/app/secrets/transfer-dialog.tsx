import { Select, Stack, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import { Cancelled } from '../prompts.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { showToast } from '../ui/toast.ts'
import type { Change } from './changes.ts'
import { type Column, namesIn } from './columns.ts'
import { openBoth, useCopyChanges } from './copying.ts'
import { LoadingNames } from './loading-names.tsx'
import { Failures, NoteField, Preview, Progressing } from './preview.tsx'
import { Removals } from './removals.tsx'
import { addRemoval, isProposed, type RemovalFrom } from './remove.ts'
import { secretsText } from './secrets-text.ts'
import { transfer } from './transfer.ts'
import { useChoice } from './use-choice.ts'
import { useMarked, useStoring } from './use-storing.ts'

interface Props {
  kind: 'copy' | 'move'
  orgId: string
  columns: Column[]
  /** The selected secrets. */
  names: string[]
  onClose: () => void
  onDone: () => void
}

/**
 * Copies or moves the selected secrets from one environment to another. A move deletes a secret from the first
 * environment once it is stored in the other, and keeps it there for 30 days. After a failure it can be tried again: that
 * sends only what is not done yet, and Undo then covers all attempts.
 */
export function TransferDialog(props: Props) {
  const { kind, columns, onClose } = props
  // The selection changes while secrets are moved, because moved ones leave their row.
  const [names] = useState(props.names)
  const ends = useEnds(columns, names, kind)
  const { source, target, setSourceId } = ends
  // A move takes only what the environment stores itself.
  const movable = useMemo(() => (source ? namesIn(source, names, kind) : names), [source, names, kind])
  const [note, setNote] = useState('')
  const storing = useStoring(props.orgId)
  const { changes: compared, error } = useCopyChanges(source, storing.storing ?? target, movable)
  const [removals, setRemovals] = useState<RemovalFrom[]>([])
  const changes = useProposed(useMarked(compared, target, storing.queued), source, removals)
  const choice = useChoice(changes)
  const present = kind === 'move' ? changes.filter((one) => isThereAlready(one, target)).map(({ name }) => name) : []
  const choose = (set: (id: string | null) => void) => (id: string | null) => {
    set(id)
    choice.forget()
    storing.forget()
  }
  const apply = async () => {
    if (!source || !target?.own) return
    // The only environment with the secrets need not be the only one after some have moved.
    setSourceId(source.environmentId)
    const ends = { source, target: { ...target, own: target.own } }
    const done = await transfer({ ...props, ...storing, ...ends, changes, chosen: choice.names, present, note })
    setRemovals((before) => addRemoval(before, source, done.removal))
    const [failed] = done.failed
    if (failed) throw failed.error
    // The dialog stays open and names the secrets that are now in both environments.
    if (done.removal.failed.length > 0) throw new Cancelled()
    showToast(done.message)
    props.onDone()
  }
  const count = choice.names.length + present.length
  return (
    <FormDialog
      title={`${kind === 'copy' ? 'Copy' : 'Move'} ${secretsText(names.length)}`}
      submit={`${target?.isProtected ? 'Propose' : kind === 'copy' ? 'Copy' : 'Move'} ${secretsText(count)}`}
      size="lg"
      onClose={onClose}
      onSubmit={apply}
      disabled={count === 0}
    >
      <Ends {...ends} choose={choose} />
      <LoadingNames names={choice.names} />
      <ProblemAlert error={error} />
      {source && target && (
        <>
          <Remarks {...{ kind, source, target, names, present }} />
          <Preview
            key={`${source.environmentId} ${target.environmentId}`}
            {...{ changes, choice }}
            where={target.name}
            open={(name) => openBoth(source, target, name)}
          />
        </>
      )}
      {(target?.isProtected || (kind === 'move' && source?.isProtected)) && (
        <NoteField note={note} onChange={setNote} />
      )}
      <Progressing {...storing.progress} />
      <Failures outcome={storing.outcome} />
      <Removals removals={removals} />
    </FormDialog>
  )
}

/** True if the target has this value itself, so that a move only has to delete it from the other environment. */
const isThereAlready = ({ kind, name }: Change, target: Column | undefined) =>
  kind === 'unchanged' && target?.entries.get(name)?.own === true

/** Marks the secrets whose deletion from the source this dialog has already proposed. */
const useProposed = (changes: Change[], source: Column | undefined, removals: RemovalFrom[]) =>
  useMemo(() => {
    const isWaiting = (name: string) => {
      const entry = source?.entries.get(name)
      return entry?.own === true && isProposed(removals, entry.secret)
    }
    return changes.map((one) => (isWaiting(one.name) ? { ...one, kind: 'queued' as const } : one))
  }, [changes, source, removals])

/** The two environments. No target is chosen at first. The source is, if only one has any of the secrets. */
function useEnds(columns: Column[], names: string[], kind: Props['kind']) {
  const [sourceId, setSourceId] = useState<string | null>(null)
  const [targetId, setTargetId] = useState<string | null>(null)
  const sources = columns.filter((column) => namesIn(column, names, kind).length > 0)
  const chosen = sources.find(({ environmentId }) => environmentId === sourceId)
  const source = chosen ?? (sources.length === 1 ? sources[0] : undefined)
  const targets = columns.filter((column) => column !== source)
  const target = targets.find(({ environmentId, own }) => own && environmentId === targetId)
  return { sources, source, targets, target, setSourceId, setTargetId }
}

type Choose = (set: (id: string | null) => void) => (id: string | null) => void

function Ends(props: ReturnType<typeof useEnds> & { choose: Choose }) {
  const { sources, source, targets, target, setSourceId, setTargetId, choose } = props
  return (
    <>
      <Select
        label="From"
        placeholder="Choose an environment"
        data={sources.map(({ environmentId, name }) => ({ value: environmentId, label: name }))}
        value={source?.environmentId ?? null}
        onChange={choose(setSourceId)}
        allowDeselect={false}
      />
      <Select
        label="To"
        placeholder="Choose an environment"
        data={targets.map(({ environmentId, name, own }) => ({
          value: environmentId,
          label: own ? name : `${name} (you hold no key)`,
          disabled: !own,
        }))}
        value={target?.environmentId ?? null}
        onChange={choose(setTargetId)}
        allowDeselect={false}
      />
    </>
  )
}

function Remarks(props: Pick<Props, 'kind' | 'names'> & { source: Column; target: Column; present: string[] }) {
  const { kind, source, target, names, present } = props
  const left = names.filter((name) => !namesIn(source, names, kind).includes(name))
  const inherited = left.filter((name) => source.entries.has(name))
  const missing = left.length - inherited.length
  const remarks = [
    missing > 0 && `${source.name} does not have ${missing === 1 ? '1 of them' : `${missing} of them`}.`,
    inherited.length > 0 &&
      `${inherited.join(', ')} cannot be moved: ${source.name} gets the value from a group or a parent environment.`,
    present.length > 0 &&
      `${target.name} already has the same value of ${present.join(', ')}. The move only deletes it from ${source.name}.`,
    kind === 'move' &&
      target.isProtected &&
      `${target.name} is protected, so the new values wait for approval and also stay in ${source.name}. After the approval, delete them there.`,
    kind === 'move' && source.isProtected && `${source.name} is protected, so the deletion there waits for approval.`,
    kind === 'move' &&
      !target.isProtected &&
      !source.isProtected &&
      `${source.name} keeps the moved secrets with their history for 30 days, under Deleted.`,
  ].filter((text) => text !== false)
  if (remarks.length === 0) return null
  return (
    <Stack gap={2}>
      {remarks.map((remark) => (
        <Text size="sm" key={remark}>
          {remark}
        </Text>
      ))}
    </Stack>
  )
}
