import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { held } from '../../test/held.ts'
import { missingPostgres, type PostgresService, startPostgres } from '../../test/services/postgres.ts'
import { openWire, type Wire } from '../../test/services/wire.ts'
import { until } from '../../test/until.ts'
import { longMs } from '../../test/wait-limits.ts'
import type { Database, Sql } from './database.ts'
import { type Identity, openIdentity } from './identity.ts'
import { openPostgres, type PostgresOptions } from './postgres.ts'
import { isConnectionError, isUniqueViolation } from './sql-errors.ts'

const missing = process.env.SKERRY_REQUIRE_SERVICES === '1' ? undefined : missingPostgres()

describe.skipIf(missing)(`postgres${missing ? ` (skipped: ${missing})` : ''}`, () => {
  let service: PostgresService
  let closing: (() => Promise<void>)[] = []

  beforeAll(async () => {
    service = (await startPostgres({ fsync: false })) as PostgresService
    const db = openPostgres(service.url)
    await db.script('create table items (id integer primary key, note text)')
    await db.close()
  })
  afterEach(async () => {
    for (const close of closing.reverse()) await close()
    closing = []
  })
  afterAll(() => service?.dispose())

  function open(url = service.url, options: PostgresOptions = {}): Database {
    const db = openPostgres(url, { connectTimeoutMs: longMs, ...options })
    closing.push(() => db.close())
    return db
  }
  async function wire(): Promise<Wire> {
    const opened = await openWire(service.url)
    closing.push(() => opened.close())
    return opened
  }
  /** Waits until a connection succeeds, because the short limits may end the first attempts. */
  const untilConnected = (db: Sql) => until('it is connected', () => db.rows('select 1').catch(() => false as const))
  const pidOf = async (db: Sql) => (await db.row<{ pid: number }>('select pg_backend_pid() as pid'))?.pid
  const insert = 'insert into items (id, note) values ($1, $2)'

  it('fails each call while the database is down, and recovers by itself when it is back', async () => {
    const idle: Error[] = []
    const db = open(service.url, { onIdleError: (error) => idle.push(error) })
    await Promise.all([1, 2, 3].map(() => db.rows('select pg_sleep(0.01)')))
    await service.stop('fast')
    for (let i = 0; i < 3; i++) expect(isConnectionError(await refusal(db.rows('select 1')))).toBe(true)
    expect(isConnectionError(await refusal(db.transaction((tx) => tx.rows('select 1'))))).toBe(true)
    await service.restart()
    expect(await db.rows('select 1 as one')).toEqual([{ one: 1 }])
    expect(await db.transaction((tx) => tx.row('select 2 as two'))).toEqual({ two: 2 })
    expect(idle.length).toBeGreaterThan(0)
  })

  it('keeps a separate connection for batches, which works while the pool is full', async () => {
    const db = open(service.url, { poolSize: 2 })
    const own = await pidOf(db.batches)
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const busy = [1, 2].map(() =>
      db.transaction(async (tx) => {
        const pid = await pidOf(tx)
        await held
        return pid
      }),
    )
    for (let i = 0; i < 3; i++) expect(await pidOf(db.batches)).toBe(own)
    release()
    expect(await Promise.all(busy)).not.toContain(own)
  })

  it('recovers after the database was killed in the middle of transactions, which leave no rows', async () => {
    const db = open()
    let written = 0
    const { promise: killed, resolve } = Promise.withResolvers<void>()
    const failed = Array.from({ length: 5 }, (_, i) =>
      refusal(
        db.transaction(async (tx) => {
          await tx.rows(insert, [i, 'half'])
          if (++written === 5) resolve(service.kill9())
          await killed
          await tx.rows('select 1')
        }),
      ),
    )
    for (const error of await Promise.all(failed)) expect(isConnectionError(error)).toBe(true)
    await service.restart()
    expect(await db.rows('select * from items')).toEqual([])
  })

  it('throws if the connection breaks during COMMIT, because nobody knows whether it succeeded', async () => {
    const network = await wire()
    const db = open(network.url, { poolSize: 1 })
    await db.transaction((tx) => tx.rows(insert, [9, 'prepares'])) // so that COMMIT needs only one round trip
    const outcome = db.transaction(async (tx) => {
      await tx.rows(insert, [10, 'unknown'])
      network.cutAtNextAnswer()
      return 'committed'
    })
    expect(isConnectionError(await refusal(outcome))).toBe(true)
    // It succeeded. So the error must not say that the write failed.
    const direct = open()
    expect(await direct.rows('select note from items where id = 10')).toEqual([{ note: 'unknown' }])
  })

  it('throws if the connection breaks during a statement outside a transaction, and does not run it again', async () => {
    const network = await wire()
    const db = open(network.url)
    await db.rows('update items set note = note || $1 where id = 11', ['!'])
    await open().rows(insert, [11, 'once'])
    network.cutAtNextAnswer()
    expect(isConnectionError(await refusal(db.rows('update items set note = note || $1 where id = 11', ['!'])))).toBe(
      true,
    )
    expect(await open().rows('select note from items where id = 11')).toEqual([{ note: 'once!' }])
  })

  it('fails the call if the database stops answering', async () => {
    const network = await wire()
    const db = open(network.url, { connectTimeoutMs: 1000, statementTimeoutMs: 1000 })
    await untilConnected(db)
    network.fallSilent()
    expect(isConnectionError(await refusal(db.rows('select 1')))).toBe(true)
    expect(isConnectionError(await refusal(db.rows('select 1')))).toBe(true)
  })

  it('fails the SQL of a library if the database stops answering', async () => {
    const network = await wire()
    const db = open(network.url, { connectTimeoutMs: 1000, statementTimeoutMs: 1000 })
    await untilConnected(db)
    network.fallSilent()
    expect(isConnectionError(await refusal(db.foreign('select 1')))).toBe(true)
  })

  it('fails the SQL of a library in a transaction if no answer comes', async () => {
    const db = open(service.url, { connectTimeoutMs: 1000, statementTimeoutMs: 1000 })
    const outcome = db.transaction(async (tx) => {
      await tx.rows('set local statement_timeout = 0') // otherwise the database would cancel it first
      await tx.foreign('select pg_sleep(3600)')
    })
    expect(isConnectionError(await refusal(outcome))).toBe(true)
  })

  it('cancels a statement that takes too long, and stays usable', async () => {
    const db = open(service.url, { statementTimeoutMs: 1000, poolSize: 1 })
    expect(await refusal(db.rows('select pg_sleep(3600)'))).toMatchObject({ code: '57014' })
    expect(await db.rows('select 1 as one')).toEqual([{ one: 1 }])
  })

  it('cancels a statement of a heavy read earlier than other statements', async () => {
    const limitOf = async (sql: Sql) =>
      (await sql.row<{ ends: string }>(`select current_setting('statement_timeout') as ends`))?.ends
    const usual = open()
    const caller = new AbortController().signal
    expect([await limitOf(usual), await limitOf(usual.reads(caller))]).toEqual(['30s', '5s'])
    const db = open(service.url, { readTimeoutMs: 200, statementTimeoutMs: longMs })
    const reads = db.reads(caller)
    expect(await refusal(reads.rows('select pg_sleep(3600)'))).toMatchObject({ code: '57014' })
    expect(await reads.rows('select 1 as one')).toEqual([{ one: 1 }])
  })

  it('keeps its connection after an SQL error, also in a transaction', async () => {
    const db = open(service.url, { poolSize: 1 })
    const pid = await pidOf(db)
    await db.rows(insert, [20, 'first'])
    expect(isUniqueViolation(await refusal(db.rows(insert, [20, 'second'])))).toBe(true)
    const failed = db.transaction(async (tx) => {
      await tx.rows(insert, [20, 'third'])
    })
    expect(isUniqueViolation(await refusal(failed), 'items_pkey')).toBe(true)
    await refusal(db.transaction(() => Promise.reject(new Error('before any statement'))))
    expect(await pidOf(db)).toBe(pid)
  })

  it('drops a connection that an administrator terminated, whose transaction is rolled back', async () => {
    const db = open(service.url, { poolSize: 1 })
    const other = open()
    const failed = db.transaction(async (tx) => {
      const row = await tx.row<{ pid: number }>('select pg_backend_pid() as pid')
      await tx.rows(insert, [30, 'half'])
      await open().rows('select pg_terminate_backend($1)', [row?.pid])
      await tx.rows('select 1')
    })
    expect(isConnectionError(await refusal(failed))).toBe(true)
    expect(await db.rows('select id from items where id = 30')).toEqual([])
    expect(await other.rows('select 1 as one')).toEqual([{ one: 1 }])
  })

  it('closes connections that died without notice as soon as a new one gets an answer', async () => {
    const network = await wire()
    const db = open(network.url, { silentMs: 200, statementTimeoutMs: longMs, poolSize: 3 })
    await Promise.all([1, 2, 3].map(() => db.rows('select pg_sleep(0.05)')))
    await db.batches.rows('select 1')
    network.silenceOpen()
    const refused = await Promise.all([
      refusal(db.rows('select 1')),
      refusal(db.transaction((tx) => tx.rows('select 1'))),
      refusal(db.foreign('select 1')),
      refusal(db.batches.rows('select 1')),
    ])
    for (const error of refused) expect(isConnectionError(error)).toBe(true)
    expect(await db.rows('select 1 as one')).toEqual([{ one: 1 }])
  })

  it('waits for a slow statement while the database works on it', async () => {
    let looks = 0
    const identity: Identity = { ...openIdentity(), note: () => void looks++ }
    const db = open(service.url, { silentMs: 100, identity })
    const lock = await held(open(), (tx) => tx.rows('select pg_advisory_xact_lock(7)'))
    const slow = db.row('select 1 as one from pg_advisory_xact_lock(7)')
    const before = looks
    await until('several looks', () => looks > before + 3)
    await lock.commit()
    expect(await slow).toEqual({ one: 1 })
  })

  it('checks the database every lookEveryMs, even if an answer may take long', async () => {
    let looks = 0
    const identity: Identity = { ...openIdentity(), note: () => void looks++ }
    const db = open(service.url, { silentMs: longMs, lookEveryMs: 100, identity })
    await db.rows('select 1')
    const before = looks
    await until('several looks', () => looks > before + 3)
  })

  it('stops using connections to a replaced database, although they still answer', async () => {
    const network = await wire()
    let exchanges = 0
    const identity = openIdentity()
    identity.onExchange(() => exchanges++)
    const db = open(network.url, { lookEveryMs: 100, poolSize: 3, identity })
    await Promise.all([1, 2, 3].map(() => db.rows('select pg_sleep(0.05)')))
    const replacement = (await startPostgres({ fsync: false })) as PostgresService
    closing.push(() => replacement.dispose())
    network.leadTo(replacement.url)
    const port = new URL(replacement.url).port
    const portOf = async (sql: Sql) => (await sql.row<{ port: string }>(`select current_setting('port') as port`))?.port
    await until('it has moved', async () => (await portOf(db)) === port)
    for (let n = 0; n < 3; n++)
      expect(await Promise.all([db, db, db, db.batches].map(portOf))).toEqual([port, port, port, port])
    expect(exchanges).toBe(1)
  })

  it('closes a lent connection to a replaced database once it is returned', async () => {
    const network = await wire()
    const identity = openIdentity()
    const db = open(network.url, { lookEveryMs: 100, poolSize: 3, identity })
    const pids: (number | undefined)[] = []
    const lent = await Promise.all([1, 2, 3].map(() => held(db, async (tx) => pids.push(await pidOf(tx)))))
    const replacement = (await startPostgres({ fsync: false })) as PostgresService
    closing.push(() => replacement.dispose())
    const { promise: exchanged, resolve } = Promise.withResolvers<void>()
    identity.onExchange(resolve)
    network.leadTo(replacement.url)
    await exchanged
    for (const { commit } of lent) await commit()
    const direct = open()
    const left = () => direct.rows('select 1 from pg_stat_activity where pid = any($1)', [pids])
    await until('no session is left on the replaced database', async () => (await left()).length === 0)
  })

  it('looks for the primary over a new connection when its server has become read-only', async () => {
    const url = await service.createDatabase('demoted')
    const db = open(url, { poolSize: 1 })
    await db.script('create table items (id integer)')
    const pid = await pidOf(db)
    await db.rows('set default_transaction_read_only = on')
    expect(await refusal(db.rows('insert into items values (1)'))).toMatchObject({ code: '25006' })
    expect(await pidOf(db)).not.toBe(pid)
    await db.rows('insert into items values (1)')
  })

  it('runs a transaction of one read and two writes in two round trips', async () => {
    const network = await wire()
    // Each check opens another connection, whose round trips must not count here.
    const db = open(network.url, { poolSize: 1, silentMs: longMs, lookEveryMs: longMs })
    const put = (id: number) =>
      db.transaction(async (tx) => {
        await tx.row('select note from items where id = $1', [id])
        tx.later(insert, [id, 'a'])
        tx.later('update items set note = $2 where id = $1', [id, 'b'])
      })
    await put(40) // prepares
    network.countWrites()
    await put(41)
    expect(network.countWrites()).toBe(2)
    expect(await db.rows('select note from items where id = 41')).toEqual([{ note: 'b' }])
  })

  it('runs sessions in UTC with ISO dates and read committed, however the database is configured', async () => {
    const url = await service.createDatabase('elsewhere')
    const admin = open(url)
    await admin.script(`
      alter database elsewhere set timezone = 'Asia/Kathmandu';
      alter database elsewhere set datestyle = 'German';
      alter database elsewhere set bytea_output = 'escape';
      alter database elsewhere set default_transaction_isolation = 'serializable'`)
    const db = open(url)
    const bytes = Buffer.from([0, 92, 255])
    expect(await db.row('select $1::timestamptz as at, $2::bytea as bytes', ['2026-01-01T00:00:00Z', bytes])).toEqual({
      at: '2026-01-01T00:00:00.000Z',
      bytes,
    })
    const isolation = `select current_setting('transaction_isolation') as level`
    expect(await db.transaction((tx) => tx.row(isolation))).toEqual({ level: 'read committed' })
  })

  it('serves more concurrent callers than it has connections', async () => {
    const db = open(service.url, { poolSize: 2 })
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) => db.row<{ n: number }>('select $1::int as n', [n])),
    )
    expect(answers.map((row) => row?.n)).toEqual(Array.from({ length: 200 }, (_, n) => n))
  })
})

async function refusal(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise
  } catch (error) {
    return error as Error
  }
  throw new Error('Expected a failure')
}
