import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Database, Sql } from '../db/database.ts'
import { isCanceled } from '../db/sql-errors.ts'
import { fail, type Refusal } from '../kernel/errors.ts'
import { Streamed } from './streamed.ts'

interface Kind {
  /** How many of them a server does at a time, for all organizations. */
  ofServer: number
  /** How many of them it does at a time for one organization. */
  ofOrganization: number
  /** How many more requests of an organization may wait for a place, and how long each of them waits. */
  waitingMax: number
  waitMs: number
  /** Whether its place rests when it has ended. An archive rests between its pieces instead. */
  rests: boolean
  /** The message for a caller who gets no place, and when to ask again. */
  busy: string
  retryAfterSeconds: number
}

/**
 * Reads whose cost grows with what an organization has stored. A route names its kind. Each read that is under way has one
 * connection to the database, outside of the pool, so that these numbers also say how many such connections there are.
 */
export const heavyReads = {
  /** Searches, counts and proofs: a few seconds at most. */
  search: {
    ofServer: 3,
    ofOrganization: 2,
    waitingMax: 32,
    waitMs: 5000,
    rests: true,
    busy: 'too many large reads of this organization are under way',
    retryAfterSeconds: 2,
  },
  /** Archives: each takes as long as its reader does. */
  archive: {
    ofServer: 2,
    ofOrganization: 1,
    waitingMax: 0,
    waitMs: 0,
    rests: false,
    busy: 'another export is under way',
    retryAfterSeconds: 30,
  },
} as const satisfies Record<string, Kind>

export type HeavyRead = keyof typeof heavyReads

export const heavyReadsAtOnce = Object.values(heavyReads).reduce((sum, { ofServer }) => sum + ofServer, 0)

export interface HeavyReads {
  /**
   * Does a read once there is a place for it, or refuses with rate_limited. The place is free again when the read has ended;
   * where its answer is streamed, when that has. After the signal the read ends, too.
   *
   * @param work is given the handle that it reads with
   */
  run<T>(kind: HeavyRead, orgId: string, signal: AbortSignal, work: (db: Sql) => Promise<T>): Promise<T>
}

export function openHeavyReads(db: Database): HeavyReads {
  const places = Object.fromEntries(Object.entries(heavyReads).map(([kind, facts]) => [kind, openPlaces(facts)])) as {
    [K in HeavyRead]: Places
  }
  return {
    async run(kind, orgId, signal, work) {
      const place = await places[kind].enter(orgId, signal)
      const paced = pace(db.reads(signal), place.taken, signal)
      const end = () => void (heavyReads[kind].rests ? paced.end().then(place.leave) : place.leave())
      try {
        const answer = await work(paced.sql)
        if (answer instanceof Streamed) answer.body.once('close', end)
        else end()
        return answer
      } catch (error) {
        end()
        throw isCanceled(error) || signal.aborted ? ended(signal) : error
      }
    },
  }
}

/** Builds the error for a stopped read. If the caller has hung up, nobody receives it. */
const ended = (signal: AbortSignal): Refusal =>
  signal.aborted
    ? fail('rate_limited', 'the caller has hung up')
    : fail('rate_limited', `this took the database too long; ask for less, or again in ${longRetrySeconds} s`, {
        retryAfterSeconds: longRetrySeconds,
      })

const longRetrySeconds = 30

/** The limit for one statement. */
const restMsMax = 5000
/** Shorter rests add up until they are as long as this, so that a small read does not wait for a timer. */
const restMsMin = 20

interface Paced {
  sql: Sql
  /** Rests for what was done after the last statement, too: rows become JSON on the thread that serves everyone. */
  end: () => Promise<void>
}

/** The reads of an organization together work for a quarter of the time at most. */
const shareOfTime = 4

/**
 * Rests after each statement: one read three times as long as it worked, two of an organization seven times each. Others then
 * keep more than half of their rate on two processors, of which a statement takes one. And the embedded database, which does
 * one thing at a time, serves others in between.
 *
 * @param taken how many reads of the organization are under way
 * @param signal after it no further statement begins
 */
function pace(reads: Sql, taken: () => number, signal: AbortSignal): Paced {
  let [endedMs, restsUntilMs] = [performance.now(), 0]
  const worked = (sinceMs: number) => {
    endedMs = performance.now()
    restsUntilMs = Math.max(endedMs, restsUntilMs) + (endedMs - sinceMs) * (shareOfTime * taken() - 1)
  }
  const rest = async () => {
    const leftMs = restsUntilMs - performance.now()
    if (leftMs > restMsMin) await sleep(Math.min(leftMs, restMsMax))
  }
  const rows: Sql['rows'] = async (text, values) => {
    await rest()
    signal.throwIfAborted()
    const beganMs = performance.now()
    try {
      return await reads.rows(text, values)
    } finally {
      worked(beganMs)
    }
  }
  const row: Sql['row'] = async (text, values) => (await rows<never>(text, values))[0]
  return {
    sql: { ...reads, rows, row },
    end: async () => {
      // The answer has been written by then.
      await setImmediate()
      worked(endedMs)
      await rest()
    },
  }
}

interface TakenPlace {
  /** How many the organization has at this time. */
  taken: () => number
  leave: () => void
}

interface Places {
  /** Waits for a place. */
  enter(orgId: string, signal: AbortSignal): Promise<TakenPlace>
}

interface Waiting {
  orgId: string
  admit: () => void
}

/** A free place goes to the organization that has the fewest, and among its requests to the oldest. */
function openPlaces(kind: Kind): Places {
  const { ofServer, ofOrganization, waitingMax, waitMs } = kind
  const taken = new Map<string, number>()
  let waiting: Waiting[] = []
  let all = 0
  const takenBy = (orgId: string) => taken.get(orgId) ?? 0
  const hasPlace = (orgId: string) => all < ofServer && takenBy(orgId) < ofOrganization
  const leave = (orgId: string) => {
    all--
    if (takenBy(orgId) > 1) taken.set(orgId, takenBy(orgId) - 1)
    else taken.delete(orgId)
    const [next] = waiting.filter((one) => hasPlace(one.orgId)).sort((a, b) => takenBy(a.orgId) - takenBy(b.orgId))
    next?.admit()
  }
  const take = (orgId: string) => {
    all++
    taken.set(orgId, takenBy(orgId) + 1)
    return { taken: () => takenBy(orgId), leave: () => leave(orgId) }
  }
  return {
    async enter(orgId, signal) {
      if (hasPlace(orgId)) return take(orgId)
      if (waiting.filter((one) => one.orgId === orgId).length >= waitingMax) throw busy(kind)
      return await new Promise((resolve, reject) => {
        const stop = () => {
          clearTimeout(timer)
          signal.removeEventListener('abort', hangUp)
          waiting = waiting.filter((one) => one !== self)
        }
        const refuse = (refusal: Refusal) => {
          stop()
          reject(refusal)
        }
        const hangUp = () => refuse(ended(signal))
        const self: Waiting = {
          orgId,
          admit: () => {
            stop()
            resolve(take(orgId))
          },
        }
        const timer = setTimeout(() => refuse(busy(kind)), waitMs)
        signal.addEventListener('abort', hangUp)
        waiting.push(self)
      })
    },
  }
}

const busy = ({ busy: reason, retryAfterSeconds }: Kind): Refusal =>
  fail('rate_limited', `${reason}; try again in ${retryAfterSeconds} s`, { retryAfterSeconds })
