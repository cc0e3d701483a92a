import { createFileRoute } from '@tanstack/react-router'
import { KeyAccess } from '../../../../../envs/key-access.tsx'
import { Rekey } from '../../../../../envs/rekey.tsx'
import { useEnvironment, useHoldsKey } from '../../../../../envs/use-environment.ts'
import { RekeyNotice } from '../../../../../people/rekey-notice.tsx'

export const Route = createFileRoute('/_app/orgs/$org/envs/$env/')({ component: Access })

/** Shows who can decrypt the environment, and lets admins replace its key. */
function Access() {
  const { org } = Route.useRouteContext()
  const environment = useEnvironment()
  const holdsKey = useHoldsKey(environment.id)
  return (
    <>
      <RekeyNotice />
      <KeyAccess environment={environment} />
      {org.role !== 'member' && holdsKey && <Rekey environment={environment} />}
    </>
  )
}
