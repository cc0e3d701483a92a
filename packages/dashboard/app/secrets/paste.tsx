import { Alert, List, Text, Textarea } from '@mantine/core'
import { limits } from '@skerry/contract/limits'
import { type DotenvFile, readDotenv } from '@skerry/sdk/dotenv'
import { useEffect, useMemo, useState } from 'react'
import { clearedMessage, usePlaintext } from '../keyring.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { showToast } from '../ui/toast.ts'
import { type Change, changeOf } from './changes.ts'
import type { Column, Entry } from './columns.ts'
import { LoadingNames } from './loading-names.tsx'
import { Failures, NoteField, outcomeMessage, Preview, Progressing } from './preview.tsx'
import { useChoice } from './use-choice.ts'
import { openCell, openCells } from './use-revealed.ts'
import { useMarked, useStoring } from './use-storing.ts'
import { proposeTogether, sealAndWrite } from './write.ts'

interface Props {
  orgId: string
  column: Column
  /** The text of a file that was dropped or chosen. */
  text?: string
  onClose: () => void
}

const nothing: DotenvFile = { values: new Map(), stored: new Map(), problems: [], warnings: [], differences: [] }

/** Pastes a `.env` file into an environment. It shows what would change before anything is stored. */
export function PasteDialog({ orgId, column, text: given = '', onClose }: Props) {
  const [text, setText, wasCleared] = usePlaintext('')
  const [file, setFile] = usePlaintext(nothing)
  useEffect(() => {
    if (given === '') return
    setText(given)
    setFile(readDotenv(given))
  }, [given, setText, setFile])
  const { storing, progress, outcome, queued, store, forget } = useStoring(orgId)
  const { changes: compared, error } = useChanges(storing ?? column, file)
  const changes = useMarked(compared, column, queued)
  const choice = useChoice(changes)
  const { names } = choice
  const [note, setNote] = useState('')
  const apply = async () => {
    const base = new Map(changes.map((change) => [change.name, change.baseVersion]))
    const { environmentId } = column
    const shared = { orgId, environmentId, note, wrappedDek: column.own?.wrappedDek ?? '' }
    const pastedOf = (name: string) => ({ value: file.stored.get(name) ?? '', baseVersion: base.get(name) ?? 0 })
    if (column.isProtected && names.length <= limits.changeGroupMax) {
      const counts = await proposeTogether({ ...shared, secrets: names.map((name) => ({ name, ...pastedOf(name) })) })
      showToast(outcomeMessage(counts, `stored in ${column.name}`))
      return
    }
    const write = (name: string) => sealAndWrite({ ...shared, name, ...pastedOf(name) })
    await store(column, names, write, `stored in ${column.name}`)
  }
  const openBoth = async (name: string) => {
    const before = await openCell({ column, entry: column.entries.get(name) as Entry })
    return { before, after: file.stored.get(name) ?? '' }
  }
  return (
    <FormDialog
      title={`Paste a .env file into ${column.name}`}
      submit={submitLabel('Store', names.length, column.isProtected)}
      size="lg"
      onClose={onClose}
      onSubmit={apply}
      disabled={names.length === 0 || file.problems.length > 0}
    >
      <Textarea
        label="Text of the file"
        description="It is read here, encrypted here, and only then sent."
        placeholder={'DATABASE_URL=postgres://…\nAPI_KEY="…"'}
        classNames={{ input: 'mono' }}
        rows={8}
        value={text}
        error={wasCleared && clearedMessage}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setFile(readDotenv(event.currentTarget.value))
          forget()
        }}
        spellCheck={false}
        autoComplete="off"
        data-autofocus
      />
      <Remarks title="Fix these lines to continue" color="red" remarks={file.problems} />
      <Remarks title="Look at these lines" color="orange" remarks={[...file.warnings, ...file.differences]} />
      <LoadingNames names={names} />
      <ProblemAlert error={error} />
      <Preview {...{ changes, choice }} where={column.name} open={openBoth} />
      {column.isProtected && changes.length > 0 && <NoteField note={note} onChange={setNote} />}
      <Progressing {...progress} />
      <Failures outcome={outcome} />
    </FormDialog>
  )
}

export const submitLabel = (verb: 'Store' | 'Copy', count: number, isProtected: boolean) =>
  `${isProtected ? 'Propose' : verb} ${count === 1 ? '1 secret' : `${count} secrets`}`

function Remarks({ title, color, remarks }: { title: string; color: string; remarks: DotenvFile['problems'] }) {
  if (remarks.length === 0) return null
  return (
    <Alert color={color} variant="light" title={title} role="alert">
      <List size="sm">
        {remarks.slice(0, 12).map(({ line, message }) => (
          <List.Item key={`${line} ${message}`}>
            Line {line}: {message}
          </List.Item>
        ))}
      </List>
      {remarks.length > 12 && <Text size="xs">and {remarks.length - 12} more</Text>}
    </Alert>
  )
}

/** Compares the file with the column's decrypted values, in the page. */
function useChanges(column: Column, file: DotenvFile) {
  const [current, setCurrent] = usePlaintext<ReadonlyMap<string, string> | null>(null)
  const [error, setError] = useState<unknown>(null)
  const some = file.values.size > 0
  useEffect(() => {
    if (!some) return
    let ended = false
    const cells = [...column.entries.values()].map((entry) => ({ column, entry }))
    openCells(cells).then(
      (opened) => {
        if (ended) return
        const values = opened.flatMap(({ cell, shown }) =>
          'value' in shown ? [[cell.entry.secret.name, shown.value] as const] : [],
        )
        setCurrent(new Map(values))
      },
      (thrown) => ended || setError(thrown),
    )
    return () => {
      ended = true
    }
  }, [column, some, setCurrent])
  const changes = useMemo((): Change[] => {
    if (!current) return []
    const change = (name: string, value: string) =>
      changeOf(name, column.entries.get(name), current.get(name) === value)
    return [...file.stored].map(([name, value]) => change(name, value))
  }, [column, file, current])
  return { changes, error }
}
