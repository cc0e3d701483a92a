import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useQueries, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useAction } from '../action.ts'
import { Fingerprint, FirstWords } from '../envs/fingerprint.tsx'
import { type Checked, checkedKeys, pin, useChecked } from '../envs/pins.ts'
import { nameOfMember } from '../people/member.ts'
import { invalidate, isFresh } from '../queries.ts'
import { RequestedEnvironments } from '../requests/environments.tsx'
import { granteesQuery } from '../secrets/queries.ts'
import { membersQuery } from '../secrets/use-name-of.ts'
import { requireListed } from '../trust/checks.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Form } from '../ui/form.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { showToast } from '../ui/toast.ts'
import { passedQueries, resultText } from './grant-at-once.ts'
import { type PassedKey, passOn, reasonText } from './pass-on.ts'
import { type WantedKey, wantedQuery } from './queries.ts'

interface Props {
  orgId: string
  userId: string
  onClose: () => void
}

/**
 * Compares the words of a person’s key, and passes on what the person waits for: keys of their invitation, of their teams
 * and of their open requests. One press stores the comparison and wraps all keys that this admin holds.
 */
export function PassOnDialog(props: Props) {
  const { orgId, userId, onClose } = props
  const wanted = useQuery(wantedQuery(orgId, userId))
  const name = wanted.data?.member ? nameOfMember(wanted.data.member) : 'this person'
  return (
    <Dialog opened onClose={onClose} title={`Keys for ${name}`} closeOnClickOutside={false} size="lg">
      <Loaded query={wanted}>
        {({ member, keys }) =>
          member?.publicKeyJwk ? (
            <PassOn
              {...props}
              name={nameOfMember(member)}
              to={{ principalType: 'user', principalId: userId, publicKeyJwk: member.publicKeyJwk }}
              wanted={keys}
              isCurrent={isFresh(wanted)}
            />
          ) : (
            <Text size="sm">
              {member
                ? `${name} has no keyring yet. You can pass keys on as soon as they have made one.`
                : 'This person has left the organization.'}
            </Text>
          )
        }
      </Loaded>
    </Dialog>
  )
}

interface Receiver {
  principalType: 'user'
  principalId: string
  publicKeyJwk: string
}

function PassOn(props: Props & { name: string; to: Receiver; wanted: readonly WantedKey[]; isCurrent: boolean }) {
  const { orgId, name, to, onClose } = props
  const checked = useChecked([to])?.[0]
  const passing = usePassing(props, checked)
  const { keys, refused, done, action } = passing
  const own = keys.filter(({ held }) => held)
  const others = keys.filter(({ held }) => !held)
  const isReady = checked !== undefined && (checked.status !== 'changed' || passing.isCompared)
  return (
    <Form onSubmit={() => action.run()}>
      <Stack>
        {checked && <Comparison {...{ name, checked }} {...passing} />}
        <Intended orgId={orgId} keys={own} />
        {others.length > 0 && <OfOthers orgId={orgId} keys={others} hasOwn={own.length > 0} />}
        {refused.map(({ key, reason }) => (
          <Alert key={key.environmentId} color="yellow" variant="light" title={key.label}>
            Not passed on: {reasonText(reason)}.
          </Alert>
        ))}
        <ProblemAlert error={action.error} />
        <Group justify="flex-end">
          <Text size="sm" c="dimmed" role="status">
            {action.pending && `${done} of ${own.length} passed on`}
          </Text>
          <Button variant="default" disabled={action.pending} onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={action.pending} disabled={!isReady || !(props.isCurrent || action.pending)}>
            {submitText(checked, own.length)}
          </Button>
        </Group>
      </Stack>
    </Form>
  )
}

function submitText(checked: Checked | undefined, count: number): string {
  const keys = count === 1 ? '1 key' : `${count} keys`
  if (checked?.status !== 'first') return `Pass on ${keys}`
  return count === 0 ? 'They match' : `They match, pass on ${keys}`
}

/** The state of the dialog. While keys are passed on, the list stays as it was at the press. */
function usePassing(props: Parameters<typeof PassOn>[0], checked: Checked | undefined) {
  const { orgId, name, to, wanted, onClose } = props
  const [comparedKey, setComparedKey] = useState<string | null>(null)
  const [running, setRunning] = useState<readonly WantedKey[] | null>(null)
  const [done, setDone] = useState(0)
  const [refused, setRefused] = useState<readonly PassedKey[]>([])
  const isCompared = comparedKey === to.publicKeyJwk
  const pass = async () => {
    if (!checked) return
    const own = wanted.filter(({ held }) => held)
    setRunning(wanted)
    setDone(0)
    setRefused([])
    try {
      await requireListed(orgId, [to])
      pin(to.principalId, checked.fingerprint)
      void invalidate(checkedKeys)
      const passed = await passOn(orgId, { ...to, fingerprint: checked.fingerprint }, own, setDone)
      const left = passed.filter(({ outcome }) => outcome === 'refused')
      setRefused(left)
      const text = resultText(name, passed)
      showToast(text === '' ? `You compared the words with ${name}.` : text)
      if (left.length === 0) onClose()
    } finally {
      setRunning(null)
    }
  }
  const action = useAction(pass, { stale: [checkedKeys, ...passedQueries(orgId, wanted)] })
  const onCompared = (yes: boolean) => setComparedKey(yes ? to.publicKeyJwk : null)
  return { keys: running ?? wanted, refused, done, action, isCompared, onCompared }
}

/** For a key that this browser sees for the first time, the button of the dialog says that the words match. */
function Comparison(props: {
  name: string
  checked: Checked
  isCompared: boolean
  onCompared: (yes: boolean) => void
}) {
  const { name, checked, isCompared, onCompared } = props
  if (checked.status === 'changed')
    return <Fingerprint holder={name} checked={checked} compared={isCompared} onCompared={onCompared} />
  if (checked.status === 'verified') return <Text size="sm">You compared the words of {name} in this browser.</Text>
  return <FirstWords name={name} words={checked.words} />
}

function Intended({ orgId, keys }: { orgId: string; keys: readonly WantedKey[] }) {
  const wanted = keys.filter(({ isComposed }) => !isComposed)
  const composed = keys.filter(({ isComposed }) => isComposed)
  return (
    <>
      <RequestedEnvironments orgId={orgId} environments={wanted} />
      {composed.length > 0 && (
        <Text size="sm" c="dimmed">
          Their programs also need {composed.map(({ label }) => label).join(', ')}, which is composed in. You pass it
          on, too.
        </Text>
      )}
    </>
  )
}

/** So many environments are looked up to name their holders. */
const lookedUpMax = 12

/** Keys that this admin does not hold, with the people who do. */
function OfOthers({ orgId, keys, hasOwn }: { orgId: string; keys: readonly WantedKey[]; hasOwn: boolean }) {
  const members = useQuery(membersQuery(orgId)).data?.members ?? []
  const answers = useQueries({
    queries: keys.slice(0, lookedUpMax).map(({ environmentId }) => granteesQuery(orgId, environmentId)),
  })
  const ids = new Set(answers.flatMap(({ data }) => (data?.grantees ?? []).map(({ principalId }) => principalId)))
  const admins = members.filter(({ userId, role }) => role !== 'member' && ids.has(userId))
  const labels = keys.map(({ label }) => label).join(', ')
  return (
    <Alert color="gray" variant="light" title={hasOwn ? 'You do not hold all keys' : 'You hold none of these keys'}>
      {labels}:{' '}
      {admins.length === 0 ? 'no other admin holds this.' : `${listOf(admins.map(nameOfMember))} can pass this on.`}
    </Alert>
  )
}

const listOf = (names: readonly string[]) => new Intl.ListFormat('en', { type: 'disjunction' }).format(names)
