import { vendorName } from '@skerry/contract/vendors'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { TwoLines } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { List, type ListColumn, type RowAction } from '../ui/list.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import { VerifiedState } from '../ui/verified-state.tsx'
import type { OpenConnectionDialog } from './connection-dialogs.tsx'
import { bindingsQuery, type Connection, connectionsQuery } from './queries.ts'

// This part of the page is loaded when it first opens.
const ConnectionDialog = lazy(async () => ({ default: (await import('./connection-dialogs.tsx')).ConnectionDialog }))

/** Lists the connections: destinations whose credential the server has. */
export function ConnectionList() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const navigate = useNavigate()
  const query = useQuery(connectionsQuery(org.id))
  const bindings = useQuery(bindingsQuery(org.id)).data ?? []
  const dialog = useDialog<OpenConnectionDialog>()
  const actions = (connection: Connection): RowAction[] => {
    const open = (kind: OpenConnectionDialog['kind']) => () => dialog.open({ kind, connection })
    const search = { create: true, connection: connection.id } as const
    return [
      {
        label: 'Bind an environment…',
        onClick: () => void navigate({ to: '/orgs/$org/sync', params: { org: org.slug }, search }),
      },
      { label: 'Verify…', onClick: open('verify') },
      { label: 'Rename…', onClick: open('rename') },
      { label: 'Replace the credential…', onClick: open('replace') },
      { label: 'Disconnect…', danger: true, onClick: open('disconnect') },
    ]
  }
  const columns: ListColumn<Connection>[] = [
    {
      header: 'Connection',
      cell: ({ name, id }) => <TwoLines main={name} below={<span className="mono">{id}</span>} belowTitle={id} />,
      sort: ({ name }) => name,
      width: '34%',
    },
    {
      header: 'Destination',
      cell: ({ provider }) => vendorName(provider),
      sort: ({ provider }) => vendorName(provider),
    },
    {
      header: 'Bindings',
      cell: ({ id }) => bindings.filter(({ connectionId }) => connectionId === id).length,
      width: 110,
    },
    { header: 'Changed', cell: ({ updatedAt }) => <RelativeTime at={updatedAt} />, width: 110 },
    {
      header: 'State',
      cell: ({ status, lastError }) => <VerifiedState status={status} lastError={lastError} />,
      width: 190,
    },
  ]
  return (
    <>
      <List
        label="Sync connections"
        query={query}
        rows={(connections) => connections}
        columns={columns}
        minWidth={820}
        rowId={({ id }) => id}
        rowName={({ name }) => name}
        actions={actions}
        empty={
          <Empty title="No connection yet" command={`skerry sync connect github-actions --org ${org.slug}`}>
            Give this server a credential of a platform, and it keeps secrets there up to date. It can read every
            environment that is bound to the connection.
          </Empty>
        }
      />
      <Suspense>
        {dialog.show((onClose, opened) => (
          <ConnectionDialog dialog={opened} onClose={onClose} />
        ))}
      </Suspense>
    </>
  )
}
