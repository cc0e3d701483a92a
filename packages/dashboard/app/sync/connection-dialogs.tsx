import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { use } from 'react'
import { api } from '../api.ts'
import { useReaderKey } from '../envs/reader-key.tsx'
import { ConfigFields } from '../form/config-input.tsx'
import { CredentialField, ServerReads, wrapCredential } from '../form/credential-field.tsx'
import { type ConfigValues, readConfig } from '../form/use-config-form.ts'
import { usePlaintext } from '../keyring.ts'
import { invalidate, isFresh } from '../queries.ts'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { RenameDialog } from '../ui/rename-dialog.tsx'
import { showToast } from '../ui/toast.ts'
import { bindingsQuery, type Connection, connectionsQuery, staleAfterSync } from './queries.ts'
import { type Provider, syncSchemas } from './schemas.ts'
import { useDestinationForm } from './use-destination-form.ts'

/** The open dialog and its connection. */
export interface OpenConnectionDialog {
  kind: 'verify' | 'rename' | 'replace' | 'disconnect'
  connection: Connection
}

interface Props {
  connection: Connection
  onClose: () => void
}

export function ConnectionDialog({ dialog, onClose }: { dialog: OpenConnectionDialog; onClose: () => void }) {
  const provider = use(syncSchemas()).get(dialog.connection.provider) as Provider
  const { kind, connection } = dialog
  if (kind === 'verify') return <VerifyDialog {...{ connection, provider, onClose }} />
  if (kind === 'rename') return <RenameConnectionDialog {...{ connection, onClose }} />
  if (kind === 'replace') return <ReplaceDialog {...{ connection, provider, onClose }} />
  return <DisconnectDialog {...{ connection, onClose }} />
}

/**
 * Verifies the credential at one destination. The form starts with the destination of the connection's first binding.
 */
function VerifyDialog({ connection, provider, onClose }: Props & { provider: Provider }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const bindings = useQuery(bindingsQuery(org.id)).data ?? []
  const bound = bindings.find(({ connectionId }) => connectionId === connection.id)
  const { form, rulesFor } = useDestinationForm(provider, bound?.destination ?? null)
  const verify = async ({ config }: ConfigValues) => {
    const destination = { ...readConfig(rulesFor(config), config), provider: provider.tag }
    const params = { orgId: org.id, connectionId: connection.id }
    try {
      await api.sync.verifyConnection({ params, body: { destination } })
      showToast(`${connection.name} reaches the destination.`)
    } finally {
      // The list also shows failures, so it reloads after a failed check too.
      await invalidate(...staleAfterSync(org.id))
    }
  }
  return (
    <FormDialog title={`Verify ${connection.name}`} submit="Verify" form={form} onClose={onClose} onSubmit={verify}>
      <Text size="sm">Asks this destination whether the credential works there. Nothing is written.</Text>
      <ConfigFields form={form} fields={rulesFor(form.values.config).fields} />
    </FormDialog>
  )
}

function RenameConnectionDialog({ connection: { id, name }, onClose }: Props) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const rename = (to: string) =>
    api.sync.updateConnection({ params: { orgId: org.id, connectionId: id }, body: { name: to } })
  return <RenameDialog name={name} onRename={rename} stale={staleAfterSync(org.id)} onClose={onClose} />
}

function ReplaceDialog({ connection: { id, name }, provider, onClose }: Props & { provider: Provider }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery({ ...connectionsQuery(org.id), staleTime: 0 })
  const shown = query.data?.find((one) => one.id === id)
  const reader = useReaderKey(shown ? { principalId: id, publicKeyJwk: shown.publicKeyJwk } : null)
  const [credential, setCredential, wasCleared] = usePlaintext('')
  const replace = async () => {
    if (!shown) return
    const wrappedCredential = await wrapCredential(credential, shown.publicKeyJwk)
    await api.sync.updateConnection({ params: { orgId: org.id, connectionId: id }, body: { wrappedCredential } })
    showToast(`${name} uses the new credential. Failed pushes are tried again.`)
  }
  return (
    <FormDialog
      title={`Replace the credential of ${name}`}
      submit="Replace"
      onClose={onClose}
      onSubmit={replace}
      stale={staleAfterSync(org.id)}
      disabled={credential.trim() === '' || !isFresh(query) || !reader.isKnown}
    >
      <ProblemAlert error={query.error} retry={() => query.refetch()} />
      {reader.words}
      <ServerReads>it writes to the destination with the credential.</ServerReads>
      <CredentialField
        label="Credential"
        description={provider.credential.replaceAll('`', '')}
        value={credential}
        wasCleared={wasCleared}
        onChange={setCredential}
        autoFocus
      />
    </FormDialog>
  )
}

function DisconnectDialog({ connection: { id, name }, onClose }: Props) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const bindings = useQuery(bindingsQuery(org.id)).data ?? []
  const bound = bindings.filter(({ connectionId }) => connectionId === id)
  const boundIds = bound.map(({ environmentId }) => environmentId)
  const also =
    bound.length === 0
      ? ''
      : bound.length === 1
        ? ' Its binding is deleted, too.'
        : ` Its ${bound.length} bindings are deleted, too.`
  return (
    <ConfirmDelete
      title={`Disconnect ${name}?`}
      confirm="Disconnect"
      onClose={onClose}
      onConfirm={() => api.sync.deleteConnection({ params: { orgId: org.id, connectionId: id } })}
      stale={staleAfterSync(org.id, boundIds)}
    >
      This server deletes the credential and loses the keys of the bound environments.{also} Pushed secrets stay at the
      destination. Revoke the credential there, and re-key the environments, because the server may have kept a copy of
      their keys.
    </ConfirmDelete>
  )
}
