import { notifications } from '@mantine/notifications'

const common = { withBorder: true, closeButtonProps: { 'aria-label': 'Dismiss' } }

/** Tells of a success that nothing else on the page shows. The message must not contain a value. */
export const showToast = (message: string) => void notifications.show({ message, autoClose: 4000, ...common })

/** Tells of a failure in the same way, for longer. */
export const showErrorToast = (title: string, message: string) =>
  void notifications.show({ title, message, color: 'red', autoClose: 8000, ...common })
