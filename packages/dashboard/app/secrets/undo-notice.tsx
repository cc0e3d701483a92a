import { Alert, Button, Group, Text } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { useAction } from '../action.ts'
import { ProblemAlert } from '../ui/problem.tsx'
import type { Column } from './columns.ts'
import { secretsText } from './secrets-text.ts'
import { dismissUndo, type Undone, undo, useUndoable } from './undo.ts'

/**
 * Says which secrets were stored together, and restores the previous state on request. It stays until it is used or
 * dismissed.
 */
export function UndoNotice({ columns }: { columns: Column[] }) {
  const { me } = useRouteContext({ from: '/_app' })
  const found = useUndoable(me.user?.id ?? '', columns)
  const [result, setResult] = useState<string | null>(null)
  const action = useAction(async () => {
    if (!found) return
    const { undoable, column } = found
    const source = columns.find(({ environmentId }) => environmentId === undoable.removed?.environmentId)
    setResult(describeUndone(await undo(undoable), column.name, source?.name ?? 'the other environment'))
  })
  if (!found && result === null) return null
  const dismiss = () => {
    setResult(null)
    dismissUndo()
  }
  return (
    <Alert variant="light" color="gray" mb="sm" p="xs" role="status">
      <Group justify="space-between" gap="xs">
        <Text size="sm">{found ? found.undoable.message : result}</Text>
        <Group gap="xs">
          {found && (
            <Button size="xs" variant="default" loading={action.pending} onClick={() => action.run()}>
              Undo
            </Button>
          )}
          <Button size="xs" variant="subtle" color="gray" disabled={action.pending} onClick={dismiss}>
            Dismiss
          </Button>
        </Group>
      </Group>
      <ProblemAlert error={action.error} />
    </Alert>
  )
}

/** Says what the undo changed in both environments, and what it left as it was. */
function describeUndone(undone: Undone, where: string, from: string): string {
  const { returned, returning, stayed, restored, deleted, queued, changed } = undone
  const parts = [
    returned.length > 0 && `${secretsText(returned.length)} restored in ${from}.`,
    returning.length > 0 &&
      `Restoring ${returning.join(', ')} in ${from} waits for approval. ${where} keeps ${pronounOf(returning)}.`,
    stayed.length > 0 && `${from} does not take ${stayed.join(', ')} back, so ${where} keeps ${pronounOf(stayed)}.`,
    restored.length > 0 && `Earlier value of ${secretsText(restored.length)} restored in ${where}.`,
    deleted.length > 0 && `${secretsText(deleted.length)} deleted from ${where}.`,
    queued.length > 0 && `Undoing ${secretsText(queued.length)} in ${where} waits for approval.`,
    changed.length > 0 &&
      `Not undone in ${where}, because somebody has changed ${pronounOf(changed)} since: ${changed.join(', ')}. You can restore an earlier version from the history.`,
  ]
  return parts.filter(Boolean).join(' ')
}

const pronounOf = (names: string[]) => (names.length === 1 ? 'it' : 'them')
