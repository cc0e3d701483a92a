import type pg from 'pg'
import type { Sql, Tx } from './database.ts'
import { type Answer, foreignRows, type Statement, send } from './postgres-session.ts'
import { bindAll, toRows } from './rows.ts'

export interface Transaction {
  tx: Tx
  commit(): Promise<void>
  /** Returns false if the connection cannot be used again. */
  rollback(): Promise<boolean>
}

type Begin = 'READ COMMITTED' | 'REPEATABLE READ READ ONLY'

/**
 * Begins a transaction that costs no extra round trip. BEGIN is sent with the first statement, and COMMIT with the
 * statements that nobody waits for. Statements started together (Promise.all) share one round trip.
 *
 * No statement may run outside the transaction. Within a group PostgreSQL runs nothing after a failure. After any
 * failure (perhaps in BEGIN's own group, before BEGIN) only ROLLBACK is sent.
 */
export function beginLazily(client: pg.ClientBase, limitMs: number, begin: Begin = 'READ COMMITTED'): Transaction {
  const line = openLine(client, limitMs, `BEGIN ISOLATION LEVEL ${begin}`)
  let ended = false
  const checkOpen = () => {
    if (ended) throw new Error('This transaction has ended')
  }
  const rows: Sql['rows'] = async <Row>(text: string, values?: readonly unknown[]) => {
    checkOpen()
    const answer = line.put(text, values)
    line.flush()
    return toRows<Row>(await answer)
  }
  const tx = {
    rows,
    row: async <Row>(text: string, values?: readonly unknown[]) => (await rows<Row>(text, values))[0],
    later(text: string, values?: readonly unknown[]) {
      checkOpen()
      // A failure also fails the statement that is sent with it: the next one, or COMMIT.
      line.put(text, values).catch(() => {})
    },
    async foreign(text: string, values?: readonly unknown[]) {
      await rows('SELECT 1') // begins, and sends the queue first: the driver's own queries must not overtake it
      return await line.failing(foreignRows(client, text, values, limitMs))
    },
    async script(text: string) {
      await rows('SELECT 1')
      await line.failing(client.query(text))
    },
  } as Tx
  return {
    tx,
    async commit() {
      ended = true
      if (!line.isBegun()) return
      const answer = line.put('COMMIT')
      line.flush()
      // PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK and no error, although nothing was
      // committed.
      if ((await answer).tag !== 'COMMIT') throw new Error('The transaction was rolled back')
    },
    rollback() {
      ended = true
      return line.rollback()
    },
  }
}

/** The queue of statements, sent in the order of the `put` calls. */
function openLine(client: pg.ClientBase, limitMs: number, begin: string) {
  let queue: Statement[] = []
  let sending: Promise<void> | undefined
  let begun = false
  let failed = false
  let failure: unknown

  const fail = (error: unknown) => {
    if (failed) return
    failed = true
    failure = error
  }
  const sendAll = async () => {
    while (queue.length > 0) {
      const group = queue
      queue = []
      if (failed) for (const { reject } of group) reject(failure)
      else {
        const sent = await send(client, group, limitMs)
        if (sent.failure !== undefined) fail(sent.failure)
      }
    }
    sending = undefined
  }
  return {
    isBegun: () => begun,
    put(text: string, values?: readonly unknown[]): Promise<Answer> {
      const bound = bindAll(values)
      if (!begun) queue.push({ text: begin, values: [], resolve: () => {}, reject: () => {} })
      begun = true
      return new Promise((resolve, reject) => queue.push({ text, values: bound, resolve, reject }))
    },
    /** Sends in a microtask, so that statements started in the same step share one group. */
    flush() {
      sending ??= Promise.resolve().then(sendAll)
    },
    async failing<T>(query: Promise<T>): Promise<T> {
      return await query.catch((error: unknown) => {
        fail(error)
        throw error
      })
    },
    async rollback(): Promise<boolean> {
      if (!begun) return true
      fail(new Error('The transaction was rolled back'))
      await sending
      const answer = new Promise<Answer>((resolve, reject) => {
        send(client, [{ text: 'ROLLBACK', values: [], resolve, reject }], limitMs)
      })
      return await answer.then(
        () => true,
        () => false,
      )
    },
  }
}
