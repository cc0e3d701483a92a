import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { Empty } from '../ui/empty.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Section } from '../ui/page.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import { Delivery } from './delivery.tsx'
import type { LogSinkDialogKind } from './dialogs.tsx'
import { logSinkQuery } from './queries.ts'
import { TestRecord } from './test-record.tsx'

// This part of the page is loaded when it first opens.
const LogSinkDialog = lazy(async () => ({ default: (await import('./dialogs.tsx')).LogSinkDialog }))

/** The log sink: its delivery, a test, and its removal. */
export function LogSinkStatus() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(logSinkQuery(org.id))
  const dialog = useDialog<LogSinkDialogKind>()
  return (
    <>
      <Loaded query={query}>
        {({ logSink }) =>
          logSink === null ? (
            <NoSink onSet={() => dialog.open('set')} />
          ) : (
            <>
              <Delivery sink={logSink} onOpen={dialog.open} />
              <TestRecord />
              <Section
                title="Remove"
                description="The server stops sending, and deletes the address and the headers."
                actions={
                  <Button variant="light" color="red" onClick={() => dialog.open('remove')}>
                    Remove…
                  </Button>
                }
              />
            </>
          )
        }
      </Loaded>
      <Suspense>
        {dialog.show((onClose, kind) => (
          <LogSinkDialog kind={kind} sink={query.data?.logSink ?? null} onClose={onClose} />
        ))}
      </Suspense>
    </>
  )
}

function NoSink({ onSet }: { onSet: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  return (
    <Empty
      title="No log sink yet"
      action={<Button onClick={onSet}>Set a log sink</Button>}
      command={`skerry log-sink set https://collector.example.com/v1/logs --org ${org.slug}`}
    >
      A log sink sends the audit log to your own log collector, where the operator of this server cannot change it. It
      gets the entries from then on.
    </Empty>
  )
}
