import { Button, Group } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { Cancelled } from '../prompts.ts'
import { describeProblem } from './problem.tsx'
import { commonToast, showErrorToast, showToast } from './toast.ts'

/** Thrown by an undo that knows what the person should do instead. */
export class NotUndone extends Error {}

/**
 * Shows a toast for a success, with a button that undoes it. `undo` returns the message about its result. The toast stays
 * for 12 seconds, so that a person has time to reach the button. Returns a function that hides it before.
 */
export function showUndoToast(message: string, undo: () => Promise<string>): () => void {
  const id = notifications.show({
    message: (
      <Group justify="space-between" wrap="nowrap">
        <span>{message}</span>
        <Button size="compact-xs" variant="default" flex="none" onClick={() => run()}>
          Undo
        </Button>
      </Group>
    ),
    autoClose: 12_000,
    ...commonToast,
  })
  let isRunning = false
  const run = async () => {
    // The toast is still there for some milliseconds, and must not undo twice.
    if (isRunning) return
    isRunning = true
    notifications.hide(id)
    try {
      showToast(await undo())
    } catch (error) {
      tell(error)
    }
  }
  return () => void notifications.hide(id)
}

function tell(error: unknown): void {
  if (error instanceof Cancelled) return
  const { title, advice = '' } = describeProblem(error)
  if (error instanceof NotUndone) showErrorToast('The undo is incomplete', error.message)
  else showErrorToast(title, advice)
}
