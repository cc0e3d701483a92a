import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { useAction } from '../../../../action.ts'
import { api } from '../../../../api.ts'
import type { KeyDialogKind } from '../../../../kms/dialogs.tsx'
import { Holders, Versions } from '../../../../kms/key-details.tsx'
import { keyHoldersQuery, type ManagedKey, managedKeyQuery } from '../../../../kms/queries.ts'
import { specLabels } from '../../../../kms/specs.ts'
import { orgQueries } from '../../../../queries.ts'
import { ForAdmins } from '../../../../ui/for-admins.tsx'
import { Loaded } from '../../../../ui/loaded.tsx'
import { Page } from '../../../../ui/page.tsx'
import { ProblemAlert } from '../../../../ui/problem.tsx'
import { useDialog } from '../../../../ui/use-dialog.ts'

// Each is loaded when it first appears.
const KeyDialog = lazy(async () => ({ default: (await import('../../../../kms/dialogs.tsx')).KeyDialog }))
const DisabledNote = lazy(async () => ({ default: (await import('../../../../kms/dialogs.tsx')).DisabledNote }))

export const Route = createFileRoute('/_app/orgs/$org/kms/$key')({
  loader: ({ context: { queryClient, org }, params: { key } }) => {
    if (org.role === 'member') return
    void queryClient.prefetchQuery(managedKeyQuery(org.id, key))
    void queryClient.prefetchQuery(keyHoldersQuery(org.id, key))
  },
  component: KeyPage,
})

function KeyPage() {
  const { org } = Route.useRouteContext()
  const { key } = Route.useParams()
  if (org.role === 'member')
    return (
      <Page title="Managed key">
        <ForAdmins>{null}</ForAdmins>
      </Page>
    )
  return <Shown orgId={org.id} id={key} />
}

function Shown({ orgId, id }: { orgId: string; id: string }) {
  const query = useQuery(managedKeyQuery(orgId, id))
  if (!query.data)
    return (
      <Page title="Managed key">
        <Loaded query={query}>{() => null}</Loaded>
      </Page>
    )
  return <Found orgId={orgId} managed={query.data.key} />
}

function Found({ orgId, managed }: { orgId: string; managed: ManagedKey }) {
  const { org } = Route.useRouteContext()
  const dialog = useDialog<KeyDialogKind>()
  const enable = useAction(() => api.kms.enable({ params: { orgId, kmsKeyId: managed.id } }), {
    stale: [orgQueries(orgId, 'kms')],
  })
  const button = (label: string, kind: KeyDialogKind, more: object = {}) => (
    <Button variant="default" onClick={() => dialog.open(kind)} {...more}>
      {label}
    </Button>
  )
  const { main, below } = specLabels[managed.spec]
  return (
    <Page
      title={managed.name}
      part="Managed key"
      crumbs={[{ label: 'Managed keys', link: { to: '/orgs/$org/kms', params: { org: org.slug } } }]}
      about={`${below}: it ${main}. Version ${managed.currentVersion} is the current one.`}
      actions={
        <>
          {!managed.disabled && button('Rotate…', 'rotate')}
          {managed.disabled ? (
            <Button variant="default" loading={enable.pending} onClick={() => enable.run()}>
              Enable
            </Button>
          ) : (
            button('Disable…', 'disable')
          )}
          {button('Delete…', 'remove', { color: 'red', variant: 'light' })}
        </>
      }
    >
      <ProblemAlert error={enable.error} />
      <Suspense>{managed.disabled && <DisabledNote />}</Suspense>
      <Holders managed={managed} actions={managed.disabled ? null : button('Grant…', 'grant')} />
      <Versions managed={managed} />
      <Suspense>
        {dialog.show((onClose, kind) => (
          <KeyDialog kind={kind} managed={managed} onClose={onClose} />
        ))}
      </Suspense>
    </Page>
  )
}
