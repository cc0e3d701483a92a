import { Alert } from '@mantine/core'
import { RefusedError } from '@skerry/sdk/errors'
import { IconTriangleAlert } from '../ui/icons.ts'
import { ProblemAlert } from '../ui/problem.tsx'

/** Why the server gave none of its public keys: without a server key it can keep no key of its own. */
export function NoServerKey({ error, retry }: { error: unknown; retry: () => void }) {
  if (!(error instanceof RefusedError) || error.code !== 'conflict') return <ProblemAlert error={error} retry={retry} />
  return (
    <Alert
      color="red"
      variant="light"
      icon={<IconTriangleAlert size={18} />}
      title="This server has no server key"
      role="alert"
    >
      Without one it can keep no key of its own, and so it can neither make leases, nor rotate secrets, nor sync them.
      Its operator sets SKERRY_SERVER_KEY.
    </Alert>
  )
}
