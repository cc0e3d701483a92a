import { Anchor, Badge, Button, Text } from '@mantine/core'
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

// The code that grants keys is loaded for admins, after the list.
const Answers = lazy(async () => ({ default: (await import('./answers.tsx')).Answers }))
const Composed = lazy(async () => ({ default: (await import('./answers.tsx')).Composed }))
// Each dialog is loaded when it first opens.
const GrantRequest = lazy(async () => ({ default: (await import('./grant-request.tsx')).GrantRequest }))
const DeclineRequest = lazy(async () => ({ default: (await import('./decline.tsx')).DeclineRequest }))
const PassOnDialog = lazy(async () => ({ default: (await import('../passing/pass-on-dialog.tsx')).PassOnDialog }))

/** The requests for access: those of everyone for an admin, else the person's own. */
export function RequestList({ status }: { status: 'open' | 'closed' }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const nameOf = useNameOf(org.id)
  const granting = useDialog<AccessRequest>()
  const comparing = useDialog<string>()
  const declining = useDialog<AccessRequest>()
  const withdrawing = useConfirm(({ id }: AccessRequest) => ({
    title: 'Withdraw this request?',
    text: 'Nobody can grant it then. Keys that you got meanwhile stay yours.',
    confirm: 'Withdraw',
    onConfirm: () => api.accessRequests.withdraw({ params: { orgId: org.id, accessRequestId: id } }),
    stale: [requestQueries(org.id)],
  }))
  const columns = useColumns(status, {
    grant: granting.open,
    compare: ({ userId }) => comparing.open(userId),
    decline: declining.open,
    withdraw: withdrawing.open,
  })
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
        minWidth={900}
        rowId={({ id }) => id}
        rowName={({ userId }) => nameOf(userId)}
        empty={<Nothing status={status} isAdmin={org.role !== 'member'} slug={org.slug} />}
      />
      <Suspense>
        {granting.show((onClose, request) => (
          <GrantRequest orgId={org.id} request={request} onClose={onClose} />
        ))}
        {comparing.show((onClose, userId) => (
          <PassOnDialog orgId={org.id} userId={userId} onClose={onClose} />
        ))}
        {declining.show((onClose, request) => (
          <DeclineRequest orgId={org.id} request={request} name={nameOf(request.userId)} onClose={onClose} />
        ))}
      </Suspense>
      {withdrawing.dialog}
    </>
  )
}

/** The acts on a request. Each opens a dialog. */
type Acts = Record<'grant' | 'compare' | 'decline' | 'withdraw', (request: AccessRequest) => void>

function useColumns(status: 'open' | 'closed', acts: Acts): ListColumn<AccessRequest>[] {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const nameOf = useNameOf(org.id)
  const isOwn = ({ userId }: AccessRequest) => userId === me.user?.id
  const isAnswerable = (request: AccessRequest) => status === 'open' && org.role !== 'member' && !isOwn(request)
  return [
    {
      header: 'Person',
      cell: ({ userId, createdAt }) => (
        <TwoLines main={nameOf(userId)} below={<RelativeTime at={createdAt} />} belowTitle={createdAt} />
      ),
      width: 170,
    },
    {
      header: 'Asks for',
      cell: (request) => (
        <>
          <RequestedEnvironments orgId={org.id} environments={request.environments} />
          <Suspense>{isAnswerable(request) && <Composed orgId={org.id} request={request} />}</Suspense>
        </>
      ),
    },
    { header: 'Reason', cell: ({ reason }) => <OneLine text={reason ?? ''} /> },
    {
      header: 'For',
      cell: (request) => (
        <Span
          request={request}
          name={nameOf(request.userId)}
          {...(isAnswerable(request) ? { onChange: () => acts.grant(request) } : {})}
        />
      ),
      width: 110,
    },
    status === 'closed'
      ? { header: 'Answer', width: 240, cell: (request) => <Closed request={request} nameOf={nameOf} /> }
      : {
          header: 'Answer',
          width: 280,
          cell: (request) => (
            <Suspense>
              {isAnswerable(request) && (
                <Answers
                  orgId={org.id}
                  request={request}
                  name={nameOf(request.userId)}
                  onCompare={() => acts.compare(request)}
                  onDecline={() => acts.decline(request)}
                />
              )}
              {isOwn(request) && (
                <Button size="compact-sm" variant="default" onClick={() => acts.withdraw(request)}>
                  Withdraw…
                </Button>
              )}
            </Suspense>
          ),
        },
  ]
}

/** How long the person needs the keys. An admin can choose another time. */
function Span(props: { request: AccessRequest; name: string; onChange?: () => void }) {
  const { request, name, onChange } = props
  const text = request.forSeconds === null ? 'until revoked' : durationText(request.forSeconds)
  if (!onChange) return <>{text}</>
  return (
    <Anchor
      component="button"
      type="button"
      size="sm"
      title="Grant for another time"
      aria-label={`${text}, grant ${name} another time`}
      onClick={onChange}
    >
      {text}
    </Anchor>
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

const colors: Record<string, string> = { granted: 'green', declined: 'red' }

function Closed({ request, nameOf }: { request: AccessRequest; nameOf: (id: string) => string }) {
  const { status, closedAt, closedById, answer } = request
  const by = closedById === null || status === 'withdrawn' ? '' : ` by ${nameOf(closedById)}`
  return (
    <>
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
      <Until request={request} />
    </>
  )
}

const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' })

/** Until when access lasts that ends by itself. */
function Until({ request: { status, forSeconds, environments } }: { request: AccessRequest }) {
  if (status !== 'granted' || forSeconds === null) return null
  const ends = environments.flatMap(({ endsAt }) => endsAt ?? []).sort()
  return (
    <Text size="xs" c="dimmed">
      {ends[0] === undefined ? 'The access has ended.' : `Until ${exact.format(new Date(ends[0]))}`}
    </Text>
  )
}
