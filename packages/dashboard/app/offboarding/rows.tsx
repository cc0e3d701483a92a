import { Badge, Button, Group, Menu, Table, Text } from '@mantine/core'
import {
  type OffboardingRow,
  offboardingStateWords,
  offboardingSubject,
  rekeyability,
} from '@skerry/sdk/internal/offboarding'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { nameOfMember } from '../people/member.ts'
import { membersQuery, useNameOf } from '../secrets/use-name-of.ts'
import { AnchorLink } from '../ui/links.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { RelativeTime } from '../ui/relative-time.tsx'
import { showToast } from '../ui/toast.ts'
import { offboardingQueries } from './queries.ts'

/** The number of rows that are shown before the person asks for the rest. */
const shownAtFirst = 12

interface Props {
  offboardingId: string
  rows: OffboardingRow[]
  /** The row that is re-keyed in this tab. */
  current?: string | null
  isFinished: boolean
}

/** The rows of one step, the open ones first. */
export function Rows({ rows, label, ...more }: Props & { label: string }) {
  const [isWhole, setWhole] = useState(false)
  const sorted = [...rows.filter(isOpen), ...rows.filter((row) => !isOpen(row))]
  const shown = isWhole ? sorted : sorted.slice(0, shownAtFirst)
  if (rows.length === 0) return null
  return (
    <>
      <Table role="table" aria-label={label}>
        <Table.Tbody role="rowgroup">
          {shown.map((row) => (
            <Row key={row.id} row={row} {...more} />
          ))}
        </Table.Tbody>
      </Table>
      {shown.length < sorted.length && (
        <Button variant="subtle" size="compact-sm" mt={4} onClick={() => setWhole(true)}>
          Show {sorted.length - shown.length} more
        </Button>
      )}
    </>
  )
}

export const isOpen = ({ state }: OffboardingRow): boolean => state === 'waiting'

function Row({ row, offboardingId, current, isFinished }: Omit<Props, 'rows'> & { row: OffboardingRow }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const nameOf = useNameOf(org.id)
  return (
    <Table.Tr role="row">
      <Table.Td role="cell">
        <Subject row={row} />
        {row.note && (
          <Text size="xs" c="dimmed">
            {row.note}
          </Text>
        )}
      </Table.Td>
      <Table.Td role="cell" w={190}>
        {current === row.id ? (
          <Badge variant="light">re-keying in this tab</Badge>
        ) : (
          <Badge color={colorOf(row)} variant="light">
            {stateOf(row)}
          </Badge>
        )}
        <Text size="xs" c="dimmed">
          {row.changedById !== null && !isOpen(row) ? nameOf(row.changedById) : ''}{' '}
          {row.changedAt !== null && !isOpen(row) && <RelativeTime at={row.changedAt} />}
          {row.assigneeId !== null && isOpen(row) && `handed to ${nameOf(row.assigneeId)}`}
        </Text>
      </Table.Td>
      <Table.Td role="cell" w={240} ta="right">
        {!isFinished && current !== row.id && <Actions row={row} offboardingId={offboardingId} />}
      </Table.Td>
    </Table.Tr>
  )
}

function Subject({ row }: { row: OffboardingRow }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const text = offboardingSubject(row)
  if (row.environmentId === null || row.state === 'deleted') return <>{text || 'The recovery key'}</>
  const params = { org: org.slug, env: row.environmentId }
  if (row.changeRequestId !== null && rekeyability(row) === 'proposed')
    return (
      <>
        {text}
        <Text size="xs" c="dimmed">
          The new key was proposed as{' '}
          <AnchorLink
            to="/orgs/$org/changes/$change"
            params={{ org: org.slug, change: row.changeRequestId }}
            size="xs"
            underline="always"
          >
            a change
          </AnchorLink>
          . The row is done when it is approved.
        </Text>
      </>
    )
  return (
    <AnchorLink to="/orgs/$org/envs/$env" params={params} size="sm">
      {text}
    </AnchorLink>
  )
}

const colorOf = (row: OffboardingRow): string => {
  if (!isOpen(row)) return row.state === 'not_needed' ? 'gray' : 'green'
  return rekeyability(row) === 'no_key' ? 'red' : 'yellow'
}

function stateOf(row: OffboardingRow): string {
  const why = rekeyability(row)
  if (why === 'proposed') return 'waits for approval'
  if (why === 'to_propose') return 'needs approval'
  if (why === 'no_key') return 'you hold no key'
  return row.kind === 'rekey' && row.state === 'done' ? 're-keyed' : offboardingStateWords[row.state]
}

type Change = Parameters<typeof api.offboardings.change>[0]['body']

function Actions({ row, offboardingId }: { row: OffboardingRow; offboardingId: string }) {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const admins = (useQuery(membersQuery(org.id)).data?.members ?? []).filter(({ role }) => role !== 'member')
  const params = { orgId: org.id, offboardingId, offboardingRowId: row.id }
  const change = useAction((body: Change) => api.offboardings.change({ params, body }), {
    stale: [offboardingQueries(org.id)],
  })
  const remind = useAction(() => api.offboardings.remind({ params }), {
    done: () => showToast('The reminder was sent.'),
  })
  const assignee = admins.find(({ userId }) => userId === row.assigneeId)
  const way = rekeyability(row)
  // Any admin can approve a proposed re-key. Only a holder can begin one.
  const able =
    row.kind === 'rekey' && way !== 'proposed' ? admins.filter(({ userId }) => row.holderIds.includes(userId)) : admins
  const others = able.filter(({ userId }) => userId !== row.assigneeId)
  const [first] = others
  const isSettled = !isOpen(row) && (row.state === 'done' || row.state === 'deleted')
  if (isSettled) return null
  const subject = offboardingSubject(row) || 'the recovery key'
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      {row.kind === 'rotate_value' && isOpen(row) && (
        <Button
          variant="default"
          size="compact-xs"
          loading={change.pending}
          aria-label={`${subject} is replaced`}
          onClick={() => change.run({ state: 'done' })}
        >
          Replaced
        </Button>
      )}
      {way === 'no_key' && row.assigneeId === null && first && (
        <Button
          variant="default"
          size="compact-xs"
          loading={change.pending}
          aria-label={`Hand ${subject} to ${nameOfMember(first)}`}
          onClick={() => change.run({ assigneeId: first.userId })}
        >
          Hand to {nameOfMember(first)}
        </Button>
      )}
      {isOpen(row) && assignee && assignee.userId !== me.user?.id && (
        <Button
          variant="default"
          size="compact-xs"
          loading={remind.pending}
          aria-label={`Remind ${nameOfMember(assignee)} of ${subject}`}
          onClick={() => remind.run()}
        >
          Remind
        </Button>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="subtle" size="compact-xs" aria-label={`More for ${subject}`}>
            More
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {isOpen(row) ? (
            <Menu.Item onClick={() => change.run({ state: 'not_needed' })}>Not needed</Menu.Item>
          ) : (
            <Menu.Item onClick={() => change.run({ state: 'waiting' })}>Open again</Menu.Item>
          )}
          {isOpen(row) &&
            others.map((one) => (
              <Menu.Item key={one.userId} onClick={() => change.run({ assigneeId: one.userId })}>
                Hand to {nameOfMember(one)}
              </Menu.Item>
            ))}
        </Menu.Dropdown>
      </Menu>
      <ProblemAlert error={change.error ?? remind.error} />
    </Group>
  )
}
