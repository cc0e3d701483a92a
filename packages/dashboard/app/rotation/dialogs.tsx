import { Checkbox, Text } from '@mantine/core'
import { rotationFacts } from '@skerry/contract/rotation/facts'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api.ts'
import { invalidate } from '../queries.ts'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { showToast } from '../ui/toast.ts'
import { IntervalField, intervalOf, intervalProblem, secondsOf } from './interval.tsx'
import { type Rotation, staleAfterRotation } from './queries.ts'

/** The open dialog and its rotation. */
export interface OpenRotationDialog {
  kind: 'run' | 'interval' | 'remove'
  rotation: Rotation
}

interface Props {
  rotation: Rotation
  onClose: () => void
}

export function RotationDialog({ dialog, onClose }: { dialog: OpenRotationDialog; onClose: () => void }) {
  const { kind, rotation } = dialog
  if (kind === 'run') return <RunDialog rotation={rotation} onClose={onClose} />
  if (kind === 'interval') return <IntervalDialog rotation={rotation} onClose={onClose} />
  return <RemoveDialog rotation={rotation} onClose={onClose} />
}

function RunDialog({ rotation, onClose }: Props) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { id, kind, secretName } = rotation
  const run = async () => {
    try {
      const { version } = await api.rotation.rotate({ params: { orgId: org.id, rotationId: id } })
      showToast(`Rotated ${secretName}: version ${version}.`)
    } finally {
      // The list also shows failures, so it reloads after a failed run too.
      await invalidate(...staleAfterRotation(org.id, rotation.environmentId))
    }
  }
  return (
    <ConfirmDelete title={`Rotate ${secretName} now?`} confirm="Rotate" onClose={onClose} onConfirm={run}>
      {rotationFacts[kind].target === null
        ? 'The secret gets a new value. Running programs keep the old value until they read the secret again.'
        : 'The account gets a new password. The old password stops working at once, unless the rotation alternates between two accounts.'}
    </ConfirmDelete>
  )
}

function IntervalDialog({ rotation, onClose }: Props) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const [interval, setInterval] = useState(intervalOf(rotation.intervalSeconds))
  const change = () => {
    const params = { orgId: org.id, rotationId: rotation.id }
    return api.rotation.update({ params, body: { intervalSeconds: secondsOf(interval) } })
  }
  return (
    <FormDialog
      title={`Change how often ${rotation.secretName} is rotated`}
      submit="Save"
      onClose={onClose}
      onSubmit={change}
      stale={staleAfterRotation(org.id, rotation.environmentId)}
      disabled={intervalProblem(interval) !== null}
    >
      <IntervalField value={interval} onChange={setInterval} />
    </FormDialog>
  )
}

function RemoveDialog({ rotation, onClose }: Props) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const [force, setForce] = useState(false)
  const { id, kind, secretName } = rotation
  const remove = async () => {
    const query = force ? { force: 'true' as const } : {}
    const { rotatorRevoked } = await api.rotation.delete({ params: { orgId: org.id, rotationId: id }, query })
    showToast(
      rotatorRevoked
        ? `${secretName} stays as it is. This server loses the key of the environment. Re-key the environment, because the server may have kept a copy.`
        : `${secretName} stays as it is.`,
    )
  }
  return (
    <ConfirmDelete
      title={`Stop rotating ${secretName}?`}
      confirm="Stop rotating"
      onClose={onClose}
      onConfirm={remove}
      stale={staleAfterRotation(org.id, rotation.environmentId)}
    >
      <Text span size="sm">
        The secret and its versions stay. If this is the last rotation of the environment, this server loses its key.
      </Text>
      {rotationFacts[kind].target !== null && (
        <Checkbox
          mt="sm"
          label="Stop even if the last run was interrupted"
          description="Otherwise Skerry first checks on the target which password is in use."
          checked={force}
          onChange={(event) => setForce(event.currentTarget.checked)}
        />
      )}
    </ConfirmDelete>
  )
}
