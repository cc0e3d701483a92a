import type pg from 'pg'
import type { Sql, Tx } from './database.ts'
import { type Answer, foreignRows, type Statement, send } from './postgres-session.ts'
import { bindAll, toRows } from './rows.ts'

export interface Transaction {
  tx: Tx
  commit(): Promise<void>
  /** False when the connection can no longer be trusted. */
  rollback(): Promise<boolean>
}

const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED'

/**
 * A transaction that spends no round trip of its own: BEGIN travels with the first statement, COMMIT with those that
 * nobody waits for, and statements started together (Promise.all) share one. Within such a group PostgreSQL runs
 * nothing after a failure, so no statement can run without its BEGIN and no COMMIT after a failed statement.
 */
export function beginLazily(client: pg.ClientBase, limitMs: number): Transaction {
  let queue: Statement[] = []
  let sending: Promise<void> | undefined
  let begun = false
  let ended = false

  const flush = async () => {
    while (queue.length > 0) {
      const group = queue
      queue = []
      await send(client, group, limitMs)
    }
    sending = undefined
  }
  /** In a microtask, so that what is started in the same step travels together. */
  const wake = () => {
    sending ??= Promise.resolve().then(flush)
    return sending
  }
  const enqueue = (text: string, values: readonly unknown[] | undefined): Promise<Answer> => {
    if (!begun) {
      begun = true
      queue.push({ text: BEGIN, values: [], resolve: () => {}, reject: () => {} })
    }
    return new Promise((resolve, reject) => queue.push({ text, values: bindAll(values), resolve, reject }))
  }
  const checkOpen = () => {
    if (ended) throw new Error('This transaction has ended')
  }
  const rows: Sql['rows'] = async <Row>(text: string, values?: readonly unknown[]) => {
    checkOpen()
    const answer = enqueue(text, values)
    wake()
    return toRows<Row>(await answer)
  }
  /** Begins, and sends what waits: the driver's own queries must not overtake it. */
  const settle = async () => {
    if (!begun || queue.length > 0 || sending) await rows('SELECT 1')
    checkOpen()
  }
  const tx = {
    rows,
    row: async <Row>(text: string, values?: readonly unknown[]) => (await rows<Row>(text, values))[0],
    later(text: string, values?: readonly unknown[]) {
      checkOpen()
      // A failure fails whatever travels with it: the next statement, or COMMIT.
      enqueue(text, values).catch(() => {})
    },
    async foreign(text: string, values?: readonly unknown[]) {
      await settle()
      return await foreignRows(client, text, values)
    },
    async script(text: string) {
      await settle()
      await client.query(text)
    },
  } as Tx
  return {
    tx,
    async commit() {
      ended = true
      if (!begun) return
      const answer = enqueue('COMMIT', undefined)
      wake()
      // PostgreSQL answers COMMIT of a failed transaction with ROLLBACK and no error: that is not a commit.
      if ((await answer).tag !== 'COMMIT')
        throw new Error('The transaction was rolled back: a statement in it had failed')
    },
    async rollback() {
      ended = true
      for (const { reject } of queue.splice(0)) reject(new Error('The transaction was rolled back'))
      if (!begun) return true
      await sending
      const answer = enqueue('ROLLBACK', undefined)
      wake()
      return await answer.then(
        () => true,
        () => false,
      )
    },
  }
}
