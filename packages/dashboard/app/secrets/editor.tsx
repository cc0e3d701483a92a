import { Button, Group, Text, TextInput } from '@mantine/core'
import { lazy, Suspense, useEffect, useRef } from 'react'
import { describeProblem } from '../ui/problem.tsx'
import type { CellActions } from './cell-actions.ts'
import type { Column } from './columns.ts'
import { newerVersion } from './newer-version.ts'
import { type Draft, isUnsaved } from './use-edits.ts'

/** Loaded with its table of names when a cell is first edited. */
const LoadingName = lazy(async () => ({ default: (await import('./loading-names.tsx')).LoadingName }))

/** Loaded when another person stores a version of a secret that is being edited. */
const StoredMeanwhile = lazy(async () => ({ default: (await import('./stored-meanwhile.tsx')).StoredMeanwhile }))

interface Props {
  column: Column
  name: string
  draft: Draft
  actions: CellActions
}

/** The editor of a cell. Enter saves, Shift+Enter adds a line, Escape cancels. */
export function CellEditor({ column, name, draft, actions }: Props) {
  const save = () => actions.save(column, name)
  // While a save is running, the draft must stay, because the server may refuse it.
  const cancel = () => draft.saving || actions.cancel(column, name)
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape') cancel()
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault()
      save()
    }
  }
  const editor = useRef<HTMLDivElement>(null)
  // The focus returns to the cell, for people who use the keyboard.
  useEffect(() => {
    const cell = editor.current?.closest('.matrix-cell')
    return () => {
      if (document.activeElement === document.body) cell?.querySelector<HTMLElement>('.matrix-value')?.focus()
    }
  }, [])
  return (
    <div className="matrix-editor" ref={editor}>
      <textarea
        // biome-ignore lint/a11y/noAutofocus: the person has just asked to edit here
        autoFocus
        rows={Math.min(8, draft.value.split('\n').length)}
        aria-label={`Value of ${name} in ${column.name}`}
        value={draft.value}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => actions.edited(column, name, { value: event.currentTarget.value })}
        onKeyDown={onKeyDown}
        readOnly={draft.saving}
      />
      {column.isProtected && (
        <TextInput
          size="xs"
          aria-label={`Why ${name} changes`}
          placeholder="Why, for those who approve (optional)"
          value={draft.note}
          maxLength={2000}
          onChange={(event) => actions.edited(column, name, { note: event.currentTarget.value })}
          onKeyDown={onKeyDown}
        />
      )}
      <Suspense>
        <LoadingName name={name} />
      </Suspense>
      <EditProblem column={column} name={name} draft={draft} actions={actions} />
      <Group gap={6}>
        <Button size="compact-xs" loading={draft.saving} onClick={save}>
          {isUnsaved(draft) ? 'Try again' : column.isProtected ? 'Propose' : 'Save'}
        </Button>
        <Button size="compact-xs" variant="default" disabled={draft.saving} onClick={cancel}>
          Cancel
        </Button>
      </Group>
    </div>
  )
}

/** The reason why an edit was not stored, or will not be: another person stored a version while this one typed. */
export function EditProblem(props: Props) {
  const { column, name, draft } = props
  const version = newerVersion(column, name, draft)
  if (version !== null && !isUnsaved(draft))
    return (
      <Suspense>
        <StoredMeanwhile {...props} version={version} />
      </Suspense>
    )
  if (!draft.error) return null
  const { title, advice } = describeProblem(draft.error)
  return (
    <Text size="xs" className="matrix-broken" role="alert">
      {isUnsaved(draft) ? `Not saved yet, and kept here. ${title}.` : `${title}. ${advice ?? ''}`}
    </Text>
  )
}
