import { Alert } from '@mantine/core'
import { RefusedError } from '@skerry/sdk/errors'
import { IconTriangleAlert } from './icons.ts'

export const lacksServerKey = (error: unknown): boolean =>
  error instanceof RefusedError && error.message === 'this server has no server key'

/**
 * Explains that the server lacks its own key, so it cannot do what needs one. There is no retry, because it would not
 * help.
 */
export function NoServerKey() {
  return (
    <Alert
      color="red"
      variant="light"
      icon={<IconTriangleAlert size={18} />}
      title="This server has no server key"
      role="alert"
    >
      Without it, this server cannot make leases, rotate or sync secrets, send webhooks, or send the audit log to a log
      sink. Ask its operator to set SKERRY_SERVER_KEY.
    </Alert>
  )
}
