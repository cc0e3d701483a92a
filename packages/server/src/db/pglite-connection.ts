import { messages, type PGlite, protocol } from '@electric-sql/pglite'
import { bind, camel, parserOf } from './rows.ts'

/** PGlite's one connection, without any queueing: callers take turns. */
export interface Connection {
  rows<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
  script(text: string): Promise<void>
  commit(): Promise<void>
}

type Message = Awaited<ReturnType<PGlite['execProtocolStream']>>[number]

/**
 * PGlite's own query() parses every text again and crosses into WebAssembly six times per statement. This sends one
 * batch per statement and keeps the statement prepared.
 */
export function openConnection(pglite: PGlite): Connection {
  const names = new Map<string, string>()
  let counter = 0
  let dead: Error | undefined

  const exchange = async (message: Uint8Array): Promise<Message[]> => {
    if (dead) throw dead
    try {
      return await pglite.execProtocolStream(message, { syncToFs: false, throwOnError: false })
    } catch (cause) {
      // SQL errors come back as messages. This is PostgreSQL itself having stopped, for instance at a failed fsync.
      dead = new Error('The embedded database has stopped; restart the server to recover', { cause })
      throw dead
    }
  }

  const run = async (text: string, values: readonly unknown[] = []): Promise<Message[]> => {
    const known = names.get(text)
    const name = known ?? `s${counter++}`
    const reply = await exchange(batch(text, name, known === undefined, values))
    if (known === undefined && reply.some((message) => message.name === 'parseComplete')) names.set(text, name)
    throwError(reply)
    return reply
  }

  return {
    rows: async <Row>(text: string, values?: readonly unknown[]) => toRows<Row>(await run(text, values)),
    async script(text) {
      const reply = await exchange(protocol.serialize.query(text))
      // It may have changed tables under the prepared statements.
      names.clear()
      await exchange(protocol.serialize.query('DEALLOCATE ALL'))
      throwError(reply)
    },
    async commit() {
      const reply = await run('COMMIT')
      // PostgreSQL answers COMMIT of a failed transaction with ROLLBACK and no error: that is not a commit.
      const done = reply.some(
        (message) => message instanceof messages.CommandCompleteMessage && message.text === 'COMMIT',
      )
      if (!done) throw new Error('The transaction was rolled back: a statement in it had failed')
    },
  }
}

function batch(text: string, name: string, parse: boolean, values: readonly unknown[]): Uint8Array {
  const { serialize } = protocol
  const parts = [
    serialize.bind({ statement: name, values: values.map(bind) }),
    serialize.describe({ type: 'P' }),
    serialize.execute({}),
    serialize.sync(),
  ]
  if (parse) parts.unshift(serialize.parse({ name, text }))
  return Buffer.concat(parts)
}

function throwError(reply: Message[]): void {
  for (const message of reply) if (message instanceof messages.DatabaseError) throw message
}

function toRows<Row>(reply: Message[]): Row[] {
  let keys: string[] = []
  let parsers: ((text: string) => unknown)[] = []
  const rows: Row[] = []
  for (const message of reply) {
    if (message instanceof messages.DataRowMessage) {
      const row: Record<string, unknown> = {}
      for (let i = 0; i < keys.length; i++) {
        const text = message.fields[i] ?? null
        row[keys[i] as string] = text === null ? null : (parsers[i] as (text: string) => unknown)(text)
      }
      rows.push(row as Row)
    } else if (message instanceof messages.RowDescriptionMessage) {
      keys = message.fields.map((field) => camel(field.name))
      parsers = message.fields.map((field) => parserOf(field.dataTypeID))
    }
  }
  return rows
}
