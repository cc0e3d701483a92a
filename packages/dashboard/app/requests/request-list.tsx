import { Badge, Button, Group } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { api } from '../api.ts'
import { useNameOf } from '../secrets/use-name-of.ts'
import { OneLine, TwoLines } from '../ui/cells.tsx'
import { durationText } from '../ui/durations.ts'
import { Empty } from '../ui/empty.tsx'
import { List, type ListColumn } from '../ui/list.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { useConfirm } from '../ui/use-confirm.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import { RequestedEnvironments } from './environments.tsx'
import { type AccessRequest, requestQueries, requestsQuery } from './queries.ts'

// Each dialog is loaded when it first opens.
const GrantRequest = lazy(async () => ({ default: (await import('./grant-request.tsx')).GrantRequest }))
const DeclineRequest = lazy(async () => ({ default: (await import('./decline.tsx')).DeclineRequest }))

/** The requests for access: those of everyone for an admin, else the person's own. */
export function RequestList({ status }: { status: 'open' | 'closed' }) {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const isAdmin = org.role !== 'member'
  const nameOf = useNameOf(org.id)
  const granting = useDialog<AccessRequest>()
  const declining = useDialog<AccessRequest>()
  const withdrawing = useConfirm(({ id }: AccessRequest) => ({
    title: 'Withdraw this request?',
    text: 'Nobody can grant it then. Keys that you got meanwhile stay yours.',
    confirm: 'Withdraw',
    onConfirm: () => api.accessRequests.withdraw({ params: { orgId: org.id, accessRequestId: id } }),
    stale: [requestQueries(org.id)],
  }))
  const columns: ListColumn<AccessRequest>[] = [
    {
      header: 'Person',
      cell: ({ userId, createdAt }) => (
        <TwoLines main={nameOf(userId)} below={<RelativeTime at={createdAt} />} belowTitle={createdAt} />
      ),
      width: 190,
    },
    {
      header: 'Asks for',
      cell: ({ environments }) => <RequestedEnvironments orgId={org.id} environments={environments} />,
    },
    { header: 'Reason', cell: ({ reason }) => <OneLine text={reason ?? ''} /> },
    {
      header: 'For',
      cell: ({ forSeconds }) => (forSeconds === null ? '' : durationText(forSeconds)),
      width: 90,
    },
    status === 'open'
      ? {
          header: 'Answer',
          width: 190,
          cell: (request) => (
            <Answers
              request={request}
              name={nameOf(request.userId)}
              isAdmin={isAdmin}
              isOwn={request.userId === me.user?.id}
              onGrant={() => granting.open(request)}
              onDecline={() => declining.open(request)}
              onWithdraw={() => withdrawing.open(request)}
            />
          ),
        }
      : { header: 'Answer', width: 240, cell: (request) => <Closed request={request} nameOf={nameOf} /> },
  ]
  return (
    <>
      <List
        label="Requests"
        query={useInfiniteQuery({
          ...requestsQuery(org.id, status),
          refetchInterval: status === 'open' ? 10_000 : false,
        })}
        rows={({ pages }) => pages.flatMap(({ requests }) => requests)}
        columns={columns}
        minWidth={850}
        rowId={({ id }) => id}
        rowName={({ userId }) => nameOf(userId)}
        empty={<Nothing status={status} isAdmin={isAdmin} slug={org.slug} />}
      />
      <Suspense>
        {granting.show((onClose, request) => (
          <GrantRequest orgId={org.id} request={request} onClose={onClose} />
        ))}
        {declining.show((onClose, request) => (
          <DeclineRequest orgId={org.id} request={request} name={nameOf(request.userId)} onClose={onClose} />
        ))}
      </Suspense>
      {withdrawing.dialog}
    </>
  )
}

function Nothing({ status, isAdmin, slug }: { status: 'open' | 'closed'; isAdmin: boolean; slug: string }) {
  if (status === 'closed') return <Empty title="No request was answered yet" />
  return isAdmin ? (
    <Empty title="Nobody asks for access" command={`skerry access ls --org ${slug}`}>
      Members ask for environments that they cannot read. An admin who holds the keys grants them here, after a
      comparison of words.
    </Empty>
  ) : (
    <Empty title="You have no open request" command={`skerry access ask web-shop/production --org ${slug}`}>
      Ask for environments that you cannot read. An admin who holds their keys answers.
    </Empty>
  )
}

function Answers(props: {
  request: AccessRequest
  name: string
  isAdmin: boolean
  isOwn: boolean
  onGrant: () => void
  onDecline: () => void
  onWithdraw: () => void
}) {
  const { request, name, isAdmin, isOwn, onGrant, onDecline, onWithdraw } = props
  if (isOwn)
    return (
      <Button size="compact-sm" variant="default" onClick={onWithdraw}>
        Withdraw…
      </Button>
    )
  if (!isAdmin) return null
  const holdsSome = request.environments.some(({ granted, held }) => held && !granted)
  return (
    <Group gap="xs" wrap="nowrap">
      <Button
        size="compact-sm"
        aria-label={`Grant ${name}`}
        disabled={!holdsSome}
        title={holdsSome ? undefined : 'You hold none of these keys. Another admin must answer.'}
        onClick={onGrant}
      >
        Grant…
      </Button>
      <Button size="compact-sm" variant="default" aria-label={`Decline ${name}`} onClick={onDecline}>
        Decline…
      </Button>
    </Group>
  )
}

const colors: Record<string, string> = { granted: 'green', declined: 'red' }

function Closed({ request, nameOf }: { request: AccessRequest; nameOf: (id: string) => string }) {
  const { status, closedAt, closedById, answer } = request
  const by = closedById === null || status === 'withdrawn' ? '' : ` by ${nameOf(closedById)}`
  return (
    <TwoLines
      main={
        <Badge color={colors[status] ?? 'gray'} variant="light">
          {status}
        </Badge>
      }
      below={
        <>
          <RelativeTime at={closedAt ?? request.expiresAt} />
          {by}
          {answer === null ? '' : `: “${answer}”`}
        </>
      }
    />
  )
}
