import { useRouteContext } from '@tanstack/react-router'
import { api } from '../api.ts'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { type LogSink, logSinkQuery } from './queries.ts'
import { SetDialog } from './set-dialog.tsx'

export type LogSinkDialogKind = 'set' | 'remove'

export function LogSinkDialog(props: { kind: LogSinkDialogKind; sink: LogSink | null; onClose: () => void }) {
  const { kind, sink, onClose } = props
  if (kind === 'set') return <SetDialog sink={sink} onClose={onClose} />
  return sink && <RemoveDialog sink={sink} onClose={onClose} />
}

function RemoveDialog({ sink, onClose }: { sink: LogSink; onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  return (
    <ConfirmDelete
      title="Remove the log sink?"
      confirm="Remove"
      onClose={onClose}
      onConfirm={() => api.logSink.delete({ params: { orgId: org.id } })}
      stale={[logSinkQuery(org.id)]}
    >
      {sink.waitingEntries > 0 && 'Some entries were not sent yet, and never will be. '}If you set a sink later, it gets
      only newer entries. The audit log itself does not change.
    </ConfirmDelete>
  )
}
