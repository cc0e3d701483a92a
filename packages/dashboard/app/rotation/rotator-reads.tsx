import { Alert, Checkbox, Stack } from '@mantine/core'
import { Fingerprint } from '../envs/fingerprint.tsx'
import type { Checked } from '../envs/pins.ts'
import { IconEye } from '../ui/icons.ts'

/** What rotation lets the server read, and whether the person wants that. */
export function RotatorReads(props: {
  holdsKey: boolean
  checked: Checked | undefined
  allowed: boolean
  onAllowed: (allowed: boolean) => void
  compared: boolean
  onCompared: (compared: boolean) => void
}) {
  const { holdsKey, checked, allowed, onAllowed, compared, onCompared } = props
  if (holdsKey)
    return (
      <Alert color="yellow" variant="light" icon={<IconEye size={18} />}>
        This server can read the environment already: another rotation has its key.
      </Alert>
    )
  return (
    <Alert
      color="yellow"
      variant="light"
      icon={<IconEye size={18} />}
      title="This server will be able to read the whole environment"
    >
      <Stack gap="sm">
        <span>
          To make new values it needs the environment’s key. It keeps that until the last rotation there is removed, or
          you revoke it on the page of the environment.
        </span>
        {checked?.status === 'changed' && (
          <Fingerprint holder="this server’s operator" checked={checked} compared={compared} onCompared={onCompared} />
        )}
        <Checkbox
          label="Give this server the key"
          checked={allowed}
          onChange={(event) => onAllowed(event.currentTarget.checked)}
        />
      </Stack>
    </Alert>
  )
}
