import { setImmediate } from 'node:timers/promises'
import { messages, type PGlite, protocol } from '@electric-sql/pglite'
import { bindAll, camel, foreignParserOf, parserOf, type TextRows, toRows } from './rows.ts'
import { isStalePlan } from './sql-errors.ts'

/** PGlite's only connection. It has no queue: callers must not use it at the same time. */
export interface Connection {
  rows<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
  foreign<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
  /** Fetches the next rows of a cursor. */
  fetch<Row>(cursor: string, take: number): Promise<Row[]>
  script(text: string): Promise<void>
  commit(): Promise<void>
  /** Writes a checkpoint first, so that the next start has nothing to replay. */
  close(): Promise<void>
}

type Message = Awaited<ReturnType<PGlite['execProtocolStream']>>[number]
type Field = messages.RowDescriptionMessage['fields'][number]
type Prepared = TextRows['shape'] & { name: string }

const { serialize } = protocol

const YIELD_MS = 20

/**
 * PGlite's own query() parses every text again and enters WebAssembly six times per statement. A select by primary key
 * takes 0.45 ms with it and 0.10 ms here. This code prepares each text once and sends one batch per statement. The
 * errors of query() also contain the values of the statement, which must not reach a log.
 */
export function openConnection(pglite: PGlite, onStopped: (cause: unknown) => Error): Connection {
  const { exchange, isStopped } = openExchange(pglite, onStopped)
  const statements = openStatements(exchange)

  const run = async (text: string, values?: readonly unknown[]) => {
    const bound = bindAll(values)
    const shape = await statements.get(text)
    const bind = serialize.bind({ statement: shape.name, values: bound })
    const reply = await exchange(bind, serialize.execute({}), serialize.sync()).catch((error: unknown) => {
      if (isStalePlan(error)) statements.forget()
      throw error
    })
    return { shape, reply }
  }

  return {
    async rows<Row>(text: string, values?: readonly unknown[]) {
      const { shape, reply } = await run(text, values)
      return toRows<Row>({ shape, values: valuesOf(reply) })
    },
    async foreign<Row>(text: string, values: readonly unknown[] = []) {
      if (values.length === 0) return unpreparedRows<Row>(await exchange(serialize.query(text)), foreign)
      const bind = serialize.bind({ values: bindAll(values) })
      const describe = serialize.describe({ type: 'P' })
      const reply = await exchange(serialize.parse({ text }), bind, describe, serialize.execute({}), serialize.sync())
      return unpreparedRows<Row>(reply, foreign)
    },
    async fetch<Row>(cursor: string, take: number) {
      return unpreparedRows<Row>(await exchange(serialize.query(`FETCH ${take} FROM ${cursor}`)), ours)
    },
    async script(text) {
      statements.forget() // the script may change their tables
      await exchange(serialize.query('DEALLOCATE ALL'))
      await exchange(serialize.query(text))
    },
    async commit() {
      const { reply } = await run('COMMIT')
      // PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK and no error, although nothing was
      // committed.
      const isCommit = (message: Message) =>
        message instanceof messages.CommandCompleteMessage && message.text === 'COMMIT'
      if (!reply.some(isCommit)) throw new Error('The transaction was rolled back')
    },
    async close() {
      await exchange(serialize.query('CHECKPOINT')).catch(() => {})
      // If PostgreSQL has already stopped by itself, a shutdown would write to the files again.
      if (!isStopped()) await pglite.close()
    },
  }
}

type Exchange = (...parts: Uint8Array[]) => Promise<Message[]>

/** Sends messages to PostgreSQL as one batch. Returns its answers, or throws the error among them. */
function openExchange(pglite: PGlite, onStopped: (cause: unknown) => Error) {
  let yieldedAt = 0
  let stopped: Error | undefined

  const exchange: Exchange = async (...parts) => {
    if (performance.now() - yieldedAt > YIELD_MS) {
      // These calls never wait for the event loop. Without this pause, statements in a loop would block every request.
      await setImmediate()
      yieldedAt = performance.now()
    }
    if (stopped) throw stopped
    const batch = parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts)
    let reply: Message[]
    try {
      reply = await pglite.execProtocolStream(batch, { syncToFs: false, throwOnError: false })
    } catch (cause) {
      // SQL errors arrive as messages. An exception means that PostgreSQL has stopped, for example after a failed
      // fsync.
      stopped = onStopped(cause)
      throw stopped
    }
    for (const message of reply) if (message instanceof messages.DatabaseError) throw message
    return reply
  }
  return { exchange, isStopped: () => stopped !== undefined }
}

function openStatements(exchange: Exchange) {
  const prepared = new Map<string, Prepared>()
  let counter = 0

  const prepare = async (text: string): Promise<Prepared> => {
    const name = `s${counter++}`
    const describe = serialize.describe({ type: 'S', name })
    const fields = fieldsOf(await exchange(serialize.parse({ name, text }), describe, serialize.sync()))
    const parsers = fields.map((field) => parserOf(field.dataTypeID))
    const statement = { name, keys: fields.map(camelName), parsers }
    prepared.set(text, statement)
    return statement
  }
  return {
    async get(text: string): Promise<Prepared> {
      return prepared.get(text) ?? (await prepare(text))
    },
    forget: () => prepared.clear(),
  }
}

function camelName({ name }: Field): string {
  return camel(name)
}

function fieldsOf(reply: Message[]): Field[] {
  return reply.find((message) => message instanceof messages.RowDescriptionMessage)?.fields ?? []
}

function valuesOf(reply: Message[]): (string | null)[][] {
  return reply.filter((message) => message instanceof messages.DataRowMessage).map(({ fields }) => fields)
}

/** How to read the rows of a statement that is not prepared. */
interface Reader {
  key: (column: string) => string
  parser: typeof parserOf
}
const ours: Reader = { key: camel, parser: parserOf }
/** Reads rows in the form that libraries expect. */
const foreign: Reader = { key: (column) => column, parser: foreignParserOf }

/** Returns the rows of a reply, which may contain the results of several statements. */
function unpreparedRows<Row>(reply: Message[], { key, parser }: Reader): Row[] {
  const rows: Row[] = []
  let shape: TextRows['shape'] = { keys: [], parsers: [] }
  for (const message of reply) {
    if (message instanceof messages.RowDescriptionMessage) {
      const { fields } = message
      shape = { keys: fields.map(({ name }) => key(name)), parsers: fields.map(({ dataTypeID }) => parser(dataTypeID)) }
    } else if (message instanceof messages.DataRowMessage)
      rows.push(...toRows<Row>({ shape, values: [message.fields] }))
  }
  return rows
}
