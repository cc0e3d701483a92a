import { lazy, type ReactNode, Suspense } from 'react'
import type { Question } from './confirm-delete.tsx'
import { useDialog } from './use-dialog.ts'

// This part of the page is loaded when it first opens.
const ConfirmDelete = lazy(async () => ({ default: (await import('./confirm-delete.tsx')).ConfirmDelete }))

/**
 * A `ConfirmDelete` dialog and the row that it asks about.
 *
 * @example
 * const removing = useConfirm((agent: Agent) => ({ title: `Remove ${agent.name}?`, confirm: 'Remove', text, onConfirm }))
 * <Button onClick={() => removing.open(agent)}>Remove…</Button>
 * {removing.dialog}
 */
export function useConfirm<T = void>(questionOf: (row: T) => Question & { text: ReactNode }) {
  const { open, show } = useDialog<T>()
  const dialog = show((onClose, row) => {
    const { text, ...question } = questionOf(row)
    return (
      <Suspense>
        <ConfirmDelete {...question} onClose={onClose}>
          {text}
        </ConfirmDelete>
      </Suspense>
    )
  })
  return { open, dialog }
}
