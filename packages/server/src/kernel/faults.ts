import { setTimeout as pause } from 'node:timers/promises'
import type { Sql } from '../db/database.ts'
import { isConnectionError } from '../db/sql-errors.ts'
import { describe } from './errors.ts'
import type { Log } from './log.ts'

type Fields = Record<string, unknown>

/**
 * Logs unexpected errors. While the database is down, requests, jobs and polls all fail. The log then has one line when the
 * outage begins and one line when it ends.
 */
export interface Faults {
  error(message: string, error: unknown, fields?: Fields): void
  warn(message: string, error: unknown, fields?: Fields): void
  stop(): Promise<void>
}

interface Waiting {
  level: 'error' | 'warn'
  message: string
  error: unknown
  fields: Fields
}

const probeEveryMs = 1000
/** A database that shuts down may answer once more on a connection that it has not closed yet, so it is asked again. */
const confirmAfterMs = 250
/** How many errors are kept until the first probe answers. More errors would add no information. */
const waitingMax = 20

/**
 * @param probes a connection outside the pool, because a full pool is not an outage
 */
export function openFaults(probes: Sql, log: Log): Faults {
  const waiting: Waiting[] = []
  const stopping = new AbortController()
  let probing: Promise<void> | undefined
  let isDown = false

  const write = ({ level, message, error, fields }: Waiting) => log[level](message, { ...fields, ...describe(error) })
  const answers = () =>
    probes.rows('select 1').then(
      () => true,
      () => false,
    )
  const wait = (ms: number) => pause(ms, undefined, { signal: stopping.signal, ref: false })
  /** A single broken connection looks like an outage. A probe finds out which it is. */
  const probe = async (error: unknown) => {
    if ((await answers()) && (await wait(confirmAfterMs).then(answers))) {
      for (const one of waiting.splice(0)) write(one)
      return
    }
    const sinceMs = performance.now()
    isDown = true
    waiting.length = 0
    const { error: name, code } = describe(error)
    log.error('the database does not answer: requests fail and jobs wait until it is back', { error: name, code })
    do await wait(probeEveryMs)
    while (!(await answers()))
    log.warn('the database answers again', { seconds: Math.round((performance.now() - sinceMs) / 1000) })
  }
  const note = (one: Waiting) => {
    if (!isConnectionError(one.error) || stopping.signal.aborted) return write(one)
    if (isDown) return
    if (waiting.length < waitingMax) waiting.push(one)
    probing ??= probe(one.error)
      .catch(() => {})
      .finally(() => {
        probing = undefined
        isDown = false
      })
  }
  return {
    error: (message, error, fields = {}) => note({ level: 'error', message, error, fields }),
    warn: (message, error, fields = {}) => note({ level: 'warn', message, error, fields }),
    async stop() {
      stopping.abort()
      await probing
      for (const one of waiting.splice(0)) write(one)
    },
  }
}
