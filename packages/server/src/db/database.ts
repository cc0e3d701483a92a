/**
 * The interface between the server and its database. Two engines implement it: PostgreSQL over `pg`, and PGlite in
 * process. The code above does not know which of them runs: the SQL is the same, rows have camelCase keys, instants are
 * ISO strings, bigint counts are numbers, and jsonb is parsed.
 */
export interface Sql {
  /**
   * Runs one statement. The text must be a constant, never built from input: each text is prepared once per connection.
   */
  rows<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
  /** The first row, or undefined. */
  row<Row>(text: string, values?: readonly unknown[]): Promise<Row | undefined>
  /**
   * Runs the SQL of a library: not prepared, with the column names unchanged and instants as Date. Without values, the
   * text may hold several statements. Their rows are returned together.
   */
  foreign<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
}

declare const inTransaction: unique symbol
/**
 * A handle inside a transaction. Mutations get only this handle, so none of their statements can run outside the
 * transaction. Statements started together (`Promise.all`) share one round trip to PostgreSQL.
 */
export interface Tx extends Sql {
  readonly [inTransaction]: true
  /**
   * Queues a statement whose rows nobody needs, such as an audit entry. It is sent with the next statement or with
   * COMMIT, so it costs no round trip. If it fails, that statement fails too, and the transaction with it.
   */
  later(text: string, values?: readonly unknown[]): void
  /** Runs several statements without values, for migrations. */
  script(text: string): Promise<void>
}

/** One query of a snapshot. */
export interface Reading {
  text: string
  values: readonly unknown[]
}

/** The database as it was at one moment. Rows are fetched in portions, so that only one portion is in memory. */
export interface Snapshot {
  /** Fetches the next rows of one reading. An empty array means that the reading has ended. */
  next<Row>(reading: number, take: number): Promise<Row[]>
  /** Must always be called. Otherwise a connection stays in use for good. */
  close(): Promise<void>
}

export interface Database extends Sql {
  readonly engine: 'postgres' | 'embedded'
  /**
   * Runs the statements of a batcher, one after the other. On PostgreSQL they have their own connection, whose process
   * keeps their plan and their index pages at hand. Over the pool they would move from one process to the next, and
   * each write would cost PostgreSQL 15 per cent more.
   */
  readonly batches: Sql
  /**
   * Runs the poll of invalidations and the check of `/ready`. It has its own connection, so that both work while the
   * pool is full.
   */
  readonly watch: Sql
  /**
   * Runs the look-ups that authenticate callers, on the pool, or on a separate connection while the pool is full. Read
   * this property again for each look-up.
   */
  readonly lookups: Sql
  /**
   * Runs heavy reads (http/heavy-reads.ts), outside the pool. Each statement has a short timeout, and is cancelled when
   * the signal aborts. The embedded database cannot cancel a statement: after the signal it only starts no further one.
   */
  reads(signal: AbortSignal): Sql
  /**
   * Commits when `work` returns and rolls back when it throws. Never use the outer handle inside: it deadlocks. After a
   * deadlock or a serialization failure `work` runs again from the start, so SQL must be its only effect.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * Reads the state of one moment for longer than a transaction may last. Other callers can write meanwhile. PostgreSQL
   * keeps the snapshot as long as one connection stays in a transaction. The embedded database has only one connection,
   * so it copies the rows to temporary files.
   *
   * @param choose queries that moment and returns the readings
   * @param signal cancels the running read, like the signal of `reads`
   */
  openSnapshot(choose: (db: Sql) => Promise<Reading[]>, signal?: AbortSignal): Promise<Snapshot>
  /** Runs several statements without values, for migrations. */
  script(text: string): Promise<void>
  close(): Promise<void>
}
