import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import type { Sql } from './database.ts'

// A heavy read is cancelled when its caller hangs up. Its connection has a unique name, by which PostgreSQL can cancel
// it.

const names = new WeakMap<pg.ClientBase, string>()

/**
 * Returns the `application_name` of a connection for heavy reads. No other session has it, on this server or another
 * one.
 */
export function readNameOf(client: pg.ClientBase): string {
  const name = names.get(client) ?? `skerry read ${randomBytes(8).toString('hex')}`
  names.set(client, name)
  return name
}

/**
 * Cancels the statement of this connection once the signal aborts. The returned function stops that, and reports
 * whether the connection was cancelled. Such a connection must be closed: the cancel may arrive late, and would end its
 * next statement.
 *
 * Throws if the signal has already aborted: a cancel that is sent before its statement has no effect.
 *
 * The cancel is sent as SQL. A cancel request of the protocol would be unencrypted, and a proxy may route it to another
 * server.
 */
export function cancelOnAbort(client: pg.ClientBase, watch: Sql, signal: AbortSignal): () => { cancelled: boolean } {
  let cancelled = false
  const cancel = () => {
    cancelled = true
    // If the cancel does not arrive, the statement ends at its own timeout.
    watch.rows(cancelByName, [readNameOf(client)]).catch(() => {})
  }
  signal.throwIfAborted()
  signal.addEventListener('abort', cancel, { once: true })
  return () => {
    signal.removeEventListener('abort', cancel)
    return { cancelled }
  }
}

const cancelByName = 'select pg_cancel_backend(pid) from pg_stat_activity where application_name = $1'
