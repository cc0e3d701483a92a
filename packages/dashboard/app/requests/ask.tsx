import { Button, Group, Input, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useAction } from '../action.ts'
import { api } from '../api.ts'
import { missingOfQuery } from '../passing/queries.ts'
import { EnvironmentGrid } from '../people/environment-grid.tsx'
import { nameOfMember } from '../people/member.ts'
import { membersQuery } from '../secrets/use-name-of.ts'
import { durationText } from '../ui/durations.ts'
import { Form } from '../ui/form.tsx'
import { FormDialog } from '../ui/form-dialog.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { showToast } from '../ui/toast.ts'
import { type Owner, openRequestsQuery, ownersQuery, requestQueries } from './queries.ts'

const told = 'The admins were told. The page shows the values as soon as an admin grants you the key.'

/** A request for access: which environments, why, and for how long. */
function useAsk(orgId: string, first: readonly string[]) {
  const [ticked, setChosen] = useState<ReadonlySet<string>>(new Set(first))
  const owners = useQuery(ownersQuery(orgId)).data
  const there = new Set(owners?.flatMap(({ environments }) => environments.map(({ id }) => id)))
  // An environment that was deleted meanwhile has no tick any more. A branch has none in the grid.
  const chosen = owners ? new Set([...ticked].filter((id) => there.has(id) || first.includes(id))) : ticked
  const [reason, setReason] = useState('')
  const [seconds, setSeconds] = useState<number | null>(null)
  const send = async () => {
    const text = reason.trim()
    const body = {
      environmentIds: [...chosen],
      ...(text === '' ? {} : { reason: text }),
      ...(seconds === null ? {} : { forSeconds: seconds }),
    }
    await api.accessRequests.create({ params: { orgId }, body })
    setChosen(new Set())
    setReason('')
    showToast(told)
  }
  const { size } = chosen
  const submit = size === 0 ? 'Ask for access' : `Ask for ${size} ${size === 1 ? 'environment' : 'environments'}`
  return { orgId, chosen, setChosen, reason, setReason, seconds, setSeconds, send, submit, isReady: size > 0 }
}

/** The fields to ask for environments, on a page. */
export function AskForm({ orgId }: { orgId: string }) {
  const ask = useAsk(orgId, [])
  const action = useAction(ask.send, { stale: [requestQueries(orgId)] })
  return (
    <Form onSubmit={() => action.run()}>
      <Stack>
        <AskFields ask={ask} />
        <ProblemAlert error={action.error} />
        <Group>
          <Button type="submit" loading={action.pending} disabled={!ask.isReady}>
            {ask.submit}
          </Button>
        </Group>
      </Stack>
    </Form>
  )
}

/** The same in a dialog. `first` are the environments that are ticked when it opens. */
export function AskDialog(props: { orgId: string; first?: readonly string[]; onClose: () => void }) {
  const { orgId, first = [], onClose } = props
  const ask = useAsk(orgId, first)
  return (
    <FormDialog
      title="Ask for access"
      submit={ask.submit}
      onClose={onClose}
      onSubmit={ask.send}
      stale={[requestQueries(orgId)]}
      disabled={!ask.isReady}
      size="xl"
    >
      <AskFields ask={ask} />
    </FormDialog>
  )
}

function AskFields({ ask }: { ask: ReturnType<typeof useAsk> }) {
  const { orgId, chosen, setChosen, reason, setReason, seconds, setSeconds } = ask
  const owners = useQuery(ownersQuery(orgId))
  return (
    <>
      <Loaded query={owners}>
        {(all) =>
          all.every(({ environments }) => environments.length === 0) ? (
            <Text size="sm" c="dimmed">
              There is no environment yet. An admin creates the first one.
            </Text>
          ) : (
            <AskGrid orgId={orgId} owners={all} chosen={chosen} onChange={setChosen} />
          )
        }
      </Loaded>
      <TextInput
        label="Reason"
        description="Optional. The admins and the audit log show it, and the server can read it."
        maxLength={500}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
        autoComplete="off"
      />
      <HowLong value={seconds} onChange={setSeconds} />
      <WhoIsTold orgId={orgId} />
    </>
  )
}

/** The grid without the environments that the person can read, has asked for, or gets anyway. */
function AskGrid(props: {
  orgId: string
  owners: readonly Owner[]
  chosen: ReadonlySet<string>
  onChange: (chosen: ReadonlySet<string>) => void
}) {
  const { orgId, owners, chosen, onChange } = props
  const { me } = useRouteContext({ from: '/_app/orgs/$org' })
  const ownId = me.principal.id
  const open = (useQuery(openRequestsQuery(orgId)).data?.requests ?? []).filter(({ userId }) => userId === ownId)
  const asked = new Set(open.flatMap(({ environments }) => environments.map(({ environmentId }) => environmentId)))
  const due = new Set((useQuery(missingOfQuery(orgId, ownId)).data ?? []).map(({ environmentId }) => environmentId))
  const readable = new Set(
    owners.flatMap(({ environments }) => environments.flatMap(({ id, canDecrypt }) => (canDecrypt ? [id] : []))),
  )
  // The grid marks cells whose key the person could pass on. Here nobody passes anything on.
  const plain = useMemo(
    () =>
      owners.map((one) => ({ ...one, environments: one.environments.map((env) => ({ ...env, canDecrypt: true })) })),
    [owners],
  )
  return (
    <EnvironmentGrid
      owners={plain}
      chosen={chosen}
      onChange={onChange}
      has={readable}
      blockedBecause={({ id }) =>
        asked.has(id) ? 'asked, waiting' : due.has(id) ? 'opens when an admin passes the key on' : null
      }
      unheldText=""
    />
  )
}

const hour = 3600
const spans = [hour, 8 * hour, 7 * 24 * hour]

function HowLong({ value, onChange }: { value: number | null; onChange: (seconds: number | null) => void }) {
  return (
    <Input.Wrapper label="For how long" labelElement="div">
      <div>
        <SegmentedControl
          aria-label="For how long"
          value={value === null ? 'always' : `${value}`}
          data={[
            ...spans.map((seconds) => ({ value: `${seconds}`, label: durationText(seconds) })),
            { value: 'always', label: 'Until it is revoked' },
          ]}
          onChange={(chosen) => onChange(chosen === 'always' ? null : Number(chosen))}
        />
      </div>
    </Input.Wrapper>
  )
}

/** The people who can answer, without the person who asks. */
function WhoIsTold({ orgId }: { orgId: string }) {
  const { me } = useRouteContext({ from: '/_app/orgs/$org' })
  const members = useQuery(membersQuery(orgId)).data?.members ?? []
  const admins = members.filter(({ userId, role }) => role !== 'member' && userId !== me.principal.id)
  if (admins.length === 0) return null
  const names = admins.slice(0, 4).map(nameOfMember)
  const more = admins.length - names.length
  const all = new Intl.ListFormat('en').format(more > 0 ? [...names, `${more} other admins`] : names)
  return (
    <Text size="sm" c="dimmed">
      Requests go to {all}. The first answer counts.
    </Text>
  )
}
