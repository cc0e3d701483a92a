import type { apps } from '@skerry/contract/apps'
import type { Body } from '@skerry/contract/endpoint'
import { keyring } from '../keyring.ts'
import { CreateDialog } from './named-thing-dialogs.tsx'

/** An environment with a key of its own, made here and wrapped to this person alone. */
export function NewEnvironmentDialog(props: {
  onCreate: (body: Body<typeof apps.createEnv>) => Promise<unknown>
  onClose: () => void
}) {
  const { onCreate, onClose } = props
  return (
    <CreateDialog
      title="New environment"
      placeholder="Production"
      onClose={onClose}
      onCreate={async (body) => onCreate({ ...body, wrappedDek: await keyring.call('newEnvironmentKey', {}) })}
    />
  )
}
