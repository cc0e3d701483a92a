import type { MissingGrant, WantedGrant } from '@skerry/sdk/internal/granting'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useAction } from '../action.ts'
import { checkMeanings } from '../envs/meanings.ts'
import { isFresh, orgQueries } from '../queries.ts'
import { ownersQuery } from '../requests/queries.ts'
import { missingQuery, teamQueries } from '../teams/queries.ts'
import { showToast } from '../ui/toast.ts'
import { type Receiver, readinessOf, useReceivers } from './principals.ts'
import { sendAll } from './send.ts'

/** A person with the keys that wait for them. Environments are shown by the names that this browser knows, not by labels. */
export interface WaitingPerson {
  receiver: Receiver
  /** Keys that can be granted now. */
  ready: WantedGrant[]
  /** Names of environments whose key this person does not hold. */
  unheld: string[]
  /** The part of `unheld` that this person holds for a time, and so cannot grant without an end. */
  heldForTime: string[]
  /** The server lists another public key than among the members. Nothing is granted to it. */
  hasTwoKeys: boolean
  names: string[]
}

/** The state of the dialog that grants the keys that a team, or all teams and plans, ask for. */
export function useCompleting(
  { orgId, ownId }: { orgId: string; ownId: string },
  teamId: string | undefined,
  onDone: () => void,
) {
  const missing = useQuery(missingQuery(orgId, teamId === undefined ? {} : { teamId }))
  const owners = useQuery({ ...ownersQuery(orgId), staleTime: 0 })
  const rows = missing.data?.missing ?? []
  const ids = [...new Set(rows.map(({ principalId }) => principalId))]
  const found = useReceivers(
    orgId,
    ownId,
    ids.map((id) => ({ kind: 'person', id })),
  )
  const names = new Map(
    (owners.data ?? []).flatMap(({ name, environments }) =>
      environments.map((one) => [one.id, `${name} / ${one.name}`] as const),
    ),
  )
  const people = found.receivers.map((receiver) => waitingPerson(receiver, rows, names))
  const wanted = people.flatMap(({ ready }) => ready)
  return {
    missing,
    people,
    wanted,
    hasMore: missing.data?.hasMore ?? false,
    queryError: owners.error ?? found.error,
    isReady: wanted.length > 0 && found.isReady && isFresh(missing) && isFresh(owners),
    ...useWork(orgId, names, onDone),
  }
}

function waitingPerson(
  receiver: Receiver,
  rows: readonly MissingGrant[],
  names: ReadonlyMap<string, string>,
): WaitingPerson {
  const { principalType, principalId, publicKeyJwk } = receiver
  const own = rows.filter((row) => row.principalId === principalId && names.has(row.environmentId))
  const nameOf = ({ environmentId }: MissingGrant) => names.get(environmentId) ?? environmentId
  const hasTwoKeys = own.some((row) => row.publicKeyJwk !== publicKeyJwk)
  const held = own.filter((row) => row.held)
  const isReady = readinessOf(receiver) === 'ready' && !hasTwoKeys
  return {
    receiver,
    ready: held.flatMap(({ environmentId }) =>
      isReady && publicKeyJwk !== null
        ? [{ environmentId, principalType, principalId, publicKeyJwk, direct: false }]
        : [],
    ),
    names: held.map(nameOf),
    unheld: own.filter((row) => !row.held).map(nameOf),
    heldForTime: own.filter((row) => !row.held && row.heldUntil).map(nameOf),
    hasTwoKeys,
  }
}

/** Grants the keys. A failure of one environment does not stop the others. */
function useWork(orgId: string, names: ReadonlyMap<string, string>, onDone: () => void) {
  const [progress, setProgress] = useState<{ done: number; all: number } | null>(null)
  const [problems, setProblems] = useState<string[]>([])
  const isComplete = useRef(false)
  const action = useAction(
    async (wanted: readonly WantedGrant[]) => {
      const failed: string[] = []
      const counts = Map.groupBy(wanted, ({ environmentId }) => environmentId)
      let done = 0
      setProblems([])
      setProgress({ done, all: wanted.length })
      isComplete.current = false
      try {
        await checkMeanings([...counts.keys()])
        await sendAll(orgId, wanted, (id, problem) => {
          if (problem !== null) failed.push(`${names.get(id) ?? id}: ${problem}`)
          done += counts.get(id)?.length ?? 0
          setProgress({ done, all: wanted.length })
        })
        isComplete.current = failed.length === 0
        if (isComplete.current) showToast(wanted.length === 1 ? '1 key granted.' : `${wanted.length} keys granted.`)
      } finally {
        setProgress(null)
        setProblems(failed)
      }
    },
    {
      stale: [teamQueries(orgId), orgQueries(orgId, 'access'), orgQueries(orgId, 'holdings')],
      done: () => isComplete.current && onDone(),
    },
  )
  return { ...action, progress, problems }
}
