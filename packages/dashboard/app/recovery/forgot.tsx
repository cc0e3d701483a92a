import { Alert, Button, Group, List as Items, Stack, Stepper, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { useState } from 'react'
import { useAction } from '../action.ts'
import { Words } from '../envs/fingerprint.tsx'
import { useChecked } from '../envs/pins.ts'
import { environmentLabelsQuery } from '../people/environment-labels.ts'
import { keysQuery, orgQueries } from '../queries.ts'
import { useNameOf } from '../secrets/use-name-of.ts'
import { Empty } from '../ui/empty.tsx'
import { AnchorLink } from '../ui/links.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { complete, openRequest } from './ceremony.ts'
import { FalseSharesNote } from './false-shares.tsx'
import { isOpen, type RecoveryRequest, recoveryKeyQuery, requestsQuery } from './queries.ts'

/** Guides a person from a forgotten passphrase to access again. When a step is done, the next one appears by itself. */
export function Forgot() {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const query = useQuery(recoveryKeyQuery(org.id))
  return (
    <Loaded query={query}>
      {({ recoveryPublicKeyJwk }) =>
        recoveryPublicKeyJwk === null ? (
          <Empty title="Recovery is not set up here">
            Replace your key pair under Account, Keyring. Then ask somebody who can read an environment to grant it to
            you again.
          </Empty>
        ) : (
          <Steps />
        )
      }
    </Loaded>
  )
}

function Steps() {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const keys = useQuery(keysQuery)
  const requests = useQuery({ ...requestsQuery(org.id), refetchInterval: 5000 })
  const [hasNewKeys, setHasNewKeys] = useState(false)
  const [granted, setGranted] = useState<string[] | null>(null)
  const publicKeyJwk = keys.data?.publicKeyJwk ?? null
  const request = requests.data?.find(
    (one) => isOpen(one) && one.targetId === me.user?.id && one.targetPublicKeyJwk === publicKeyJwk,
  )
  const step = stepOf({ request, granted, hasNewKeys })
  return (
    <Stack>
      <Stepper active={step} orientation="vertical" allowNextStepsSelect={false} size="sm">
        <Stepper.Step label="Make a new key pair" description="With a passphrase that you know">
          {null}
        </Stepper.Step>
        <Stepper.Step label="Ask the custodians for help" description="By an admin of the organization">
          {null}
        </Stepper.Step>
        <Stepper.Step label="Tell the custodians your words" description="Over the phone or in person">
          {null}
        </Stepper.Step>
        <Stepper.Step label="Read again" description="In this browser">
          {null}
        </Stepper.Step>
      </Stepper>
      <ProblemAlert error={keys.error ?? requests.error} />
      {step === 0 && <NewKeys onDone={() => setHasNewKeys(true)} />}
      {step === 1 && publicKeyJwk !== null && <Ask publicKeyJwk={publicKeyJwk} />}
      {step === 2 && request && <Waiting request={request} />}
      {step === 3 && request && <Recover request={request} onGranted={setGranted} />}
      {granted && <Done granted={granted} />}
    </Stack>
  )
}

function stepOf(state: {
  request: RecoveryRequest | undefined
  granted: string[] | null
  hasNewKeys: boolean
}): number {
  const { request, granted, hasNewKeys } = state
  if (granted) return 4
  if (request) return request.contributed >= request.threshold ? 3 : 2
  return hasNewKeys ? 1 : 0
}

function NewKeys({ onDone }: { onDone: () => void }) {
  return (
    <Stack gap="sm">
      <Text size="sm">
        Open <AnchorLink to="/account/keyring">your keyring</AnchorLink>, choose “Replace the key pair…”, and come back
        here. The code of a recovery kit or a passkey may still open the old key. Try these first, because you lose
        everything that was granted to the old key.
      </Text>
      <Group>
        <Button onClick={onDone}>I have a new key pair</Button>
      </Group>
    </Stack>
  )
}

function OwnWords({ publicKeyJwk }: { publicKeyJwk: string }) {
  const { me } = useRouteContext({ from: '/_app/orgs/$org' })
  const words = useChecked([{ principalId: me.user?.id ?? '', publicKeyJwk }])?.[0]?.words
  return words === undefined ? null : <Words words={words} label="Fingerprint of your key" />
}

function Ask({ publicKeyJwk }: { publicKeyJwk: string }) {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const ask = useAction(
    () => openRequest(org.id, { userId: me.user?.id ?? '', publicKeyJwk }, 'The passphrase was forgotten'),
    { stale: [orgQueries(org.id, 'recovery')] },
  )
  return (
    <Stack gap="sm">
      {org.role === 'member' ? (
        <Text size="sm">
          Ask an admin to open the page Recovery and to choose “Recover for someone…”. This page then goes on by itself.
          These are the words of your new key:
        </Text>
      ) : (
        <Text size="sm">You are an admin, so you can ask yourself. These are the words of your new key:</Text>
      )}
      <OwnWords publicKeyJwk={publicKeyJwk} />
      <ProblemAlert error={ask.error} />
      {org.role !== 'member' && (
        <Group>
          <Button loading={ask.pending} onClick={() => ask.run()}>
            Ask the custodians
          </Button>
        </Group>
      )}
    </Stack>
  )
}

function Waiting({ request }: { request: RecoveryRequest }) {
  const missing = request.threshold - request.contributed
  return (
    <Stack gap="sm">
      <Text size="sm" role="status">
        {request.contributed} of {request.threshold} shares have been given.{' '}
        {missing === 1 ? 'One more custodian has' : `${missing} more custodians have`} to give theirs. Each custodian
        asks you for these words, and gives their share only if the words match:
      </Text>
      <OwnWords publicKeyJwk={request.targetPublicKeyJwk} />
    </Stack>
  )
}

function Recover({ request, onGranted }: { request: RecoveryRequest; onGranted: (granted: string[]) => void }) {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const nameOf = useNameOf(org.id)
  const [falseShares, setFalseShares] = useState<{ userId: string; shareIndex: number }[] | null>(null)
  const recover = useAction(async () => {
    const outcome = await complete(org.id, request.id, me.user?.id ?? '')
    if (outcome.granted) onGranted(outcome.granted)
    else setFalseShares(outcome.falseShares)
  })
  return (
    <Stack gap="sm">
      <Text size="sm">
        Enough shares have been given. This browser puts them together, and forgets the recovery key at once.
      </Text>
      <ProblemAlert error={recover.error} />
      {falseShares && <FalseSharesNote falseShares={falseShares} nameOf={nameOf} />}
      <Group>
        <Button loading={recover.pending} onClick={() => recover.run()}>
          Read again
        </Button>
      </Group>
    </Stack>
  )
}

function Done({ granted }: { granted: string[] }) {
  const { org } = useRouteContext({ from: '/_app/orgs/$org' })
  const { data: places } = useQuery(environmentLabelsQuery(org.id))
  return (
    <Alert color="sea" variant="light" title="You can read again" role="status">
      <Items size="sm">
        {granted.map((id) => (
          <Items.Item key={id}>{places?.find((place) => place.id === id)?.label ?? id}</Items.Item>
        ))}
      </Items>
      An admin should rotate the recovery key now: it was in this browser for a moment.
    </Alert>
  )
}
