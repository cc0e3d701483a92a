import { Button, Group } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { commonToast } from '../ui/toast.ts'

/** The time for which a toast with a task waits for a press. The badge in the sidebar stays longer. */
const waitingMs = 60_000

/** Shows a toast with a button. A newer toast with the same id replaces it. */
export function showActionToast(toast: { id: string; message: string; act: string; run: () => void }): void {
  const { id, message, act, run } = toast
  notifications.hide(id)
  notifications.show({
    id,
    message: (
      <Group justify="space-between" wrap="nowrap">
        <span>{message}</span>
        <Button
          size="compact-xs"
          flex="none"
          onClick={() => {
            notifications.hide(id)
            run()
          }}
        >
          {act}
        </Button>
      </Group>
    ),
    autoClose: waitingMs,
    ...commonToast,
  })
}
