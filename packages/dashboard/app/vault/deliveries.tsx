import { Badge, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { orgQueries } from '../queries.ts'
import { TwoLines } from '../ui/cells.tsx'
import { List, type ListColumn } from '../ui/list.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { type Delivery, deliveriesQuery, type Webhook } from './queries.ts'

/** Lists the deliveries of a webhook in the last 30 days, the newest first. */
export function Deliveries({ webhook }: { webhook: Webhook }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useInfiniteQuery(deliveriesQuery(org.id, webhook))
  const redeliver = useAction(
    ({ id }: Delivery) => {
      const params = { orgId: org.id, projectId: webhook.projectId, vaultWebhookId: webhook.id, vaultDeliveryId: id }
      return api.vaultWebhooks.redeliver({ params })
    },
    { stale: [orgQueries(org.id, 'vault')] },
  )
  return (
    <>
      <ProblemAlert error={redeliver.error} />
      <List
        label={`Deliveries to ${webhook.url}`}
        query={query}
        rows={({ pages }) => pages.flatMap(({ deliveries }) => deliveries)}
        columns={columns}
        rowId={({ id }) => id}
        rowName={({ type, id }) => `${type} ${id}`}
        action={(delivery) => ({
          label: 'Send again',
          disabled: redeliver.pending || delivery.status === 'pending',
          onClick: () => void redeliver.run(delivery),
        })}
        empty={
          <Text size="sm" c="dimmed">
            Nothing was sent to it in the last 30 days.
          </Text>
        }
      />
    </>
  )
}

const states: Record<Delivery['status'], { color: string; says: string }> = {
  pending: { color: 'gray', says: 'waits' },
  delivered: { color: 'sea', says: 'delivered' },
  dead: { color: 'red', says: 'failed' },
}

const columns: ListColumn<Delivery>[] = [
  {
    header: 'Event',
    cell: ({ type, connectionId, id }) => (
      <TwoLines
        main={type}
        below={<span className="mono">{connectionId ?? id}</span>}
        belowTitle={connectionId ?? id}
      />
    ),
  },
  { header: 'Made', cell: ({ createdAt }) => <RelativeTime at={createdAt} />, width: 120 },
  {
    header: 'State',
    cell: ({ status, attempts, lastError, responseStatus }) => (
      <TwoLines
        main={
          <Badge color={states[status].color} variant="light">
            {states[status].says}
          </Badge>
        }
        below={lastError ?? (responseStatus === null ? `${attempts} tries` : `status ${responseStatus}`)}
      />
    ),
    width: 220,
  },
]
