import { Code } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { parseCreateSearch } from '../../../create-search.ts'
import type { Credentials, MachineClient, OpenClientDialog } from '../../../tokens/client-dialogs.tsx'
import { credentialColumns } from '../../../tokens/credential-columns.tsx'
import { clientsQuery } from '../../../tokens/queries.ts'
import { ShownWhenMade, useMade } from '../../../tokens/shown-when-made.tsx'
import { TokensPage } from '../../../tokens/tokens-page.tsx'
import { Empty } from '../../../ui/empty.tsx'
import { List, type RowAction } from '../../../ui/list.tsx'
import { useDialog } from '../../../ui/use-dialog.ts'

// Each dialog is loaded when it first opens.
const CreateClientDialog = lazy(async () => ({
  default: (await import('../../../tokens/client-dialogs.tsx')).CreateClientDialog,
}))
const ClientDialog = lazy(async () => ({ default: (await import('../../../tokens/client-dialogs.tsx')).ClientDialog }))

export const Route = createFileRoute('/_app/orgs/$org/clients')({
  validateSearch: parseCreateSearch,
  loader: ({ context: { queryClient, org } }) => {
    if (org.role !== 'member') void queryClient.prefetchQuery(clientsQuery(org.id))
  },
  component: MachineClients,
})

function MachineClients() {
  return (
    <TokensPage<Credentials>
      title="Machine clients"
      newLabel="New machine client"
      CreateDialog={CreateClientDialog}
      shownOnce={secretShown}
    >
      <ClientList />
    </TokensPage>
  )
}

const secretShown = (made: Credentials | null) => ({
  title: 'The secret of the machine client',
  what: 'secret',
  token: made?.clientSecret ?? null,
  children: (
    <>
      Give a program <Code>SKERRY_CLIENT_ID={made?.clientId}</Code> with it, and the secret as{' '}
      <Code>SKERRY_CLIENT_SECRET</Code>.
    </>
  ),
})

function ClientList() {
  const { org } = Route.useRouteContext()
  const query = useQuery(clientsQuery(org.id))
  const dialog = useDialog<OpenClientDialog>()
  const renewed = useMade<Credentials>()
  const actions = (client: MachineClient): RowAction[] => {
    if (client.revokedAt !== null) return []
    const open = (kind: OpenClientDialog['kind']) => () => dialog.open({ kind, client })
    return [
      { label: 'New secret…', onClick: open('renew') },
      { label: 'Revoke…', danger: true, onClick: open('revoke') },
    ]
  }
  return (
    <>
      <List
        label="Machine clients"
        query={query}
        rows={({ clients }) => clients}
        columns={columns}
        minWidth={720}
        rowId={({ id }) => id}
        rowName={({ name }) => name}
        actions={actions}
        empty={
          <Empty title="No machine client" command={`skerry client create provisioning --org ${org.slug}`}>
            Make one for a program that sets up applications and tokens by itself.
          </Empty>
        }
      />
      <Suspense>
        {dialog.show((onClose, opened) => (
          <ClientDialog dialog={opened} onClose={onClose} onRenewed={renewed.show} />
        ))}
      </Suspense>
      <ShownWhenMade made={renewed} {...secretShown(renewed.value)} />
    </>
  )
}

const columns = credentialColumns('Machine client')
