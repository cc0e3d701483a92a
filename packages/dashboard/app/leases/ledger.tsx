import { Badge, Text } from '@mantine/core'
import { leaseFacts } from '@skerry/contract/leases/facts'
import { vendorName } from '@skerry/contract/vendors'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { api } from '../api.ts'
import { useNameOf } from '../secrets/use-name-of.ts'
import { OneLine, TwoLines } from '../ui/cells.tsx'
import { Countdown } from '../ui/countdown.tsx'
import { Empty } from '../ui/empty.tsx'
import { List, type ListColumn, type RowAction } from '../ui/list.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { showToast } from '../ui/toast.ts'
import { useConfirm } from '../ui/use-confirm.tsx'
import { type Lease, ledgerQuery, targetsQuery } from './queries.ts'

/** Lists all leases of the organization, the newest first. */
export function Ledger() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useInfiniteQuery(ledgerQuery(org.id))
  const targets = useQuery(targetsQuery(org.id)).data
  const nameOf = useNameOf(org.id)
  const { revoking, forgetting } = useEndings(org.id)
  const targetOf = ({ targetId }: Lease) => targets?.find(({ id }) => id === targetId)?.name ?? null
  const actions = (lease: Lease): RowAction[] => {
    const revoke = { label: 'Revoke…', danger: true, onClick: () => revoking.open(lease) }
    const forget = { label: 'Forget…', danger: true, onClick: () => forgetting.open(lease) }
    if (lease.status === 'active') return [revoke]
    return lease.status === 'orphaned' ? [revoke, forget] : []
  }
  return (
    <>
      <List
        label="Leases"
        query={query}
        rows={({ pages }) => pages.flatMap(({ leases }) => leases)}
        columns={columnsOf(targetOf, nameOf)}
        minWidth={880}
        rowId={({ id }) => id}
        rowName={nameOfLease}
        actions={actions}
        empty={
          <Empty title="No lease yet" command={`skerry lease create my-target --org ${org.slug}`}>
            {targets?.length === 0
              ? 'Register a target first: a database, hosts that take certificates, or a cloud.'
              : 'Get access to a target when you need it: nobody has to know a lasting password.'}
          </Empty>
        }
      />
      {revoking.dialog}
      {forgetting.dialog}
    </>
  )
}

const nameOfLease = ({ resourceRef, id }: Lease) => resourceRef ?? id

/**
 * The dialogs that revoke or forget a lease. To revoke, the server removes the account. To forget, it stops trying to.
 */
function useEndings(orgId: string) {
  const stale = [ledgerQuery(orgId)]
  const revoking = useConfirm((lease: Lease) => ({
    title: `Revoke ${nameOfLease(lease)}?`,
    text: leaseFacts[lease.provider].revocable
      ? 'Its account is removed now. Its sessions end too, if the admin account of the target may end them.'
      : 'The target cannot take the credential back: it works until it expires. The ledger shows that you revoked it.',
    confirm: 'Revoke',
    onConfirm: async () => {
      const { lease: after } = await api.leases.revoke({ params: { orgId, leaseId: lease.id } })
      if (after.status === 'revoking')
        showToast('The target cannot be reached now. Skerry tries again until the account is removed.')
    },
    stale,
  }))
  const forgetting = useConfirm((lease: Lease) => ({
    title: `Forget ${nameOfLease(lease)}?`,
    text: 'Skerry stops trying to remove this account. It may still exist on the target, so look there first.',
    confirm: 'Forget',
    onConfirm: () => api.leases.forget({ params: { orgId, leaseId: lease.id } }),
    stale,
  }))
  return { revoking, forgetting }
}

const statuses: Record<Lease['status'], { color: string; says: string }> = {
  pending: { color: 'gray', says: 'being made' },
  creating: { color: 'gray', says: 'being made' },
  active: { color: 'sea', says: 'active' },
  revoking: { color: 'yellow', says: 'being revoked' },
  expired: { color: 'gray', says: 'ended' },
  revoked: { color: 'gray', says: 'revoked' },
  failed: { color: 'gray', says: 'failed' },
  orphaned: { color: 'red', says: 'not removed' },
}

const columnsOf = (
  targetOf: (lease: Lease) => string | null,
  nameOf: (principalId: string) => string,
): ListColumn<Lease>[] => [
  {
    header: 'Lease',
    cell: ({ id, resourceRef }) => (
      <TwoLines
        main={<span className="mono">{resourceRef ?? 'no account made'}</span>}
        title={resourceRef ?? ''}
        below={<span className="mono">{id}</span>}
        belowTitle={id}
      />
    ),
    width: '28%',
  },
  {
    header: 'Target',
    cell: (lease) => <TwoLines main={targetOf(lease) ?? 'removed'} below={vendorName(lease.provider)} />,
  },
  { header: 'For', cell: ({ requestedById }) => <OneLine text={nameOf(requestedById)} /> },
  { header: 'Made', cell: ({ createdAt }) => <RelativeTime at={createdAt} />, width: 130 },
  { header: 'State', cell: (lease) => <State lease={lease} />, width: 190 },
]

function State({ lease: { status, expiresAt, revokedAt, lastError } }: { lease: Lease }) {
  const { color, says } = statuses[status]
  return (
    <>
      <Badge color={color} variant="light">
        {says}
      </Badge>
      <Text size="xs" c="dimmed" component="div">
        {status === 'active' && (
          <>
            ends in <Countdown to={expiresAt} />
          </>
        )}
        {status === 'revoked' && <RelativeTime at={revokedAt ?? expiresAt} />}
        {status === 'expired' && <RelativeTime at={expiresAt} />}
      </Text>
      {lastError && (
        <Text size="xs" c={status === 'orphaned' ? 'red' : 'dimmed'} lineClamp={3} title={lastError}>
          {lastError}
        </Text>
      )}
    </>
  )
}
