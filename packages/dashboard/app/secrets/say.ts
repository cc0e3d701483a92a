import { notifications } from '@mantine/notifications'

const look = { withBorder: true, closeButtonProps: { 'aria-label': 'Dismiss' } }

/** Something that went well and shows nowhere else. Never a value. */
export const say = (message: string) => void notifications.show({ message, autoClose: 4000, ...look })

/** Something that did not. */
export const sayProblem = (title: string, message: string) =>
  void notifications.show({ title, message, color: 'red', autoClose: 8000, ...look })
