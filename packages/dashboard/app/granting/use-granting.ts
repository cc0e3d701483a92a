import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useAction } from '../action.ts'
import { isFresh, orgQueries } from '../queries.ts'
import { type Owner, ownersQuery } from '../requests/queries.ts'
import { showToast } from '../ui/toast.ts'
import { carryOut } from './order.ts'
import { type Principal, type Receiver, readinessOf, useReceivers } from './principals.ts'
import { blockedBecause, useHas, useResumable } from './reach.ts'

const none: readonly Owner[] = []

/** The state of the dialog “Grant access”. */
export function useGranting(
  { orgId, ownId }: { orgId: string; ownId: string },
  first: readonly Principal[],
  onDone: () => void,
) {
  const [principals, setPrincipals] = useState(first)
  const [edited, setEdited] = useState<ReadonlySet<string> | null>(null)
  const [seconds, setSeconds] = useState<number | null>(null)
  const owners = useQuery({ ...ownersQuery(orgId), staleTime: 0 })
  const { receivers, teams, error, isReady } = useReceivers(orgId, ownId, principals)
  const hasTeam = principals.some(({ kind }) => kind === 'team')
  const endsAfter = hasTeam ? null : seconds
  const reach = { principals, teams, receivers, owners: owners.data ?? none }
  const has = useHas(orgId, reach)
  const resumable = useResumable(orgId, reach)
  const blocked = blockedBecause(reach, endsAfter)
  const all = reach.owners.flatMap(({ kind, environments }) =>
    environments.map((one) => ({ ...one, isOfGroup: kind === 'group' })),
  )
  const ticked = edited ?? resumable
  const chosen = all.filter((one) => ticked.has(one.id) && !has.has(one.id) && blocked(one) === null)
  const work = useWork(orgId, setEdited, onDone)
  const run = () => {
    setEdited(ticked)
    return work.run({ orgId, teams, receivers, environments: chosen, seconds: endsAfter })
  }
  return {
    principals,
    setPrincipals,
    ticked,
    setTicked: setEdited,
    seconds: endsAfter,
    setSeconds,
    hasTeam,
    owners,
    receivers,
    teams,
    has,
    blocked,
    chosen,
    queryError: error,
    isReady: isReady && isFresh(owners) && principals.length > 0 && chosen.length > 0,
    ...work,
    run,
  }
}

export type Granting = ReturnType<typeof useGranting>

type Order = Parameters<typeof carryOut>[0]

/** Carries out an order, with its progress. An environment that failed stays ticked, with its error. */
function useWork(
  orgId: string,
  setEdited: (change: (ticked: ReadonlySet<string> | null) => ReadonlySet<string>) => void,
  onDone: () => void,
) {
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map())
  const [progress, setProgress] = useState<{ done: number; all: number } | null>(null)
  const isComplete = useRef(false)
  const action = useAction(
    async (order: Order) => {
      const failed = new Map<string, string>()
      const settled = new Set<string>()
      setProblems(failed)
      setProgress({ done: 0, all: order.environments.length })
      isComplete.current = false
      try {
        await carryOut(order, (id, problem) => {
          if (problem !== null) failed.set(id, problem)
          settled.add(id)
          setProgress({ done: settled.size, all: order.environments.length })
        })
        isComplete.current = failed.size === 0
        if (failed.size === 0) showToast(summaryOf(order))
      } finally {
        setProgress(null)
        setProblems(new Map(failed))
        setEdited((ticked) => new Set([...(ticked ?? [])].filter((id) => failed.has(id) || !settled.has(id))))
      }
    },
    {
      stale: (order) => [
        ...['teams', 'access', 'owners', 'holdings'].map((part) => orgQueries(orgId, part)),
        ...order.environments.map(({ id }) => orgQueries(orgId, 'envs', id)),
      ],
      done: () => isComplete.current && onDone(),
    },
  )
  return { ...action, problems, progress }
}

/** Says what was granted, and what waits. */
function summaryOf({ environments, receivers, seconds }: Order): string {
  const held = environments.filter(({ canDecrypt }) => canDecrypt).length
  const others = environments.length - held
  const ready = receivers.filter(isReceiverReady).length
  const granted = held > 0 && ready > 0 ? [`${countOf(held)} granted.`] : []
  const stored =
    others > 0 ? [`${countOf(others)} ${others === 1 ? 'waits' : 'wait'} for someone who holds the key.`] : []
  const waiting = receivers.filter((one) => !isReceiverReady(one)).length
  const people = waiting === 0 ? [] : [seconds === null ? waitingText(waiting) : withoutText(waiting)]
  const texts = [...granted, ...stored, ...people]
  return texts.length > 0 ? texts.join(' ') : 'Stored. Nobody needs a key yet.'
}

const waitingText = (count: number) => `${count === 1 ? '1 person waits' : `${count} people wait`} for their keys.`

/** Nothing stores access with an end for later. */
const withoutText = (count: number) =>
  `${count === 1 ? '1 person got' : `${count} people got`} no access, because access with an end cannot wait.`

const isReceiverReady = (one: Receiver) => readinessOf(one) === 'ready'

export const countOf = (count: number): string => (count === 1 ? '1 environment' : `${count} environments`)
