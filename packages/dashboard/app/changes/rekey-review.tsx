import { Alert, Button, List, Stack, Text } from '@mantine/core'
import { RefusedError } from '@skerry/sdk/errors'
import type { RekeyProblem } from '@skerry/sdk/internal/rekey-compare'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { allPages } from '../all-pages.ts'
import { api } from '../api.ts'
import { type Grantee, nameOfReader } from '../envs/grantees.ts'
import { KeyStatus } from '../envs/key-status.tsx'
import { acceptReaders, environmentShared, noteReaders } from '../envs/known-readers.ts'
import { useChecked } from '../envs/pins.ts'
import { keyring, useUnlocked } from '../keyring.ts'
import { unlockPrompt } from '../prompts.ts'
import { granteesQuery } from '../secrets/queries.ts'
import { useNameOf } from '../secrets/use-name-of.ts'
import { Section } from '../ui/page.tsx'
import { ProblemAlert } from '../ui/problem.tsx'
import { Decision, Note } from './decision.tsx'
import type { ChangeRequest } from './queries.ts'

/** The proposed re-key, and for a holder of both keys the two sides as ciphertext. */
const rekeyQuery = (orgId: string, { id: changeRequestId, environmentId: envId }: ChangeRequest) =>
  queryOptions({
    queryKey: ['orgs', orgId, 'changes', changeRequestId, 'rekey'],
    queryFn: async ({ signal }) => {
      const params = { orgId, envId }
      const { rekey } = await api.changes.rekey({ params: { orgId, changeRequestId } }, { signal })
      const { wrappedDek, secrets, details } = rekey
      if (wrappedDek === null || secrets === null) return { rekey, sides: null }
      const own = await api.grants.own({ params }, { signal }).catch(nullIfForbidden)
      if (own === null) return { rekey, sides: null }
      const [listed, described] = await Promise.all([
        api.secrets.list({ params }, { signal }),
        allPages((query) => api.secretDetails.list({ params, query }, { signal })),
      ])
      const now = {
        wrappedDek: own.wrappedDek,
        secrets: listed.secrets.map(({ name, ciphertext }) => ({ name, ciphertext })),
        details: described.flatMap((page) => page.details).map(({ name, sealed }) => ({ name, sealed })),
      }
      const proposed = { wrappedDek, secrets, details: details ?? [] }
      return { rekey, sides: { environmentId: envId, now, proposed } }
    },
    staleTime: 0,
  })

function nullIfForbidden(error: unknown): null {
  if (error instanceof RefusedError && error.code === 'forbidden') return null
  throw error
}

/** Shows what a proposed re-key does, compares its values in this browser, and takes the decision. */
export function RekeyReview({ change }: { change: ChangeRequest }) {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const nameOf = useNameOf(org.id)
  const unlocked = useUnlocked()
  const query = useQuery(rekeyQuery(org.id, change))
  const sides = query.data?.sides ?? null
  const comparison = useQuery({
    queryKey: ['orgs', org.id, 'changes', change.id, 'rekey', 'comparison', query.dataUpdatedAt],
    queryFn: () => keyring.call('compareRekey', sides!),
    enabled: unlocked && sides !== null,
    throwOnError: false,
  })
  const holders = useHolders(org.id, change, query.data?.rekey.grants ?? [])
  if (query.error) return <ProblemAlert error={query.error} retry={() => query.refetch()} />
  if (!query.data || !holders) return null
  const { stale } = query.data.rekey
  const ids = holders.loses.map(({ principalId }) => principalId)
  const isCompared = comparison.data?.length === 0 && holders.strangers.length === 0
  const others = holders.keeps.filter(({ principalId }) => principalId !== me.user?.id)
  const named = others.map((one) => ({ ...one, shownAs: nameOfReader(one, nameOf) }))
  return (
    <>
      <Section title="Values" description="A re-key changes no value. This browser opens each one with both keys.">
        {/* A value that was written since the proposal differs, too. */}
        {!stale && (
          <Values isHolder={sides !== null} losesOwn={ids.includes(me.user?.id ?? '')} comparison={comparison} />
        )}
      </Section>
      <Section title="Readers" description="The new key goes to these readers, and everybody else loses access.">
        <Readers {...holders} />
      </Section>
      <Decision
        change={change}
        question={sides === null ? unseenQuestion : null}
        isSeen={!stale && (sides === null ? holders.strangers.length === 0 : isCompared)}
        why={<Why isStale={stale} isHolder={sides !== null} isCompared={comparison.data !== undefined} />}
        onApproving={async () => {
          if (sides === null) return
          const shared = await environmentShared(change.environmentId, sides.now.wrappedDek)
          await acceptReaders(shared, 'the new key of this environment', named)
        }}
        onApplied={async () => {
          if (sides === null) return
          await noteReaders(await environmentShared(change.environmentId, sides.proposed.wrappedDek), others)
        }}
      />
    </>
  )
}

/** The present holders, by whether they get the new key, and receivers who are no holders. */
function useHolders(orgId: string, change: ChangeRequest, grants: { principalType: string; principalId: string }[]) {
  const { data } = useQuery({ ...granteesQuery(orgId, change.environmentId), staleTime: 0 })
  if (!data) return undefined
  const receivers = new Set(grants.map(({ principalId }) => principalId))
  const present = new Set(data.grantees.map(({ principalId }) => principalId))
  return {
    keeps: data.grantees.filter(({ principalId }) => receivers.has(principalId)),
    loses: data.grantees.filter(({ principalId }) => !receivers.has(principalId)),
    strangers: grants.filter(({ principalId }) => !present.has(principalId)),
  }
}

const problemWords: Record<RekeyProblem['problem'], string> = {
  differs: 'the proposed value is another one',
  missing: 'it would be lost',
  added: 'it does not exist now',
  unreadable: 'the new key does not open it',
  unreadable_now: 'the present key does not open it, so nobody can compare',
}

function Values(props: {
  isHolder: boolean
  losesOwn: boolean
  comparison: { data: RekeyProblem[] | undefined; error: unknown; refetch: () => void }
}) {
  const { isHolder, losesOwn, comparison } = props
  const unlocked = useUnlocked()
  if (!isHolder)
    return (
      <Alert color="gray" variant="light" title="You cannot compare the values">
        {losesOwn
          ? 'You lose access with this re-key, so the new key is not for you.'
          : 'You hold no key of this environment. A holder of the key can compare them.'}
      </Alert>
    )
  if (!unlocked)
    return (
      <Button variant="default" onClick={() => void unlockPrompt.ask().catch(() => {})}>
        Unlock to compare
      </Button>
    )
  if (comparison.error) return <ProblemAlert error={comparison.error} retry={comparison.refetch} />
  if (!comparison.data) return null
  if (comparison.data.length === 0)
    return (
      <Alert color="green" variant="light" title="No value differs">
        Every value and every description is the same under the new key.
      </Alert>
    )
  return (
    <Alert color="red" variant="light" role="alert" title="This is more than a re-key: reject it">
      <List size="sm">
        {comparison.data.map(({ kind, name, problem }) => (
          <List.Item key={`${kind} ${name}`}>
            {kind === 'secret' ? <span className="mono">{name}</span> : `The description of ${name}`}:{' '}
            {problemWords[problem]}
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}

function Readers({ keeps, loses, strangers }: NonNullable<ReturnType<typeof useHolders>>) {
  const { org, me } = useRouteContext({ from: '/_app/orgs/$org' })
  const nameOf = useNameOf(org.id)
  const checked = useChecked(keeps)
  const names = (holders: Grantee[]) => holders.map((one) => nameOfReader(one, nameOf)).join(', ')
  return (
    <Stack gap="xs">
      {keeps.map((one, i) => (
        <Text size="sm" key={one.principalId}>
          {nameOfReader(one, nameOf)} <KeyStatus checked={checked?.[i]} isSelf={one.principalId === me.user?.id} />
        </Text>
      ))}
      <Text size="sm" c={loses.length > 0 ? undefined : 'dimmed'}>
        {loses.length > 0 ? `Loses access: ${names(loses)}` : 'Nobody loses access.'}
      </Text>
      {strangers.length > 0 && (
        <Alert color="red" variant="light" role="alert" title="The new key would go to somebody who is no reader now">
          {strangers.map(({ principalId }) => nameOf(principalId)).join(', ')}: reject this change.
        </Alert>
      )}
    </Stack>
  )
}

const unseenQuestion = {
  title: 'Approve without seeing the values?',
  text: 'You cannot compare the values under the new key with the present ones. If the change has enough approvals with yours, programs get the values that the proposer encrypted. Ask a holder of the key to look at it first.',
  confirm: 'Approve without seeing',
  decline: 'Do not approve',
}

function Why({ isStale, isHolder, isCompared }: { isStale: boolean; isHolder: boolean; isCompared: boolean }) {
  if (isStale)
    return (
      <Alert color="yellow" variant="light">
        A value or a reader of this environment has changed since this was proposed. It can no longer be applied. The
        proposer can propose it again, which replaces this one.
      </Alert>
    )
  if (isHolder && !isCompared) return <Note>Unlock the keyring to see what you approve.</Note>
  return null
}
