import { Badge, Text } from '@mantine/core'
import type { Answer } from '@skerry/contract/endpoint'
import type { honeyTokens as endpoints } from '@skerry/contract/honey-tokens/endpoints'
import { useQuery } from '@tanstack/react-query'
import { createFileRoute } from '@tanstack/react-router'
import { lazy } from 'react'
import { api } from '../../../api.ts'
import { parseCreateSearch } from '../../../create-search.ts'
import { honeyTokensQuery } from '../../../tokens/queries.ts'
import { TokensPage } from '../../../tokens/tokens-page.tsx'
import { TwoLines } from '../../../ui/cells.tsx'
import { Empty } from '../../../ui/empty.tsx'
import { List, type ListColumn } from '../../../ui/list.tsx'
import { RelativeTime, timeColumn } from '../../../ui/relative-time.tsx'
import { useConfirm } from '../../../ui/use-confirm.tsx'

// This part of the page is loaded when it first opens.
const CreateDecoyDialog = lazy(async () => ({
  default: (await import('../../../tokens/create-decoy-dialog.tsx')).CreateDecoyDialog,
}))

export const Route = createFileRoute('/_app/orgs/$org/honey-tokens')({
  validateSearch: parseCreateSearch,
  loader: ({ context: { queryClient, org } }) => {
    if (org.role !== 'member') void queryClient.prefetchQuery(honeyTokensQuery(org.id))
  },
  component: HoneyTokens,
})

type HoneyToken = Answer<typeof endpoints.list>['honeyTokens'][number]

function HoneyTokens() {
  return (
    <TokensPage<string>
      title="Decoys"
      newLabel="New decoy"
      CreateDialog={CreateDecoyDialog}
      shownOnce={(token) => ({
        title: 'The new decoy',
        token,
        children:
          'Plant it where an intruder would find it, and where no program of yours would use it. Anyone who presents it gets the answer for an unknown token; owners and admins are notified.',
      })}
    >
      <HoneyTokenList />
    </TokensPage>
  )
}

function HoneyTokenList() {
  const { org } = Route.useRouteContext()
  const query = useQuery(honeyTokensQuery(org.id))
  const deleting = useConfirm((honeyToken: HoneyToken) => ({
    title: 'Delete this decoy?',
    text: `${nameOf(honeyToken)}: nobody is notified any more when it is tried. Also remove the text from where you planted it.`,
    confirm: 'Delete',
    onConfirm: () =>
      api.honeyTokens.delete(
        { params: { orgId: org.id, honeyTokenId: honeyToken.id } },
        { typed: { holderId: honeyToken.tokenId } },
      ),
    stale: [honeyTokensQuery(org.id)],
  }))
  return (
    <>
      <List
        label="Decoys"
        query={query}
        rows={({ honeyTokens }) => honeyTokens}
        columns={columns}
        minWidth={820}
        rowId={({ id }) => id}
        rowName={nameOf}
        action={(honeyToken) => ({ label: 'Delete', danger: true, onClick: () => deleting.open(honeyToken) })}
        empty={
          <Empty title="No decoy yet" command={`skerry honey create "old wiki page" --org ${org.slug}`}>
            Plant one where only someone who looks for secrets finds it: in an old .env file, a wiki, a backup.
          </Empty>
        }
      />
      {deleting.dialog}
    </>
  )
}

const nameOf = ({ placement, tokenId }: HoneyToken) => placement ?? tokenId

const columns: ListColumn<HoneyToken>[] = [
  {
    header: 'Decoy',
    cell: ({ placement, tokenId }) => (
      <TwoLines
        main={placement ?? 'no place given'}
        below={<span className="mono">{tokenId}</span>}
        belowTitle={tokenId}
      />
    ),
    sort: nameOf,
    width: '34%',
  },
  {
    header: 'Tried',
    cell: ({ tripCount }) => <Trips count={tripCount} />,
    sort: ({ tripCount }) => tripCount,
    width: 120,
  },
  { header: 'Last attempt', cell: (honeyToken) => <LastTrip honeyToken={honeyToken} /> },
  timeColumn('Created', 'createdAt', 130),
]

function Trips({ count }: { count: number }) {
  if (count === 0) return 'never'
  return (
    <Badge color="red" variant="light">
      {count === 1 ? 'once' : `${count} times`}
    </Badge>
  )
}

function LastTrip({
  honeyToken: { tripCount, lastTripIp, lastTripAt, lastTripUserAgent },
}: {
  honeyToken: HoneyToken
}) {
  if (tripCount === 0) return null
  return (
    <>
      <Text size="sm">
        <span className="mono">{lastTripIp ?? 'unknown'}</span>, <RelativeTime at={lastTripAt} />
      </Text>
      <Text size="xs" c="dimmed" truncate title={lastTripUserAgent ?? ''}>
        {lastTripUserAgent}
      </Text>
    </>
  )
}
