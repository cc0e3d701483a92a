import type pg from 'pg'
import { type Bound, bind, camel, parserOf } from './rows.ts'

/** One statement on its way: `resolve` gets its rows and command tag. */
export interface Statement {
  text: string
  values: readonly unknown[]
  resolve(result: Result): void
  reject(error: unknown): void
}

export interface Result {
  rows: unknown[]
  /** `SELECT 1`, `COMMIT`, ... */
  tag: string
}

/** The row shape of a prepared statement. It cannot change: PostgreSQL refuses a plan whose result type did. */
interface Shape {
  name: string
  keys: string[]
  parsers: ((text: string) => unknown)[]
}

/** The driver's connection, as it hands it to a query object of ours (as to those of pg-cursor). */
interface Wire {
  stream: { cork(): void; uncork(): void }
  parse(statement: { name: string; text: string }): void
  bind(values: { statement: string; values: Bound[] }): void
  describe(target: { type: 'S'; name: string }): void
  execute(): void
  sync(): void
  sendCopyFail(message: string): void
}

interface Handlers {
  fields?: (fields: readonly pg.FieldDef[]) => void
  row?: (values: readonly (string | null)[]) => void
  complete?: (tag: string) => void
}

/**
 * Sends statements as one message group: one write, one answer, and after a failure PostgreSQL skips the rest of the
 * group. Callers must hold a transaction open or send one statement: a group outside of a transaction would be one.
 *
 * Why not client.query: it describes each statement again at each run and waits for each answer.
 */
export async function send(client: pg.ClientBase, statements: readonly Statement[]): Promise<void> {
  let at = 0
  try {
    const shapes: Shape[] = []
    for (const { text } of statements) {
      shapes.push(shapeOf(client, text) ?? (await prepare(client, text)))
      at++
    }
    at = 0
    let rows: unknown[] = []
    await exchange(client, (wire) => sendGroup(wire, statements, shapes), {
      row: (values) => rows.push(toRow(shapes[at] as Shape, values)),
      complete: (tag) => {
        statements[at++]?.resolve({ rows, tag })
        rows = []
      },
    })
  } catch (error) {
    for (const statement of statements) statement.reject(error)
  }
}

function sendGroup(wire: Wire, statements: readonly Statement[], shapes: readonly Shape[]): void {
  statements.forEach(({ values }, index) => {
    wire.bind({ statement: (shapes[index] as Shape).name, values: values.map(bind) })
    wire.execute()
  })
  wire.sync()
}

function toRow({ keys, parsers }: Shape, values: readonly (string | null)[]): unknown {
  const row: Record<string, unknown> = {}
  for (let i = 0; i < keys.length; i++) {
    const text = values[i] as string | null
    row[keys[i] as string] = text === null ? null : (parsers[i] as (text: string) => unknown)(text)
  }
  return row
}

const shapesOf = new WeakMap<pg.ClientBase, Map<string, Shape>>()

function shapeOf(client: pg.ClientBase, text: string): Shape | undefined {
  return shapesOf.get(client)?.get(text)
}

async function prepare(client: pg.ClientBase, text: string): Promise<Shape> {
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
  await exchange(client, ask, {
    fields: (described) => {
      fields = described
    },
  })
  const shape = {
    name,
    keys: fields.map((field) => camel(field.name)),
    parsers: fields.map((field) => parserOf(field.dataTypeID)),
  }
  shapes.set(text, shape)
  return shape
}

/** Hands the driver a query object that writes with `write` and hears the answers until the server is ready again. */
function exchange(client: pg.ClientBase, write: (wire: Wire) => void, on: Handlers): Promise<void> {
  return new Promise((resolve, reject) => {
    const query = {
      submit(wire: Wire): Error | null {
        wire.stream.cork()
        try {
          write(wire)
          return null
        } catch (error) {
          return error as Error
        } finally {
          wire.stream.uncork()
        }
      },
      handleRowDescription: ({ fields }: { fields: readonly pg.FieldDef[] }) => on.fields?.(fields),
      handleDataRow: ({ fields }: { fields: readonly (string | null)[] }) => on.row?.(fields),
      handleCommandComplete: ({ text }: { text: string }) => on.complete?.(text),
      handleEmptyQuery: () => on.complete?.(''),
      handlePortalSuspended: () => {},
      handleCopyInResponse: (wire: Wire) => wire.sendCopyFail('COPY is not supported here'),
      handleCopyData: () => {},
      handleReadyForQuery: () => resolve(),
      handleError: reject,
    }
    client.query(query as unknown as pg.Submittable)
  })
}
