import '@mantine/notifications/styles.css'
import { Notifications } from '@mantine/notifications'

/** The place of toasts on every page. */
export const Toasts = () => <Notifications position="bottom-right" />
