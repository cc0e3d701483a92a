import { Checkbox, Text } from '@mantine/core'
import { provisionerOf } from '@skerry/sdk/internal/provisioned-leases'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api.ts'
import { usePlaintext } from '../keyring.ts'
import { orgQueries } from '../queries.ts'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { RenameDialog } from '../ui/rename-dialog.tsx'
import { showToast } from '../ui/toast.ts'
import { AdminSecretField } from './admin-secret.tsx'
import { checkTarget } from './known-targets.ts'
import type { LeaseTarget } from './queries.ts'
import { ReaderNotice, useReader } from './reader.tsx'
import { signedInTo } from './signed-in-to.ts'

/** The open dialog and its target. */
export interface OpenTargetDialog {
  kind: 'rename' | 'replace' | 'remove'
  target: LeaseTarget
}

export function TargetDialog({ dialog, onClose }: { dialog: OpenTargetDialog; onClose: () => void }) {
  const { target } = dialog
  if (dialog.kind === 'rename') return <RenameTargetDialog target={target} onClose={onClose} />
  if (dialog.kind === 'replace') return <ReplaceDialog target={target} onClose={onClose} />
  return <RemoveDialog target={target} onClose={onClose} />
}

interface Props {
  target: LeaseTarget
  onClose: () => void
}

function RenameTargetDialog({ target: { id, name }, onClose }: Props) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const rename = (to: string) =>
    api.leases.updateTarget({ params: { orgId: org.id, targetId: id }, body: { name: to } })
  return <RenameDialog name={name} onRename={rename} stale={[orgQueries(org.id, 'leases')]} onClose={onClose} />
}

/**
 * Replaces the admin credential. The server uses the new one only after it has signed in with it. A provisioner uses it
 * at once.
 */
function ReplaceDialog({ target, onClose }: Props) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const reader = useReader(org.id, provisionerOf(target.config))
  const [secret, setSecret, wasCleared] = usePlaintext('')
  const replace = async () => {
    await checkTarget(org.id, target)
    const wrappedAdminSecret = await reader.wrap(secret, target.config)
    const params = { orgId: org.id, targetId: target.id }
    const { target: after } = await api.leases.updateTarget({ params, body: { wrappedAdminSecret } })
    showToast(signedInTo(after))
  }
  return (
    <FormDialog
      title={`Replace the credential of ${target.name}`}
      submit="Replace"
      onClose={onClose}
      onSubmit={replace}
      stale={[orgQueries(org.id, 'leases')]}
      disabled={secret.trim() === '' || !reader.isReady}
    >
      <ReaderNotice reader={reader} />
      <AdminSecretField
        provider={target.provider}
        value={secret}
        wasCleared={wasCleared}
        onChange={setSecret}
        autoFocus
      />
    </FormDialog>
  )
}

function RemoveDialog({ target, onClose }: Props) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const [force, setForce] = useState(false)
  const remove = () => {
    const query = force ? { force: 'true' as const } : {}
    return api.leases.deleteTarget({ params: { orgId: org.id, targetId: target.id }, query })
  }
  return (
    <ConfirmDelete
      title={`Remove ${target.name}?`}
      confirm="Remove"
      onClose={onClose}
      onConfirm={remove}
      stale={[orgQueries(org.id, 'leases')]}
    >
      <Text span size="sm">
        Skerry makes no more leases on it and deletes its credential. Also delete the account that Skerry used on the
        target.
      </Text>
      <Checkbox
        mt="sm"
        label="Remove it even if leases are live"
        description="The accounts of these leases stay on the target. Remove them there."
        checked={force}
        onChange={(event) => setForce(event.currentTarget.checked)}
      />
    </ConfirmDelete>
  )
}
