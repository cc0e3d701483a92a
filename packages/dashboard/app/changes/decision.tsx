import { Alert, Button, Group, Paper, Stack, Text, Textarea } from '@mantine/core'
import { isSecretChange } from '@skerry/sdk/secret-change'
import { useRouteContext } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { useApiForm, useSubmit } from '../form/use-api-form.ts'
import { orgQueries } from '../queries.ts'
import { Section } from '../ui/page.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { useConfirm } from '../ui/use-confirm.tsx'
import type { Compared } from './difference.tsx'
import type { ChangeRequest } from './queries.ts'

/** A question before an approval, for example because the person cannot see the values. */
export interface ApprovalQuestion {
  title: string
  text: string
  confirm: string
  decline: string
}

/** The decision about changes of secrets, after the person has compared the values. */
export function SecretsDecision({ change, compared }: { change: ChangeRequest; compared: Compared[] }) {
  const unseen = compared.filter(({ sides }) => sides.data === null).length
  const unproven = compared.filter(({ comparison }) => comparison.data?.restored === 'unproven').length
  const question = unseen > 0 ? unseenQuestion(unseen) : unproven > 0 ? unprovenQuestion(unproven) : null
  return (
    <Decision
      change={change}
      question={question}
      isSeen={compared.length > 0 && compared.every(isSeen)}
      why={<Why compared={compared} />}
    />
  )
}

/**
 * The buttons to approve, reject or withdraw a change, as far as this person may. People who hold the key must compare the
 * values before they approve (`isSeen`). One value that cannot be decrypted would fail every read of the environment.
 */
export function Decision(props: {
  change: ChangeRequest
  question: ApprovalQuestion | null
  isSeen: boolean
  why: ReactNode
  /** Runs before the approval is sent, and may stop it. */
  onApproving?: () => Promise<void>
  onApplied?: () => Promise<void>
}) {
  const { change, question, isSeen, why, onApproving, onApplied } = props
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const form = useApiForm('changes', 'approve', { comment: '' })
  const isAdmin = org.role !== 'member'
  const isOwn = change.proposedById === me.user?.id
  const params = { orgId: org.id, changeRequestId: change.id }
  const decided = { stale: [orgQueries(org.id)], done: form.reset }
  const toBody = ({ comment }: { comment: string }) => (comment === '' ? {} : { comment })
  const approve = useSubmit(
    form,
    async (values) => {
      const body = { ...toBody(values), ...(isSecretChange(change) ? {} : { rekey: true as const }) }
      await onApproving?.()
      const { status } = await api.changes.approve({ params, body })
      if (status === 'applied') await onApplied?.()
    },
    decided,
  )
  const reject = useSubmit(form, (values) => api.changes.reject({ params, body: toBody(values) }), decided)
  const withdraw = useAction(() => api.changes.withdraw({ params }), decided)
  const asking = useConfirm(() => ({ ...(question ?? withdrawalQuestion), onConfirm: approve.run }))
  const withdrawing = useConfirm(() => ({ ...withdrawalQuestion, onConfirm: withdraw.run }))
  const pending = approve.pending || reject.pending || withdraw.pending
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
              {...form.getInputProps('comment')}
            />
          )}
          <ProblemAlert error={approve.error ?? reject.error ?? withdraw.error} />
          <Group gap="xs">
            {isAdmin && (
              <>
                <Button
                  loading={approve.pending}
                  disabled={pending || !isSeen || (isOwn && !change.allowSelfApproval)}
                  onClick={() => (question ? asking.open() : approve.run())}
                >
                  {question?.confirm ?? 'Approve'}
                </Button>
                <Button variant="default" disabled={pending} onClick={() => reject.run()}>
                  Reject
                </Button>
              </>
            )}
            <Button variant="subtle" color="gray" disabled={pending} onClick={() => withdrawing.open()}>
              Withdraw…
            </Button>
          </Group>
          {!isAdmin && <Note>You proposed this, so you can withdraw it.</Note>}
          {isAdmin && isOwn && !change.allowSelfApproval && (
            <Note>You proposed this, so someone else must approve it.</Note>
          )}
          {isAdmin && (!isOwn || change.allowSelfApproval) && why}
        </Stack>
      </Paper>
      {asking.dialog}
      {withdrawing.dialog}
    </Section>
  )
}

export const Note = ({ children }: { children: ReactNode }) => (
  <Text size="xs" c="dimmed">
    {children}
  </Text>
)

const approveUnseen = (unseen: number) =>
  unseen === 1 ? 'Approve without seeing the value' : `Approve without seeing ${unseen} values`

const unseenQuestion = (unseen: number) => ({
  title: `${approveUnseen(unseen)}?`,
  text: `You hold no key of this environment, so you cannot read ${unseen === 1 ? 'the value' : `these ${unseen} values`}. If the change has enough approvals with yours, programs get it. Ask a holder of the key to look at it first, or to grant you the key.`,
  confirm: approveUnseen(unseen),
  decline: 'Do not approve',
})

const unprovenQuestion = (unproven: number) => ({
  title: 'Approve without a comparison?',
  text: `Nobody can compare ${unproven === 1 ? 'the value of this restore' : `the values of ${unproven} restores`} with the original. The proposer may have encrypted another value. Reveal and read it before you approve.`,
  confirm: 'Approve without a comparison',
  decline: 'Do not approve',
})

const withdrawalQuestion = {
  title: 'Withdraw this proposal?',
  text: 'You cannot reopen it. If you need it later, propose it again.',
  confirm: 'Withdraw',
  decline: 'Keep it open',
}

function isSeen({ change, sides, sealed, comparison }: Compared): boolean {
  if (sides.data === null) return true
  if (sealed === null) return sides.data !== undefined && change.action !== 'restore'
  const { data } = comparison
  return data !== undefined && data.comparison !== 'unreadable' && data.restored !== 'different'
}

function Why({ compared }: { compared: Compared[] }) {
  const moved = compared.find(({ change: one, sides }) => sides.data && sides.data.currentVersion !== one.baseVersion)
  if (moved)
    return (
      <Alert color="yellow" variant="light">
        {compared.length > 1 ? `${moved.change.secretName} has` : 'The secret has'} changed since this was proposed. It
        can no longer be applied: approving closes it.
      </Alert>
    )
  if (compared.some(({ sides }) => sides.data === null))
    return (
      <Alert color="yellow" variant="light">
        You hold no key of this environment: you cannot read {compared.length > 1 ? 'the values' : 'the value'} that you
        approve.
      </Alert>
    )
  if (compared.some(({ sealed, comparison }) => sealed !== null && comparison.data === undefined))
    return <Note>Unlock the keyring to see what you approve.</Note>
  return null
}
