import type pg from 'pg'
import { type Bound, bindAll, camel, foreignParserOf, parserOf, toRows } from './rows.ts'

/** A statement to send, with the callbacks of the promise that its caller awaits. */
export interface Statement {
  text: string
  values: Bound[]
  resolve(answer: Answer): void
  reject(error: unknown): void
}

export interface Answer {
  shape: Shape
  values: (readonly (string | null)[])[]
  /** `SELECT 1`, `COMMIT`, ... */
  tag: string
}

/**
 * The columns that a prepared statement returns. They cannot change: PostgreSQL refuses a plan whose result type
 * changed.
 */
interface Shape {
  name: string
  keys: string[]
  parsers: ((text: string) => unknown)[]
}

/** The driver's connection, as the driver passes it to a query object. (pg-cursor is such a query object, too.) */
interface Wire {
  stream: { cork(): void; uncork(): void; destroy(error: Error): void }
  parse(statement: { name: string; text: string }): void
  bind(values: { statement: string; values: Bound[] }): void
  describe(target: { type: 'S'; name: string }): void
  execute(): void
  sync(): void
  sendCopyFail(message: string): void
}

interface Handlers {
  fields?(fields: readonly pg.FieldDef[]): void
  row?(values: readonly (string | null)[]): void
  complete?(tag: string): void
}

/**
 * Sends statements as one group with one write and one answer. After a failure PostgreSQL skips the rest of the group.
 * The driver's own query() describes a statement again at each run, and waits for each answer.
 *
 * Measured with 16 connections on 2 cores: transactions of BEGIN, select, two inserts and COMMIT, relative to one
 * autocommit insert over pool.query. Five query() calls reach 0.35 of its throughput. BEGIN with the first statement
 * and COMMIT with the last reach 0.49. Two groups reach 0.64.
 *
 * If one statement fails, all statements of its group fail, and the failure is also returned. Outside a transaction a
 * group must be a single statement: PostgreSQL would make a longer one a transaction.
 */
export async function send(
  client: pg.ClientBase,
  statements: readonly Statement[],
  limitMs: number,
): Promise<{ failure: unknown }> {
  try {
    const shapes: Shape[] = []
    for (const { text } of statements) shapes.push(shapeOf(client, text) ?? (await prepare(client, text, limitMs)))
    const answers: Answer[] = []
    let values: Answer['values'] = []
    await exchange(client, limitMs, (wire) => writeGroup(wire, statements, shapes), {
      row: (row) => values.push(row),
      complete: (tag) => {
        answers.push({ shape: shapes[answers.length] as Shape, values, tag })
        values = []
      },
    })
    // Resolve only now. Outside a transaction PostgreSQL first reports the statement as done, and then commits or fails
    // to.
    statements.forEach((statement, index) => {
      statement.resolve(answers[index] as Answer)
    })
    return { failure: undefined }
  } catch (failure) {
    for (const statement of statements) statement.reject(failure)
    return { failure }
  }
}

function writeGroup(wire: Wire, statements: readonly Statement[], shapes: readonly Shape[]): void {
  for (let i = 0; i < statements.length; i++) {
    wire.bind({ statement: (shapes[i] as Shape).name, values: (statements[i] as Statement).values })
    wire.execute()
  }
  wire.sync()
}

const shapesOf = new WeakMap<pg.ClientBase, Map<string, Shape>>()

function shapeOf(client: pg.ClientBase, text: string): Shape | undefined {
  return shapesOf.get(client)?.get(text)
}

async function prepare(client: pg.ClientBase, text: string, limitMs: number): Promise<Shape> {
  let shapes = shapesOf.get(client)
  if (shapes === undefined) {
    shapes = new Map()
    shapesOf.set(client, shapes)
  }
  const name = `s${shapes.size}`
  let fields: readonly pg.FieldDef[] = []
  const ask = (wire: Wire) => {
    wire.parse({ name, text })
    wire.describe({ type: 'S', name })
    wire.sync()
  }
  await exchange(client, limitMs, ask, {
    fields: (described) => {
      fields = described
    },
  })
  const keys = fields.map((field) => camel(field.name))
  const shape = { name, keys, parsers: fields.map((field) => parserOf(field.dataTypeID)) }
  shapes.set(text, shape)
  return shape
}

const unanswered = new WeakMap<pg.ClientBase, number>()

/** When a connection began to wait for an answer, by `performance.now()`; undefined if it does not wait. */
export const unansweredSince = (client: pg.ClientBase): number | undefined => unanswered.get(client)

/** Records that a connection waits for the answer to one of the driver's own queries. */
export async function whileUnanswered<T>(client: pg.ClientBase, answer: Promise<T>): Promise<T> {
  unanswered.set(client, performance.now())
  try {
    return await answer
  } finally {
    unanswered.delete(client)
  }
}

/**
 * Passes the driver a query object that writes with `write` and listens until the server is ready for the next query.
 */
function exchange(client: pg.ClientBase, limitMs: number, write: (wire: Wire) => void, on: Handlers): Promise<void> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined
    const query = {
      submit(wire: Wire) {
        // The server ends slow statements itself. This timer is for a server that stops answering, which TCP notices
        // only after minutes.
        timer = setTimeout(() => wire.stream.destroy(new Error('Connection terminated: no answer')), limitMs)
        unanswered.set(client, performance.now())
        wire.stream.cork()
        try {
          write(wire)
        } finally {
          wire.stream.uncork()
        }
        return null
      },
      handleRowDescription: ({ fields }: { fields: readonly pg.FieldDef[] }) => on.fields?.(fields),
      handleDataRow: ({ fields }: { fields: readonly (string | null)[] }) => on.row?.(fields),
      handleCommandComplete: ({ text }: { text: string }) => on.complete?.(text),
      handleEmptyQuery: () => on.complete?.(''),
      handlePortalSuspended: () => {},
      handleCopyInResponse: (wire: Wire) => wire.sendCopyFail('COPY is not supported here'),
      handleCopyData: () => {},
      handleReadyForQuery() {
        clearTimeout(timer)
        unanswered.delete(client)
        resolve()
      },
      handleError(error: Error) {
        clearTimeout(timer)
        unanswered.delete(client)
        reject(error)
      },
    }
    // The driver's types require arguments that it does not read.
    client.query(query as unknown as pg.Submittable)
  })
}

const foreignTypes = { getTypeParser: (oid: number) => foreignParserOf(oid) } as pg.CustomTypesConfig

export async function foreignRows<Row>(
  client: pg.ClientBase,
  text: string,
  values: readonly unknown[] | undefined,
  limitMs: number,
): Promise<Row[]> {
  const bound = values?.length ? { values: bindAll(values) } : {}
  const query: pg.QueryConfig & { query_timeout: number } = {
    text,
    types: foreignTypes,
    query_timeout: limitMs,
    ...bound,
  }
  const results: pg.QueryResult | pg.QueryResult[] = await whileUnanswered(client, client.query(query))
  return [results].flat().flatMap(({ rows }) => rows as Row[])
}

const asText = { getTypeParser: () => (text: string) => text } as pg.CustomTypesConfig

/** Fetches the next rows of a cursor. The statement is not prepared, because each cursor is used only once. */
export async function fetchRows<Row>(
  client: pg.ClientBase,
  cursor: string,
  take: number,
  limitMs: number,
): Promise<Row[]> {
  const query: pg.QueryArrayConfig & { query_timeout: number } = {
    text: `FETCH ${take} FROM ${cursor}`,
    rowMode: 'array',
    types: asText,
    query_timeout: limitMs,
  }
  const { fields, rows: values } = await whileUnanswered(client, client.query<(string | null)[]>(query))
  const shape = {
    keys: fields.map(({ name }) => camel(name)),
    parsers: fields.map(({ dataTypeID }) => parserOf(dataTypeID)),
  }
  return toRows<Row>({ shape, values })
}
