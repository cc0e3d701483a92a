import { Text } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api.ts'
import { Fingerprint } from '../envs/fingerprint.tsx'
import { checkedKeys, pin, useChecked } from '../envs/pins.ts'
import { orgQueries } from '../queries.ts'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { recoveryHolder } from './covering.ts'
import type { Recovery } from './queries.ts'
import { SetUpDialog } from './set-up-dialog.tsx'

export type RecoveryDialogKind = 'set-up' | 'rotate' | 'disable' | 'compare'

interface Props {
  kind: RecoveryDialogKind
  recovery: Recovery | null
  onClose: () => void
}

export function RecoveryDialog({ kind, recovery, onClose }: Props) {
  if (kind === 'set-up' || recovery === null) return <SetUpDialog recovery={null} onClose={onClose} />
  if (kind === 'rotate') return <SetUpDialog recovery={recovery} onClose={onClose} />
  if (kind === 'compare') return <CompareDialog recovery={recovery} onClose={onClose} />
  return <DisableDialog onClose={onClose} />
}

function CompareDialog({ recovery, onClose }: { recovery: Recovery; onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const holder = recoveryHolder(org.id, recovery.recoveryPublicKeyJwk)
  const checked = useChecked([holder])?.[0]
  const [compared, setCompared] = useState(false)
  const accept = async () => {
    if (!checked) return
    pin(holder.principalId, checked.fingerprint)
  }
  return (
    <FormDialog
      title="Compare the recovery key"
      submit="Remember this key"
      onClose={onClose}
      onSubmit={accept}
      stale={[checkedKeys]}
      disabled={!compared || !checked}
      size="lg"
    >
      <Text size="sm">The person who made the recovery key saw these words. Ask them over the phone or in person.</Text>
      {checked && (
        <Fingerprint
          holder="the person who made the recovery key"
          checked={checked}
          compared={compared}
          onCompared={setCompared}
        />
      )}
    </FormDialog>
  )
}

function DisableDialog({ onClose }: { onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  return (
    <ConfirmDelete
      title="End recovery?"
      confirm="End recovery"
      typed={org.slug}
      onClose={onClose}
      onConfirm={() => api.recovery.disable({ params: { orgId: org.id } })}
      stale={[orgQueries(org.id, 'recovery')]}
    >
      The copies of environment keys for recovery are deleted, and open requests are cancelled. People keep their
      access. Custodians can no longer help a person who forgot a passphrase.
    </ConfirmDelete>
  )
}
