import { Alert, Button, Group, Paper, Stack, Text, Textarea } from '@mantine/core'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { outdated } from '../queries.ts'
import { Section } from '../ui/page.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import type { useComparison } from './difference.tsx'
import type { ChangeRequest } from './queries.ts'

/** Approve, reject, withdraw: what of these this person may do. */
export function Decision(props: { change: ChangeRequest; compared: ReturnType<typeof useComparison> }) {
  const { change, compared } = props
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const [comment, setComment] = useState('')
  const isAdmin = org.role !== 'member'
  const isOwn = change.proposedById === me.user?.id
  const params = { orgId: org.id, changeRequestId: change.id }
  const body = comment.trim() === '' ? {} : { comment: comment.trim() }
  const decide = useAction(async (what: 'approve' | 'reject' | 'withdraw') => {
    if (what === 'approve') await api.changes.approve({ params, body })
    else if (what === 'reject') await api.changes.reject({ params, body })
    else await api.changes.withdraw({ params })
    setComment('')
    await outdated({ queryKey: ['orgs', org.id] })
  })
  if (!isAdmin && !isOwn) return null
  return (
    <Section title="Decision">
      <Paper>
        <Stack>
          {isAdmin && (
            <Textarea
              label="Comment"
              description="For the proposer and other reviewers. The server can read it: write no values."
              autosize
              minRows={2}
              maxRows={8}
              maxLength={2000}
              value={comment}
              onChange={(event) => setComment(event.currentTarget.value)}
            />
          )}
          <ProblemAlert error={decide.error} />
          <Group gap="xs">
            {isAdmin && (
              <>
                <Button
                  loading={decide.pending}
                  disabled={!mayApprove(change, isOwn, compared)}
                  onClick={() => decide.run('approve')}
                >
                  Approve
                </Button>
                <Button variant="default" disabled={decide.pending} onClick={() => decide.run('reject')}>
                  Reject
                </Button>
              </>
            )}
            <Button variant="subtle" color="gray" disabled={decide.pending} onClick={() => decide.run('withdraw')}>
              Withdraw
            </Button>
          </Group>
          <Why change={change} isOwn={isOwn} isAdmin={isAdmin} compared={compared} />
        </Stack>
      </Paper>
    </Section>
  )
}

/** Whoever holds the key looks first: one value that does not open fails every read of the environment. */
function mayApprove(change: ChangeRequest, isOwn: boolean, { sides, sealed, comparison }: Props['compared']): boolean {
  if (isOwn && !change.allowSelfApproval) return false
  if (sides.data === null) return true
  if (sealed === null) return sides.data !== undefined && change.action !== 'restore'
  return comparison.data !== undefined && comparison.data !== 'unreadable'
}

interface Props {
  change: ChangeRequest
  isOwn: boolean
  isAdmin: boolean
  compared: ReturnType<typeof useComparison>
}

function Why({ change, isOwn, isAdmin, compared: { sides, sealed, comparison } }: Props) {
  const say = (text: string) => (
    <Text size="xs" c="dimmed">
      {text}
    </Text>
  )
  if (!isAdmin) return say('You proposed this, so you can take it back.')
  if (isOwn && !change.allowSelfApproval) return say('Someone else has to approve what you proposed.')
  if (sides.data && sides.data.currentVersion !== change.baseVersion)
    return (
      <Alert color="yellow" variant="light">
        The secret has changed since this was proposed. It can no longer be applied: approving closes it.
      </Alert>
    )
  if (sides.data === null)
    return (
      <Alert color="yellow" variant="light">
        You would approve without seeing the value.
      </Alert>
    )
  if (sealed !== null && comparison.data === undefined) return say('Unlock the keyring to approve: you then see what.')
  return null
}
