import type { apps } from '@skerry/contract/apps/endpoints'
import type { Body } from '@skerry/contract/endpoint'
import { useRouteContext } from '@tanstack/react-router'
import { keyring } from '../keyring.ts'
import type { Stale } from '../queries.ts'
import { acceptedRecoveryKey } from '../recovery/covering.ts'
import { CreateDialog } from './create-dialog.tsx'

/** Creates an environment. Its key is made in this browser and wrapped to this person and the recovery key. */
export function NewEnvironmentDialog(props: {
  onCreate: (body: Body<typeof apps.createEnv>) => Promise<unknown>
  stale: readonly Stale[]
  onClose: () => void
}) {
  const { onCreate, stale, onClose } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  return (
    <CreateDialog
      title="New environment"
      placeholder="Production"
      onClose={onClose}
      stale={stale}
      onCreate={async (body) => {
        const recoveryPublicKeyJwk = await acceptedRecoveryKey(org.id)
        return onCreate({ ...body, ...(await keyring.call('newEnvironmentKey', { recoveryPublicKeyJwk })) })
      }}
    />
  )
}
