import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useAction } from '../action.ts'
import { keyring, usePlaintext } from '../keyring.ts'
import { EditProblem } from '../secrets/editor.tsx'
import { LoadingName } from '../secrets/loading-names.tsx'
import { type Draft, isUnsaved } from '../secrets/use-edits.ts'
import { ProblemAlert } from '../ui/problem.tsx'
import type { Cell } from './cell.ts'
import { fromField, type LineBreak, lineBreakOf, toField } from './line-breaks.ts'
import { looksLikeJson, ValueField } from './value-field.tsx'

/**
 * The editor of a value with any number of lines. Ctrl+Enter saves. Whatever closes the drawer, the matrix keeps the
 * edit.
 */
export function ValueEditor({ column, name, draft, edits, actions }: Cell & { draft: Draft }) {
  const [lineBreak, setLineBreak] = useState(() => lineBreakOf(draft.value))
  const { update, leave } = edits
  const text = toField(draft.value)
  const save = () => void edits.save(column, name)
  const [loads, setLoads] = useState(0)
  const load = (value: string) => {
    setLoads(loads + 1)
    setLineBreak(lineBreakOf(value))
    update(column, name, { value })
  }
  const where = { environmentId: column.environmentId, name }
  // A cell that shows its own editor would take the focus.
  useEffect(() => {
    if (!draft.isInDrawer) update(column, name, { isInDrawer: true })
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the column is another object after each change
  useEffect(() => () => leave(column, name), [where.environmentId, where.name])
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.nativeEvent.isComposing) return
    event.preventDefault()
    save()
  }
  return (
    <Stack gap="sm" className="value-editor" onKeyDown={onKeyDown}>
      <ValueField
        label={`Value of ${name} in ${column.name}`}
        text={text}
        readOnly={draft.saving}
        measures={<Measures text={text} lineBreak={lineBreak} />}
        onText={(value) => update(column, name, { value: fromField(value, lineBreak) })}
        onLoad={load}
      />
      {column.isProtected && (
        <TextInput
          label={`Why ${name} changes`}
          description="Optional. Approvers and the server can read this, so write no values here."
          value={draft.note}
          maxLength={2000}
          onChange={(event) => update(column, name, { note: event.currentTarget.value })}
        />
      )}
      <LoadingName name={name} />
      <EditProblem {...{ column, name, draft, actions }} />
      <Group gap="sm" justify="space-between">
        {/* After a file was loaded, its Undo would overwrite the file. */}
        <Generator key={loads} draft={draft} onValue={(value) => update(column, name, { value })} />
        <Group gap="sm">
          <Button variant="default" disabled={draft.saving} onClick={() => edits.cancel(column, name)}>
            Discard
          </Button>
          <Button loading={draft.saving} onClick={save} title="Ctrl Enter">
            {isUnsaved(draft) ? 'Try again' : `${column.isProtected ? 'Propose for' : 'Save to'} ${column.name}`}
          </Button>
        </Group>
      </Group>
    </Stack>
  )
}

const generatedLength = 32

/** Replaces the value by a random one, which can be taken back. */
function Generator({ draft, onValue }: { draft: Draft; onValue: (value: string) => void }) {
  const [replaced, setReplaced] = usePlaintext<string | null>(null)
  const generate = useAction(async () => {
    const value = await keyring.call('generateValue', { length: generatedLength })
    setReplaced(draft.value)
    onValue(value)
  })
  const takeBack = () => {
    onValue(replaced ?? '')
    setReplaced(null)
  }
  return (
    <Group gap="sm">
      <Button
        variant="default"
        loading={generate.pending}
        disabled={draft.saving}
        onClick={() => generate.run()}
        title={`${generatedLength} letters and digits`}
      >
        Generate
      </Button>
      {replaced !== null && (
        <Button variant="subtle" disabled={draft.saving} onClick={takeBack}>
          Undo
        </Button>
      )}
      <ProblemAlert error={generate.error} />
    </Group>
  )
}

/** The size of a text, and facts about it that nobody sees in a field. */
function Measures({ text, lineBreak }: { text: string; lineBreak: LineBreak }) {
  const lines = text.split('\n').length
  const parts = [
    `${lines} ${lines === 1 ? 'line' : 'lines'}, ${text.length.toLocaleString('en')} characters`,
    text.endsWith('\n') && 'ends with a line break',
    lineBreak === '\r\n' && 'Windows line breaks (CR LF), which are kept',
    lineBreak === 'mixed' && 'mixed line breaks, which become LF when you edit',
    jsonState(text),
  ]
  return (
    <Text span size="xs">
      {parts.filter(Boolean).join(' · ')}
    </Text>
  )
}

/** Says whether a text that looks like a JSON object or array is one. */
function jsonState(text: string): string | null {
  if (!looksLikeJson(text)) return null
  try {
    JSON.parse(text)
    return 'valid JSON'
  } catch {
    return 'not valid JSON'
  }
}
