import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { useCandidates } from '../envs/candidates.ts'
import { Fingerprint } from '../envs/fingerprint.tsx'
import { pin, useChecked } from '../envs/pins.ts'
import { isFresh, orgQueries } from '../queries.ts'
import { ConfirmDelete } from '../ui/confirm-delete.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Form } from '../ui/form.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { showToast } from '../ui/toast.ts'
import { beginDrill, complete, contribute, endDrill, type FalseShares, isOwnDrill, openRequest } from './ceremony.ts'
import { FalseSharesNote, type NameOf, namesOf } from './false-shares.tsx'
import { isOpen, type RecoveryRequest, requestsQuery } from './queries.ts'

export type OpenRequestDialog =
  | { kind: 'contribute' | 'complete' | 'cancel'; request: RecoveryRequest }
  | { kind: 'ask' | 'drill'; request: null }

interface Props {
  dialog: OpenRequestDialog
  nameOf: NameOf
  onClose: () => void
}

export function RequestDialog({ dialog, nameOf, onClose }: Props) {
  if (dialog.request === null)
    return dialog.kind === 'ask' ? <AskDialog onClose={onClose} /> : <DrillDialog onClose={onClose} />
  const props = { request: dialog.request, nameOf, onClose }
  if (dialog.kind === 'contribute') return <ContributeDialog {...props} />
  if (dialog.kind === 'complete') return <CompleteDialog {...props} />
  return <CancelDialog {...props} />
}

interface OnRequest {
  request: RecoveryRequest
  nameOf: NameOf
  onClose: () => void
}

/** An admin opens a request for a member. The custodians compare the words with that member, not with the admin. */
function AskDialog({ onClose }: { onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const members = useCandidates(org.id, []).filter(({ principalType }) => principalType === 'user')
  const requests = useQuery({ ...requestsQuery(org.id), staleTime: 0 })
  const [id, setId] = useState<string | null>(null)
  const [reason, setReason] = useState('')
  const to = members.find(({ principalId }) => principalId === id)
  const isAskedFor = requests.data?.some((one) => isOpen(one) && one.targetId === id) ?? false
  const ask = async () => {
    if (!to) return
    await openRequest(org.id, { userId: to.principalId, publicKeyJwk: to.publicKeyJwk }, reason)
    showToast(`The custodians are asked. Tell them to compare the words with ${to.label}.`)
  }
  return (
    <FormDialog
      title="Recover for someone"
      submit="Ask the custodians"
      onClose={onClose}
      onSubmit={ask}
      stale={[orgQueries(org.id, 'recovery')]}
      disabled={!to || isAskedFor || !isFresh(requests)}
    >
      <Text size="sm">
        They get every environment that the recovery key covers. Somebody who forgot a passphrase replaces their key
        pair first.
      </Text>
      <Select
        label="Member"
        description="Members with a keyring."
        searchable
        data={members.map(({ principalId, label }) => ({ value: principalId, label }))}
        value={id}
        onChange={setId}
        error={isAskedFor && 'A request for them is open already.'}
        data-autofocus
      />
      <TextInput
        label="Reason"
        description="Custodians and the audit log show it."
        maxLength={500}
        autoComplete="off"
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </FormDialog>
  )
}

function DrillDialog({ onClose }: { onClose: () => void }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  return (
    <FormDialog
      title="Begin a drill"
      submit="Ask the custodians"
      onClose={onClose}
      onSubmit={() => beginDrill(org.id)}
      stale={[orgQueries(org.id, 'recovery')]}
    >
      <Text size="sm">
        A drill shows that enough custodians still have their shares. This browser makes a temporary key. Tell its words
        to the custodians, who give their shares to it. Nobody gets access. Only this browser can complete the drill.
      </Text>
    </FormDialog>
  )
}

/**
 * A contributed share cannot be taken back. So a custodian must have compared the words, unless the request is their
 * own.
 */
function ContributeDialog({ request, nameOf, onClose }: OnRequest) {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const { drill, targetId, targetPublicKeyJwk, reason, requestedById } = request
  const target = drill ? 'the person who began the drill' : nameOf(targetId ?? '')
  const holder = { principalId: drill ? `drill/${request.id}` : (targetId ?? ''), publicKeyJwk: targetPublicKeyJwk }
  const checked = useChecked([holder])?.[0]
  const [compared, setCompared] = useState(false)
  const isOwn = targetId === me.user?.id || isOwnDrill(request)
  const give = async () => {
    if (checked && compared) pin(holder.principalId, checked.fingerprint)
    const { contributed, threshold } = await contribute(org.id, request)
    showToast(
      contributed >= threshold ? 'Enough shares are there.' : `${contributed} of ${threshold} shares are there.`,
    )
  }
  return (
    <FormDialog
      title="Give my share"
      submit="Give my share"
      onClose={onClose}
      onSubmit={give}
      stale={[orgQueries(org.id, 'recovery')]}
      disabled={!checked || !(compared || isOwn || checked.status === 'verified')}
      size="lg"
    >
      <Text size="sm">
        {nameOf(requestedById)} asked for {drill ? 'a drill' : target}
        {reason === null ? '.' : `: ${reason}`} With enough shares,{' '}
        {drill ? 'the drill passes' : `${target} can read every covered environment`}.
      </Text>
      {checked && !isOwn && (
        <Fingerprint holder={target} checked={checked} compared={compared} onCompared={setCompared} />
      )}
    </FormDialog>
  )
}

/**
 * Completes a request in the browser of the person it is for. If it fails, the dialog stays open to name the false
 * shares, because no other page shows them.
 */
function CompleteDialog({ request, nameOf, onClose }: OnRequest) {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const [falseShares, setFalseShares] = useState<FalseShares | null>(null)
  const recover = useAction(async () => {
    const outcome = request.drill
      ? await endDrill(org.id, request.id)
      : await complete(org.id, request.id, me.user?.id ?? '')
    const isDone = 'passed' in outcome ? outcome.passed : outcome.granted !== null
    setFalseShares(isDone ? null : outcome.falseShares)
    if (!isDone) return
    const left =
      outcome.falseShares.length === 0
        ? ''
        : ` These shares were false and left out: ${namesOf(outcome.falseShares, nameOf)}.`
    showToast(`${request.drill ? 'The drill has passed.' : 'You can read again.'}${left}`)
    onClose()
  })
  return (
    <Dialog
      opened
      onClose={() => recover.pending || onClose()}
      title={request.drill ? 'Complete the drill?' : 'Recover in this browser?'}
    >
      <Form onSubmit={() => recover.run()}>
        <Stack>
          <Text size="sm">
            {request.drill
              ? 'This browser puts the shares together, and forgets them at once.'
              : 'This browser puts the shares together, gives you the keys of the environments, and forgets the recovery key. An admin should rotate the recovery key afterwards.'}
          </Text>
          {falseShares && <FalseSharesNote falseShares={falseShares} nameOf={nameOf} />}
          <ProblemAlert error={recover.error} />
          <Group justify="flex-end">
            <Button variant="default" disabled={recover.pending} onClick={onClose}>
              Not now
            </Button>
            <Button type="submit" loading={recover.pending}>
              {request.drill ? 'Complete it' : 'Recover'}
            </Button>
          </Group>
        </Stack>
      </Form>
    </Dialog>
  )
}

function CancelDialog({ request, onClose }: OnRequest) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const cancel = () => api.recoveryRequests.cancel({ params: { orgId: org.id, recoveryRequestId: request.id } })
  return (
    <ConfirmDelete
      title="Cancel the request?"
      confirm="Cancel the request"
      decline="Keep the request"
      onClose={onClose}
      onConfirm={cancel}
      stale={[orgQueries(org.id, 'recovery')]}
    >
      The shares that were given are deleted. A new request starts without shares.
    </ConfirmDelete>
  )
}
