import type { Sql } from '../../db/database.ts'
import type { Committed } from '../../kernel/context.ts'
import { fail } from '../../kernel/errors.ts'
import { entriesAtOnce, pollEntries } from './store.ts'

interface Polled {
  orgIds(): string[]
  deliver(entry: Committed): void
  /** Tells every client that changes were missed. */
  noteGap(): void
  warn(error: unknown): void
}

/** Reads what other servers on the same PostgreSQL have committed, while anybody watches. */
export interface EntryPoll {
  start(): void
  stop(): void
  /** Resolves once no later commit can be missed. */
  ready(): Promise<void>
  /** Returns false for an entry that was delivered before: this server announces its own entries, and reads them too. */
  isNew(entry: Committed): boolean
}

const intervalMs = 700
/** While a transaction stays open for long, each poll reads many entries. Clients then read anew this often. */
const gapsEveryMs = 5000

/** The embedded database has one process, which announces every entry itself. */
export const noPoll: EntryPoll = { start() {}, stop() {}, ready: async () => {}, isNew: () => true }

/**
 * Every transaction that the previous poll could not see has an id at or above the horizon of that poll, whatever the
 * order of commits. So no entry is missed. Entries that are read again are recognised by their ids: those of the last
 * poll, and those that this server has announced since it began.
 */
export function openEntryPoll(db: Sql, { orgIds, deliver, noteGap, warn }: Polled): EntryPoll {
  let horizon: string | null = null
  let seen = new Set<string>()
  let announcedMeanwhile = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let current: Promise<void> | null = null
  let isRunning = false
  let isFailing = false
  let gapAtMs = Number.NEGATIVE_INFINITY
  let isGapDue = false
  /** The number of the current run. A poll that began in an earlier run changes nothing. */
  let run = 0

  const pollOnce = async (ofRun: number) => {
    announcedMeanwhile = new Set()
    const rows = await pollEntries(db, horizon, orgIds())
    const entries = rows.filter((row): row is { horizon: string } & Committed => row.id !== null)
    if (!isRunning || run !== ofRun) return
    if (entries.length > entriesAtOnce) isGapDue = true
    else for (const { horizon: _, ...entry } of entries) if (!seen.has(entry.id)) deliver(entry)
    seen = new Set([...entries.map(({ id }) => id), ...announcedMeanwhile])
    horizon = rows[0]?.horizon ?? null
    if (isFailing) noteGap()
    isFailing = false
    tellDueGap()
  }
  const tellDueGap = () => {
    if (!isGapDue || performance.now() - gapAtMs < gapsEveryMs) return
    gapAtMs = performance.now()
    isGapDue = false
    noteGap()
  }
  const loop = (ofRun: number) => {
    current = pollOnce(ofRun)
      .catch((error) => {
        if (run !== ofRun) return
        if (!isFailing) warn(error)
        isFailing = true
        horizon = null
      })
      .finally(() => {
        if (isRunning && run === ofRun) timer = setTimeout(loop, intervalMs, ofRun)
      })
  }
  return {
    start() {
      if (isRunning) return
      isRunning = true
      run++
      loop(run)
    },
    stop() {
      isRunning = false
      clearTimeout(timer)
      horizon = null
      seen = new Set()
    },
    async ready() {
      if (horizon === null) await current
      if (horizon === null) throw fail('internal', 'the server cannot read its database now; its log has the reason')
    },
    isNew({ id }) {
      if (!isRunning) return true
      if (seen.has(id)) return false
      seen.add(id)
      announcedMeanwhile.add(id)
      return true
    },
  }
}
