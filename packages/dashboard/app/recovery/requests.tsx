import { Badge, Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { lazy, Suspense, useEffect } from 'react'
import { invalidate } from '../queries.ts'
import { membersQuery, useNameOf } from '../secrets/use-name-of.ts'
import { TwoLines } from '../ui/cells.tsx'
import { Empty } from '../ui/empty.tsx'
import { List, type ListColumn, type RowAction } from '../ui/list.tsx'
import { Section } from '../ui/page.tsx'
import { timeColumn } from '../ui/relative-time.tsx'
import { useDialog } from '../ui/use-dialog.ts'
import { isOwnDrill } from './ceremony.ts'
import { isOpen, ownShareQuery, type RecoveryRequest, recoveryKeyQuery, requestsQuery } from './queries.ts'
import type { OpenRequestDialog } from './request-dialogs.tsx'

// This part of the page is loaded when it first opens.
const RequestDialog = lazy(async () => ({ default: (await import('./request-dialogs.tsx')).RequestDialog }))

/**
 * The recovery requests. Custodians contribute shares, the person to recover completes the request, and admins open and
 * cancel it.
 */
export function Requests() {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const nameOf = useNameOf(org.id)
  const query = useQuery(requestsQuery(org.id))
  useNewMembers(org.id, query.data ?? [])
  const isCustodian = Boolean(useQuery(ownShareQuery(org.id)).data)
  const isSetUp = Boolean(useQuery(recoveryKeyQuery(org.id)).data?.recoveryPublicKeyJwk)
  const dialog = useDialog<OpenRequestDialog>()
  const isAdmin = org.role !== 'member'
  const forWhom = ({ drill, targetId }: RecoveryRequest) => (drill ? 'A drill' : nameOf(targetId ?? ''))
  const actions = (request: RecoveryRequest): RowAction[] => {
    if (!isOpen(request)) return []
    const opens = (kind: 'contribute' | 'complete' | 'cancel') => () => dialog.open({ kind, request })
    const isReady = request.contributed >= request.threshold
    const completes = isOwnDrill(request) || request.targetId === me.user?.id
    return [
      ...(isCustodian ? [{ label: 'Give my share…', onClick: opens('contribute') }] : []),
      ...(completes ? [{ label: 'Complete…', disabled: !isReady, onClick: opens('complete') }] : []),
      ...(isAdmin ? [{ label: 'Cancel…', danger: true, onClick: opens('cancel') }] : []),
    ]
  }
  return (
    <Section
      title="Requests"
      description="Custodians wrap their shares to the person whom a request is for, and only that person’s browser puts them together."
      actions={
        isAdmin &&
        isSetUp && (
          <>
            <Button variant="default" onClick={() => dialog.open({ kind: 'drill', request: null })}>
              Begin a drill…
            </Button>
            <Button variant="default" onClick={() => dialog.open({ kind: 'ask', request: null })}>
              Recover for someone…
            </Button>
          </>
        )
      }
    >
      <List
        label="Recovery requests"
        query={query}
        rows={(requests) => requests}
        columns={columnsOf(forWhom)}
        minWidth={620}
        rowId={({ id }) => id}
        rowName={forWhom}
        actions={actions}
        empty={<Empty title="No open request" />}
      />
      <Suspense>
        {dialog.show((onClose, opened) => (
          <RequestDialog dialog={opened} nameOf={nameOf} onClose={onClose} />
        ))}
      </Suspense>
    </Section>
  )
}

/**
 * Reloads the members if a request is for someone who is not in the list. That person may have joined after the list
 * was loaded.
 */
function useNewMembers(orgId: string, requests: RecoveryRequest[]) {
  const members = useQuery(membersQuery(orgId)).data?.members
  const isNew = ({ targetType, targetId }: RecoveryRequest) =>
    targetType === 'user' && members !== undefined && !members.some(({ userId }) => userId === targetId)
  const newest = requests.find(isNew)?.id
  // Only once for each request, because the person may also have left the organization.
  useEffect(() => {
    if (newest !== undefined) void invalidate(membersQuery(orgId))
  }, [orgId, newest])
}

const columnsOf = (forWhom: (request: RecoveryRequest) => string): ListColumn<RecoveryRequest>[] => [
  {
    header: 'For',
    cell: (request) => <TwoLines main={forWhom(request)} below={request.reason} />,
    sort: forWhom,
    width: '36%',
  },
  { header: 'Shares', cell: ({ contributed, threshold }) => `${contributed} of ${threshold}`, width: 110 },
  { header: 'State', cell: ({ status }) => <State status={status} />, sort: ({ status }) => status, width: 130 },
  timeColumn('Asked', 'createdAt'),
]

const colors: Record<RecoveryRequest['status'], string> = {
  open: 'yellow',
  completed: 'sea',
  cancelled: 'gray',
  expired: 'gray',
}

function State({ status }: { status: RecoveryRequest['status'] }) {
  return (
    <Badge color={colors[status]} variant="light">
      {status}
    </Badge>
  )
}
