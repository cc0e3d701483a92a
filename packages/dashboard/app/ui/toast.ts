import { notifications } from '@mantine/notifications'

/** The settings of every toast. */
export const commonToast = { withBorder: true, closeButtonProps: { 'aria-label': 'Dismiss' } }

/** Shows a toast for a success that nothing else on the page shows. The message must not contain a value. */
export const showToast = (message: string) => void notifications.show({ message, autoClose: 4000, ...commonToast })

/** Shows a toast for a failure, for 8 seconds instead of 4. */
export const showErrorToast = (title: string, message: string) =>
  void notifications.show({ title, message, color: 'red', autoClose: 8000, ...commonToast })
