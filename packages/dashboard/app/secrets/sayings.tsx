import '@mantine/notifications/styles.css'
import { Notifications } from '@mantine/notifications'

/** Where a page shows what `say` says. */
export const Sayings = () => <Notifications position="bottom-left" />
