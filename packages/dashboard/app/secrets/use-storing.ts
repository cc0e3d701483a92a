import { useRouteContext } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'
import { showToast } from '../ui/toast.ts'
import { applyAll, type Change, type Outcome } from './changes.ts'
import type { Column } from './columns.ts'
import { countsOf, outcomeMessage } from './preview.tsx'
import { offerUndo, type Undoable } from './undo.ts'
import { rereadAfter } from './write.ts'

type Write = Parameters<typeof applyAll>[1]
type More = Pick<Parameters<typeof offerUndo>[0], 'waiting' | 'messageOf' | 'removed'>

const none: ReadonlySet<string> = new Set()

/**
 * Stores many secrets into one column from a dialog, with progress and outcome. Each stored secret changes the column.
 * `storing` keeps the column from the start, so that hundreds of values are not compared again each time. `write` leaves
 * failures to the caller, `store` throws the first one. After another attempt, `offer` covers the attempts before.
 */
export function useStoring(orgId: string) {
  const { me } = useRouteContext({ from: '/_app' })
  const [storing, setStoring] = useState<Column | null>(null)
  const [progress, setProgress] = useState({ done: 0, of: 0 })
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  // A queued name still differs from the current value, but must not be queued again.
  const [queued, setQueued] = useState(none)
  const offered = useRef<Undoable | null>(null)
  const noteQueued = (column: Column, names: string[]) =>
    setQueued((before) => new Set([...before, ...names.map((name) => keyOf(column, name))]))
  const offer = (column: Column, result: Outcome, more: More) => {
    const stored = [...result.written].map(([name, after]) => {
      const entry = column.entries.get(name)
      return { name, before: entry?.own ? entry.secret.version : 0, after }
    })
    const { environmentId } = column
    const writes = { orgId, userId: me.user?.id ?? '', environmentId, stored, ...more }
    offered.current = offerUndo(writes, offered.current)
  }
  const write = async (column: Column, names: string[], writeOne: Write): Promise<Outcome> => {
    setOutcome(null)
    setStoring(column)
    const onProgress = (stored: number) => setProgress({ done: stored, of: names.length })
    const result = await applyAll(names, writeOne, onProgress).finally(() => setStoring(null))
    setOutcome(result)
    noteQueued(column, result.queued)
    const errors = result.failed.map(({ error }) => error)
    await rereadAfter(errors, orgId, column.environmentId)
    return result
  }
  const store = async (column: Column, names: string[], writeOne: Write, done: string) => {
    const result = await write(column, names, writeOne)
    const messageOf = ({ stored }: Pick<Undoable, 'stored'>) =>
      outcomeMessage({ written: stored.length, queued: 0 }, done)
    offer(column, result, { waiting: [], messageOf })
    const [failed] = result.failed
    if (failed) throw failed.error
    showToast(outcomeMessage(countsOf(result), done))
  }
  return { storing, progress, outcome, queued, noteQueued, write, offer, store, forget: () => setOutcome(null) }
}

const keyOf = ({ environmentId }: Column, name: string) => `${environmentId} ${name}`

/** Marks the changes that this dialog has already queued. */
export function useMarked(changes: Change[], column: Column | undefined, queued: ReadonlySet<string>): Change[] {
  return useMemo(
    () =>
      !column || queued.size === 0
        ? changes
        : changes.map((one) => (queued.has(keyOf(column, one.name)) ? { ...one, kind: 'queued' as const } : one)),
    [changes, column, queued],
  )
}
