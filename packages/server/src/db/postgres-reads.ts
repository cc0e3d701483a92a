import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import type { Sql } from './database.ts'

// A heavy read ends with its caller: its connection has a name of its own, by which PostgreSQL is told to cancel it.

const names = new WeakMap<pg.ClientBase, string>()

/** The `application_name` of a connection for heavy reads. No other session has it, on this server or another one. */
export function readNameOf(client: pg.ClientBase): string {
  const name = names.get(client) ?? `skerry read ${randomBytes(8).toString('hex')}`
  names.set(client, name)
  return name
}

/**
 * Cancels whatever this connection runs once the signal aborts. The returned function ends that, and says whether the
 * connection was cancelled. Such a connection must be closed: the cancel may arrive late, and would end its next statement.
 *
 * Throws where the signal has aborted: a cancel that is sent before its statement reaches nothing.
 *
 * By SQL and not by a cancel request of the protocol, which would go out in the clear and past a proxy's choice of server.
 */
export function cancelOnAbort(client: pg.ClientBase, watch: Sql, signal: AbortSignal): () => { cancelled: boolean } {
  let cancelled = false
  const cancel = () => {
    cancelled = true
    // Where it does not arrive, the statement ends by its own timeout.
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
