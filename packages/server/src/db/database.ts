/**
 * What the server asks of its database. Two engines stand behind it, PostgreSQL over `pg` and PGlite in process, and
 * nothing above this line knows which: the SQL is the same, rows come back with camelCase keys, instants as ISO
 * strings, bigint counts as numbers, jsonb parsed.
 */
export interface Sql {
  /** Runs one statement. Texts are constants, never built from input: each is prepared once per connection. */
  rows<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
  /** The first row, or undefined. */
  row<Row>(text: string, values?: readonly unknown[]): Promise<Row | undefined>
  /**
   * SQL that a library brings: not prepared, column names as they are, instants as Date. Several statements are
   * possible when there are no values, and give the rows of all.
   */
  foreign<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
}

declare const inTransaction: unique symbol
/**
 * A handle inside a transaction. Mutations see only this, so that nothing of theirs can land outside of it. Statements
 * started together (`Promise.all`) share one round trip to PostgreSQL.
 */
export interface Tx extends Sql {
  readonly [inTransaction]: true
  /**
   * A statement whose rows nobody needs, such as an audit entry. It travels with the next statement or with COMMIT
   * and so costs no round trip; when it fails, so does that statement, and the transaction.
   */
  later(text: string, values?: readonly unknown[]): void
  /** Several statements without values, for migrations. */
  script(text: string): Promise<void>
}

/** One of the things that a snapshot reads, in its order. */
export interface Reading {
  text: string
  values: readonly unknown[]
}

/** Everything as it was at one moment. Rows come as they are asked for, and no more of them are in memory. */
export interface Snapshot {
  /** The next rows of one of its readings; none when it has come to its end. */
  next<Row>(reading: number, take: number): Promise<Row[]>
  /** Always, or a connection is lost. */
  close(): Promise<void>
}

export interface Database extends Sql {
  readonly engine: 'postgres' | 'embedded'
  /**
   * For statements that a batcher sends, one after the other. On PostgreSQL they have a connection of their own: its
   * process has their plan and the pages of their indexes at hand, where the pool would hand them from one process to the
   * next, which costs PostgreSQL 15 per cent more for each write.
   */
  readonly batches: Sql
  /** For the poll of invalidations and `/ready`: a connection of its own, so that they are answered while the pool is full. */
  readonly watch: Sql
  /** For finding out who asks: the pool, or while that is full a connection of its own. Read it anew for each look-up. */
  readonly lookups: Sql
  /**
   * For heavy reads (http/heavy-reads.ts), outside of the pool. Each statement has a short timeout, and is cancelled when the
   * signal aborts. The embedded database cannot cancel: there no further statement begins.
   */
  reads(signal: AbortSignal): Sql
  /**
   * Commits when `work` returns and rolls back when it throws. Never use the outer handle inside: it deadlocks. After a
   * deadlock or a failed serialization `work` runs again as a whole, so it must have no effects but its SQL.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * For what takes longer to read than a transaction may last: others go on writing meanwhile. PostgreSQL keeps the moment
   * for as long as one connection is in a transaction; the embedded database, which has but one, lays the rows aside.
   *
   * @param choose looks at that moment and says what is to be read
   * @param signal cancels what it reads at that time, as that of `reads` does
   */
  openSnapshot(choose: (db: Sql) => Promise<Reading[]>, signal?: AbortSignal): Promise<Snapshot>
  /** Several statements without values, for migrations. */
  script(text: string): Promise<void>
  close(): Promise<void>
}
