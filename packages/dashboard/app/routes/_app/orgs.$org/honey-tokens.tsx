import { Badge, Button, Table, Text } from '@mantine/core'
import type { Answer } from '@skerry/contract/endpoint'
import type { honeyTokens as endpoints } from '@skerry/contract/honey-tokens'
import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { lazy, useState } from 'react'
import { api } from '../../../api.ts'
import { beginning } from '../../../begin.ts'
import { outdated } from '../../../queries.ts'
import { honeyTokensQuery } from '../../../tokens/queries.ts'
import { TokensPage } from '../../../tokens/tokens-page.tsx'
import { ConfirmDelete } from '../../../ui/confirm-delete.tsx'
import { Empty } from '../../../ui/empty.tsx'
import { Loaded } from '../../../ui/loaded.tsx'
import { RelativeTime } from '../../../ui/relative-time.tsx'

// Loaded when first asked for.
const CreateDecoyDialog = lazy(async () => ({
  default: (await import('../../../tokens/create-decoy-dialog.tsx')).CreateDecoyDialog,
}))

export const Route = createFileRoute('/_app/orgs/$org/honey-tokens')({
  validateSearch: beginning,
  loader: ({ context: { queryClient, org } }) => {
    if (org.role !== 'member') void queryClient.prefetchQuery(honeyTokensQuery(org.id))
  },
  component: HoneyTokens,
})

type HoneyToken = Answer<typeof endpoints.list>['honeyTokens'][number]

function HoneyTokens() {
  return (
    <TokensPage<string>
      title="Honey tokens"
      description="Decoys: they look like service tokens and never work. Whoever tries one has been where nobody should be."
      newLabel="New honey token"
      CreateDialog={CreateDecoyDialog}
      shownOnce={(token) => ({
        title: 'The new decoy',
        token,
        children:
          'Plant it where it may be found, and not where a program of yours would pick it up. Whoever presents it is told what an unknown token is told; owners and admins are told that it was tried.',
      })}
    >
      <List />
    </TokensPage>
  )
}

function List() {
  const { org } = Route.useRouteContext()
  const query = useQuery(honeyTokensQuery(org.id))
  return (
    <Loaded query={query}>
      {({ honeyTokens }) =>
        honeyTokens.length === 0 ? (
          <Empty
            title="No decoy is laid out"
            command={`skerry honey create --placement "old wiki page" --org ${org.slug}`}
          >
            Plant one where only someone who looks for secrets finds it: in an old .env file, a wiki, a backup.
          </Empty>
        ) : (
          <Rows honeyTokens={honeyTokens} />
        )
      }
    </Loaded>
  )
}

function Rows({ honeyTokens }: { honeyTokens: HoneyToken[] }) {
  const { org } = Route.useRouteContext()
  const [deleting, setDeleting] = useState<HoneyToken | null>(null)
  return (
    <div className="rows">
      <Table layout="fixed" miw={820}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w="34%">Decoy</Table.Th>
            <Table.Th w={120}>Tried</Table.Th>
            <Table.Th>Last from</Table.Th>
            <Table.Th w={130}>Made</Table.Th>
            <Table.Th w={110} aria-label="Actions" />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {honeyTokens.map((one) => (
            <Row key={one.id} one={one} onDelete={() => setDeleting(one)} />
          ))}
        </Table.Tbody>
      </Table>
      <ConfirmDelete
        title="Delete this decoy?"
        confirm="Delete"
        opened={deleting !== null}
        onClose={() => setDeleting(null)}
        onConfirm={async () => {
          await api.honeyTokens.delete({ params: { orgId: org.id, honeyTokenId: deleting?.id ?? '' } })
          await outdated(honeyTokensQuery(org.id))
        }}
      >
        {deleting?.placement ?? deleting?.tokenId}: nobody is told any more when it is tried. Take the text away from
        where it lies, too.
      </ConfirmDelete>
    </div>
  )
}

function Row({ one, onDelete }: { one: HoneyToken; onDelete: () => void }) {
  const tripped = one.tripCount > 0
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={500} truncate title={one.placement ?? ''} c={one.placement === null ? 'dimmed' : ''}>
          {one.placement ?? 'nowhere said'}
        </Text>
        <Text size="xs" c="dimmed" className="mono" truncate title={one.tokenId}>
          {one.tokenId}
        </Text>
      </Table.Td>
      <Table.Td>
        {tripped ? (
          <Badge color="red" variant="light">
            {one.tripCount === 1 ? 'once' : `${one.tripCount} times`}
          </Badge>
        ) : (
          'never'
        )}
      </Table.Td>
      <Table.Td>
        {tripped && (
          <>
            <Text size="sm">
              <span className="mono">{one.lastTripIp ?? 'unknown'}</span>, <RelativeTime at={one.lastTripAt} />
            </Text>
            <Text size="xs" c="dimmed" truncate title={one.lastTripUserAgent ?? ''}>
              {one.lastTripUserAgent}
            </Text>
          </>
        )}
      </Table.Td>
      <Table.Td>
        <RelativeTime at={one.createdAt} />
      </Table.Td>
      <Table.Td ta="right">
        <Button variant="subtle" color="red" size="xs" onClick={onDelete}>
          Delete
        </Button>
      </Table.Td>
    </Table.Tr>
  )
}
