import { Alert } from '@mantine/core'
import { type ReaderKey, ReaderQuestion } from '../envs/reader-key.tsx'
import { IconEye } from '../ui/icons.ts'

/** Says what the server will be able to read, and asks whether the person wants that. */
export function RotatorReads({ holdsKey, reader }: { holdsKey: boolean; reader: ReaderKey }) {
  if (holdsKey)
    return (
      <Alert color="yellow" variant="light" icon={<IconEye size={18} />}>
        This server can read the environment already: another rotation has its key.
      </Alert>
    )
  return (
    <ReaderQuestion reader={reader}>
      To make new values it needs the environment’s key. It keeps the key until you remove the last rotation of the
      environment, or revoke the key on the page of the environment.
    </ReaderQuestion>
  )
}
