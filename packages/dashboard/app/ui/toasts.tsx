import '@mantine/notifications/styles.css'
import { Notifications } from '@mantine/notifications'

/** Where every page shows its toasts. */
export const Toasts = () => <Notifications position="bottom-left" />
