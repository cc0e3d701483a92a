import { Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useAction } from '../action.ts'
import { useChecked } from '../envs/pins.ts'
import { countOf, grantAtOnce, NotCompared } from '../passing/grant-at-once.ts'
import { missingQueries, wantedOf } from '../passing/queries.ts'
import { membersQuery } from '../secrets/use-name-of.ts'
import { ProblemAlert } from '../ui/problem.tsx'
import { showToast } from '../ui/toast.ts'
import type { AccessRequest } from './queries.ts'

/** The keys of a request, with those of composed groups that its programs also need. */
const wantedOfQuery = (orgId: string, request: AccessRequest) => ({
  queryKey: [...missingQueries(orgId).queryKey, 'request', request.id, request.environments],
  queryFn: () => wantedOf(orgId, request),
})

/** Names the groups that are granted with the request. */
export function Composed({ orgId, request }: { orgId: string; request: AccessRequest }) {
  const composed = (useQuery(wantedOfQuery(orgId, request)).data ?? []).filter(({ isComposed }) => isComposed)
  if (composed.length === 0) return null
  return (
    <Text size="xs" c="dimmed">
      with {composed.map(({ label }) => label).join(', ')}, which is composed in
    </Text>
  )
}

/**
 * The answers of an admin. If the words were compared in this browser, one press grants what the admin holds. Else the
 * button compares the words.
 */
export function Answers(props: {
  orgId: string
  request: AccessRequest
  name: string
  onCompare: () => void
  onDecline: () => void
}) {
  const { orgId, request, name, onCompare, onDecline } = props
  const member = useQuery(membersQuery(orgId)).data?.members.find(({ userId }) => userId === request.userId)
  const publicKeyJwk = member?.publicKeyJwk ?? null
  const isCompared =
    useChecked(publicKeyJwk === null ? [] : [{ principalId: request.userId, publicKeyJwk }])?.[0]?.status === 'verified'
  const [done, setDone] = useState(0)
  const held = request.environments.filter((one) => one.held && !one.granted)
  const grant = useAction(async () => {
    setDone(0)
    try {
      showToast(await grantAtOnce(orgId, request, setDone))
    } catch (error) {
      if (!(error instanceof NotCompared)) throw error
      onCompare()
    }
  })
  const why =
    held.length === 0
      ? 'You hold none of these keys. Another admin must answer.'
      : publicKeyJwk === null
        ? `${name} has no keyring yet.`
        : undefined
  const act =
    isCompared || held.length === 0 ? `Grant ${countOf(held.length || request.environments.length)}` : 'Compare words'
  return (
    <>
      <Group gap="xs" wrap="nowrap">
        <Button
          size="compact-sm"
          aria-label={isCompared || held.length === 0 ? `${act} to ${name}` : `${act} with ${name}`}
          disabled={why !== undefined || grant.pending}
          title={why}
          onClick={() => (isCompared ? grant.run() : onCompare())}
        >
          {grant.pending ? `${done} of ${held.length} granted` : act}
        </Button>
        <Button size="compact-sm" variant="default" aria-label={`Decline ${name}`} onClick={onDecline}>
          Decline…
        </Button>
      </Group>
      {why !== undefined && (
        <Text size="xs" c="dimmed">
          {why}
        </Text>
      )}
      <ProblemAlert error={grant.error} />
    </>
  )
}
