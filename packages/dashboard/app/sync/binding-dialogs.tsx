import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { api } from '../api.ts'
import { useReaderKey } from '../envs/reader-key.tsx'
import { isFresh } from '../queries.ts'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { giveMissingKeys } from './bind.ts'
import { BindingEditor } from './binding-editor.tsx'
import { ConnectionReads } from './connection-reads.tsx'
import { type Binding, connectionsQuery, staleAfterSync } from './queries.ts'
import { RunDialog } from './run-dialog.tsx'

/** The open dialog and its binding. */
export interface OpenBindingDialog {
  kind: 'edit' | 'run' | 'keys' | 'remove'
  binding: Binding
  /** The name of the binding for people. */
  name: string
}

export function BindingDialog({ dialog, onClose }: { dialog: OpenBindingDialog; onClose: () => void }) {
  const { kind, binding } = dialog
  if (kind === 'edit') return <BindingEditor binding={binding} isNew={false} onClose={onClose} />
  if (kind === 'run') return <RunDialog binding={binding} onClose={onClose} />
  if (kind === 'keys') return <KeysDialog binding={binding} onClose={onClose} />
  return <RemoveDialog {...dialog} onClose={onClose} />
}

/**
 * Gives the connection the keys of groups that were composed after the binding was created. The person must agree
 * first.
 */
function KeysDialog({ binding, onClose }: { binding: Binding; onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery({ ...connectionsQuery(org.id), staleTime: 0 })
  const connection = query.data?.find(({ id }) => id === binding.connectionId)
  const reader = useReaderKey(connection ? { principalId: connection.id, publicKeyJwk: connection.publicKeyJwk } : null)
  const give = async () => {
    if (!connection) return
    reader.agreed()
    await giveMissingKeys(org.id, connection, binding)
  }
  return (
    <FormDialog
      title="Give the missing keys"
      submit="Give the keys"
      onClose={onClose}
      onSubmit={give}
      stale={staleAfterSync(org.id, binding.missingEnvironmentIds)}
      disabled={!reader.isAgreed || !isFresh(query)}
    >
      <ProblemAlert error={query.error} retry={() => query.refetch()} />
      <Text size="sm">
        A group was composed into the environment after it was bound. Nothing is pushed until the connection has the
        group’s key as well.
      </Text>
      <ConnectionReads reader={reader} />
    </FormDialog>
  )
}

function RemoveDialog({ binding, name, onClose }: OpenBindingDialog & { onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  return (
    <ConfirmDelete
      title={`Stop pushing ${name}?`}
      confirm="Stop pushing"
      onClose={onClose}
      onConfirm={() =>
        api.sync.deleteBinding(
          { params: { orgId: org.id, bindingId: binding.id } },
          { typed: { connectionId: binding.connectionId } },
        )
      }
      stale={staleAfterSync(org.id, [binding.environmentId])}
    >
      Pushed secrets stay at the destination. This server loses the keys that no other binding needs. Re-key the
      environment, because the server may have kept a copy.
    </ConfirmDelete>
  )
}
