import { Alert, Button, FileButton, Group, List, Select, Text, Textarea } from '@mantine/core'
import { limits } from '@skerry/contract/limits'
import type { DotenvFile } from '@skerry/sdk/dotenv'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { clearedMessage, usePlaintext } from '../keyring.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { readSecretsFile } from '../ui/read-text-file.ts'
import { showToast } from '../ui/toast.ts'
import { type Change, changeOf } from './changes.ts'
import type { Column, Entry } from './columns.ts'
import { LoadingNames } from './loading-names.tsx'
import { Failures, NoteField, outcomeMessage, Preview, Progressing } from './preview.tsx'
import { readSecrets } from './read-secrets.ts'
import { secretsText } from './secrets-text.ts'
import { useChoice } from './use-choice.ts'
import { openCell, openCells } from './use-revealed.ts'
import { useMarked, useStoring } from './use-storing.ts'
import { proposeTogether, sealAndWrite } from './write.ts'

interface Props {
  orgId: string
  /** The environment to store into. Without it, the person chooses one of `columns`. */
  column?: Column
  columns?: Column[]
  /** The text of a file that was dropped or chosen. */
  text?: string
  onClose: () => void
}

const nothing: DotenvFile = { values: new Map(), stored: new Map(), problems: [], warnings: [], differences: [] }

/** Imports a `.env` or JSON file into an environment. It shows what would change before anything is stored. */
export function PasteDialog({ orgId, column: fixed, columns = [], text: given = '', onClose }: Props) {
  const [chosenId, setChosenId] = useState<string | null>(null)
  const column = fixed ?? columns.find(({ environmentId }) => environmentId === chosenId)
  const { text, file, wasCleared, read } = useFile(given)
  const { storing, progress, outcome, queued, store, forget } = useStoring(orgId)
  const { changes: compared, error } = useChanges(storing ?? column, file)
  const changes = useMarked(compared, column, queued)
  const choice = useChoice(changes)
  const { names } = choice
  const [note, setNote] = useState('')
  const apply = async () => {
    if (!column) return
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
  const openBoth = async (column: Column, name: string) => {
    const before = await openCell({ column, entry: column.entries.get(name) as Entry })
    return { before, after: file.stored.get(name) ?? '' }
  }
  const take = (taken: string) => {
    read(taken)
    forget()
  }
  const chooseTarget = (id: string) => {
    setChosenId(id)
    choice.forget()
    forget()
  }
  return (
    <FormDialog
      title={fixed ? `Import secrets into ${fixed.name}` : 'Import secrets'}
      submit={submitLabel('Store', names.length, column?.isProtected ?? false)}
      size="lg"
      onClose={onClose}
      onSubmit={apply}
      disabled={names.length === 0 || file.problems.length > 0}
    >
      {!fixed && <Target {...{ columns, chosenId }} onChoose={chooseTarget} />}
      <FileText {...{ text, file, wasCleared }} onText={take} isFocused={fixed !== undefined} />
      <LoadingNames names={names} />
      <ProblemAlert error={error} />
      {column && (
        <Preview
          key={column.environmentId}
          {...{ changes, choice }}
          where={column.name}
          open={(name) => openBoth(column, name)}
        />
      )}
      {column?.isProtected && changes.length > 0 && <NoteField note={note} onChange={setNote} />}
      <Progressing {...progress} />
      <Failures outcome={outcome} />
    </FormDialog>
  )
}

/** The text of the file, and what it says. Locking the keyring clears both. */
function useFile(given: string) {
  const [text, setText, wasCleared] = usePlaintext('')
  const [file, setFile] = usePlaintext(nothing)
  const read = useCallback(
    (text: string) => {
      setText(text)
      setFile(readSecrets(text))
    },
    [setText, setFile],
  )
  useEffect(() => {
    if (given !== '') read(given)
  }, [given, read])
  return { text, file, wasCleared, read }
}

/** The text of the file, pasted or chosen, and the lines that the person should look at. */
function FileText(props: {
  text: string
  file: DotenvFile
  wasCleared: boolean
  isFocused: boolean
  onText: (text: string) => void
}) {
  const { text, file, wasCleared, isFocused, onText } = props
  return (
    <>
      <Textarea
        label="Text of the file"
        description="A .env file or a JSON object. This browser encrypts the values before it sends them."
        placeholder={'DATABASE_URL=postgres://…\nAPI_KEY="…"'}
        classNames={{ input: 'mono' }}
        rows={8}
        value={text}
        error={wasCleared && clearedMessage}
        onChange={(event) => onText(event.currentTarget.value)}
        spellCheck={false}
        autoComplete="off"
        data-autofocus={isFocused}
      />
      <ChooseFile onText={onText} />
      <Remarks title="Fix these lines to continue" color="red" remarks={file.problems} />
      <Remarks title="Check these lines" color="orange" remarks={[...file.warnings, ...file.differences]} />
    </>
  )
}

/** No environment is chosen at first, because the values may replace others there. */
function Target(props: { columns: Column[]; chosenId: string | null; onChoose: (environmentId: string) => void }) {
  const { columns, chosenId, onChoose } = props
  return (
    <Select
      label="Into"
      placeholder="Choose an environment"
      data={columns.map(({ environmentId, name }) => ({ value: environmentId, label: name }))}
      value={chosenId}
      onChange={(id) => id !== null && onChoose(id)}
      allowDeselect={false}
      data-autofocus
    />
  )
}

/** Takes the text of a file, in place of the pasted text. */
function ChooseFile({ onText }: { onText: (text: string) => void }) {
  const [problem, setProblem] = useState<string | null>(null)
  const take = async (file: File | null) => {
    if (!file) return
    const read = await readSecretsFile(file)
    setProblem('problem' in read ? read.problem : null)
    if ('text' in read) onText(read.text)
  }
  return (
    <Group gap="sm">
      <FileButton onChange={take}>
        {(props) => (
          <Button size="xs" variant="default" {...props}>
            Choose a file
          </Button>
        )}
      </FileButton>
      {problem && (
        <Text size="sm" role="alert">
          {problem}
        </Text>
      )}
    </Group>
  )
}

export const submitLabel = (verb: 'Store' | 'Copy', count: number, isProtected: boolean) =>
  `${isProtected ? 'Propose' : verb} ${secretsText(count)}`

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
function useChanges(column: Column | undefined, file: DotenvFile) {
  const [current, setCurrent] = usePlaintext<{ column: string; values: ReadonlyMap<string, string> } | null>(null)
  const [error, setError] = useState<unknown>(null)
  const some = file.values.size > 0
  useEffect(() => {
    if (!some || !column) return
    let ended = false
    const cells = [...column.entries.values()].map((entry) => ({ column, entry }))
    openCells(cells).then(
      (opened) => {
        if (ended) return
        const values = opened.flatMap(({ cell, shown }) =>
          'value' in shown ? [[cell.entry.secret.name, shown.value] as const] : [],
        )
        setCurrent({ column: column.environmentId, values: new Map(values) })
      },
      (thrown) => ended || setError(thrown),
    )
    return () => {
      ended = true
    }
  }, [column, some, setCurrent])
  const changes = useMemo((): Change[] => {
    if (!column || current?.column !== column.environmentId) return []
    const change = (name: string, value: string) =>
      changeOf(name, column.entries.get(name), current.values.get(name) === value)
    return [...file.stored].map(([name, value]) => change(name, value))
  }, [column, file, current])
  return { changes, error }
}
