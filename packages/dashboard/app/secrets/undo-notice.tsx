import { Alert, Button, Group, Text } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { useAction } from '../action.ts'
import { ProblemAlert } from '../ui/problem.tsx'
import type { Column } from './columns.ts'
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
    if (found) setResult(describeUndone(await undo(found.undoable), found.column.name))
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

const secretsText = (names: string[]) => (names.length === 1 ? '1 secret' : `${names.length} secrets`)

function describeUndone({ returned, restored, queued, changed }: Undone, where: string): string {
  const parts = [
    returned.length > 0 && `${secretsText(returned)} moved back.`,
    restored.length > 0 && `${secretsText(restored)} in ${where} put back.`,
    queued.length > 0 && `${secretsText(queued)} in ${where} will be put back after approval.`,
    changed.length > 0 &&
      `Somebody has changed ${changed.join(', ')} since, so ${changed.length === 1 ? 'it stays' : 'they stay'}. Look at the history of each to restore an earlier version.`,
  ]
  return parts.filter(Boolean).join(' ')
}
