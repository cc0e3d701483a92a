import { useRouteContext } from '@tanstack/react-router'
import { api } from '../api.ts'
import { noteMade } from '../envs/meanings.ts'
import { keyring } from '../keyring.ts'
import { acceptedRecoveryKey } from '../recovery/covering.ts'
import { CreateDialog } from './create-dialog.tsx'
import { appQuery, groupQuery } from './queries.ts'

/** The application or the group that gets an environment. */
export interface EnvironmentOwner {
  kind: 'application' | 'group'
  id: string
  name: string
  slug: string
}

/** Creates an environment. Its key is made in this browser and wrapped to this person and the recovery key. */
export function NewEnvironmentDialog({ owner, onClose }: { owner: EnvironmentOwner; onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { kind, id, name, slug } = owner
  const orgId = org.id
  return (
    <CreateDialog
      title="New environment"
      placeholder="Production"
      onClose={onClose}
      stale={[kind === 'group' ? groupQuery(orgId, id) : appQuery(orgId, id)]}
      onCreate={async (body) => {
        const recoveryPublicKeyJwk = await acceptedRecoveryKey(orgId)
        const withKey = { ...body, ...(await keyring.call('newEnvironmentKey', { recoveryPublicKeyJwk })) }
        const typed = { typed: { owner: slug } }
        const { environment } =
          kind === 'group'
            ? await api.groups.createEnv({ params: { orgId, groupId: id }, body: withKey }, typed)
            : await api.apps.createEnv({ params: { orgId, appId: id }, body: withKey }, typed)
        noteMade(orgId, kind === 'group' ? `group ${name}` : name, environment)
      }}
    />
  )
}
