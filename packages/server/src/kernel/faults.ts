import { setTimeout as pause } from 'node:timers/promises'
import type { Sql } from '../db/database.ts'
import { isConnectionError } from '../db/sql-errors.ts'
import { describe } from './errors.ts'
import type { Log } from './log.ts'

declare module './context.ts' {
  interface Context {
    faults: Faults
  }
}

type Fields = Record<string, unknown>

/**
 * Logs unexpected errors. A database that is down makes everything fail at once: requests, jobs and polls. That is one line
 * when it goes away and one line when it is back.
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
/** Errors that wait for the answer to the first probe. More of them say nothing new. */
const waitingMax = 20

/**
 * @param probes a connection of its own: a full pool is not an outage
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
  /** A single broken connection looks like an outage. Only a probe tells them apart. */
  const probe = async (error: unknown) => {
    if (await answers()) {
      for (const one of waiting.splice(0)) write(one)
      return
    }
    const sinceMs = performance.now()
    isDown = true
    waiting.length = 0
    const { error: name, code } = describe(error)
    log.error('the database does not answer: requests fail and jobs wait until it is back', { error: name, code })
    do await pause(probeEveryMs, undefined, { signal: stopping.signal, ref: false })
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
