import type { Answer } from '@skerry/contract/endpoint'
import type { machineClients as endpoints } from '@skerry/contract/machine-clients/endpoints'
import { useRouteContext } from '@tanstack/react-router'
import { api } from '../api.ts'
import { NameField } from '../form/name-field.tsx'
import { useApiForm } from '../form/use-api-form.ts'
import { useOutlivingLeases } from '../leases/outliving.tsx'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { clientsQuery } from './queries.ts'

export type MachineClient = Answer<typeof endpoints.list>['clients'][number]

/** The ID and secret of a client. Only one answer of the server contains the secret. */
export interface Credentials {
  clientId: string
  clientSecret: string
}

export function CreateClientDialog(props: { onClose: () => void; onMade: (made: Credentials) => void }) {
  const { onClose, onMade } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const form = useApiForm('machineClients', 'create', { name: '' })
  const create = async (body: { name: string }) => {
    const { client, clientSecret } = await api.machineClients.create({ params: { orgId: org.id }, body })
    onMade({ clientId: client.id, clientSecret })
  }
  return (
    <FormDialog
      title="New machine client"
      submit="Create"
      form={form}
      onClose={onClose}
      onSubmit={create}
      stale={[clientsQuery(org.id)]}
    >
      <NameField
        description="Name it after its purpose. It can manage the organization, but cannot read secrets."
        placeholder="provisioning"
        {...form.getInputProps('name')}
      />
    </FormDialog>
  )
}

/** The open dialog and its client. */
export interface OpenClientDialog {
  kind: 'renew' | 'revoke'
  client: MachineClient
}

export function ClientDialog(props: {
  dialog: OpenClientDialog
  onClose: () => void
  onRenewed: (made: Credentials) => void
}) {
  const { dialog, onClose, onRenewed } = props
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { id, name } = dialog.client
  const leases = useOutlivingLeases(id)
  const params = { orgId: org.id, clientId: id }
  const renew = async () => {
    const { clientSecret } = await api.machineClients.renewSecret({ params })
    onRenewed({ clientId: id, clientSecret })
  }
  const revoke = async () => {
    await api.machineClients.revoke({ params })
    await leases.end()
  }
  if (dialog.kind === 'renew')
    return (
      <ConfirmDelete
        title={`Create a new secret for ${name}?`}
        confirm="Create a new secret"
        onClose={onClose}
        onConfirm={renew}
      >
        Its current secret and its access tokens stop working at once. Service tokens that it made keep working.
      </ConfirmDelete>
    )
  return (
    <ConfirmDelete
      title={`Revoke ${name}?`}
      confirm="Revoke"
      onClose={onClose}
      onConfirm={revoke}
      stale={[clientsQuery(org.id), ...leases.stale]}
    >
      It stops working at once, and for good. Service tokens that it made keep working.
      {leases.field}
    </ConfirmDelete>
  )
}
