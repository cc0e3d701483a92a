import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Database, Sql } from '../db/database.ts'
import { isCanceled } from '../db/sql-errors.ts'
import { fail, type Refusal } from '../kernel/errors.ts'
import { Streamed } from './streamed.ts'

interface Kind {
  /** How many of these reads a server runs at a time, for all organizations. */
  ofServer: number
  /** How many of them it runs at a time for one organization. */
  ofOrganization: number
  /** How many more requests of an organization may wait for a slot, and how long each may wait. */
  waitingMax: number
  waitMs: number
  /** True if its slot pauses after the read. An archive pauses between its pieces instead. */
  rests: boolean
  /** The message for a caller who gets no slot, and the retry time. */
  busy: string
  retryAfterSeconds: number
}

/**
 * Reads whose cost grows with the data of an organization. A route names its kind. Each running read has one database
 * connection outside the pool, so these numbers are also the number of such connections.
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
  /** Archives: each takes as long as its client needs to read it. */
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
   * Runs a read once a slot is free, or refuses with rate_limited. The slot is free again when the read has ended, or
   * when its streamed answer has. If the signal aborts, the read ends, too.
   *
   * @param work gets the handle for its statements
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
    : fail(
        'rate_limited',
        `this took the database too long; narrow the request, or try again in ${longRetrySeconds} s`,
        {
          retryAfterSeconds: longRetrySeconds,
        },
      )

const longRetrySeconds = 30

/** The longest pause before one statement. */
const restMsMax = 5000
/**
 * The shortest pause that is made. Shorter pauses add up until they reach this length, so that a small read does not
 * wait for a timer.
 */
const restMsMin = 20

interface Paced {
  sql: Sql
  /** Pauses for the work after the last statement, too: rows become JSON on the thread that serves all requests. */
  end: () => Promise<void>
}

/** All reads of an organization together work for at most a quarter of the time. */
const shareOfTime = 4

/**
 * Pauses after each statement: three times as long as it worked, or seven times if the organization has two reads.
 * Other requests then keep more than half of their rate on two processors, one of which the statement uses. The
 * embedded database runs one statement at a time, and serves other requests in the pauses.
 *
 * @param taken returns how many reads of the organization are running
 * @param signal once it aborts, no further statement begins
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
      // The answer has been written by the next turn.
      await setImmediate()
      worked(endedMs)
      await rest()
    },
  }
}

interface TakenPlace {
  /** The number of slots that the organization uses now. */
  taken: () => number
  leave: () => void
}

interface Places {
  /** Waits for a slot. */
  enter(orgId: string, signal: AbortSignal): Promise<TakenPlace>
}

interface Waiting {
  orgId: string
  admit: () => void
}

/** A free slot goes to the organization that uses the fewest, and among its requests to the oldest. */
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
