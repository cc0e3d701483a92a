import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { engine, newDatabase, type TestDatabase } from '../../test/engine.ts'
import { until } from '../../test/until.ts'
import type { Database, Tx } from '../db/database.ts'
import { openDatabase } from '../db/open.ts'
import type { Context } from '../kernel/context.ts'
import { openFaults } from '../kernel/faults.ts'
import { openLog } from '../kernel/log.ts'
import { type AnyJob, job } from './job.ts'
import { openQueue, type Queue } from './queue.ts'

let dataDir: string
let database: TestDatabase
let db: Database
let log: string[]
let closing: (() => Promise<void>)[]

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'skerry-jobs-'))
  database = await newDatabase(dataDir)
  log = []
  closing = []
  db = await openServerDatabase()
})
afterEach(async () => {
  for (const close of closing.reverse()) await close()
  await database.drop()
  await rm(dataDir, { recursive: true, force: true })
})

const silent = openLog('silent', () => {})

async function openServerDatabase(): Promise<Database> {
  const opened = await openDatabase(
    { databaseUrl: database.settings.SKERRY_DATABASE_URL, dataDir, poolSize: 5 },
    silent,
  )
  closing.push(() => opened.close())
  return opened
}

/** The queue of one server. Embedded, all servers of a test are in this process and share its database. */
async function start(jobs: AnyJob[], own: Database = db): Promise<Queue> {
  const toLog = openLog('debug', (line) => log.push(line))
  const faults = openFaults(own, toLog)
  const queue = openQueue(own, faults, jobs)
  await queue.start({ db: own, log: toLog, faults } as Context)
  closing.push(() => queue.stop())
  return queue
}

const secondDatabase = () => (engine() === 'postgres' ? openServerDatabase() : Promise.resolve(db))
const stored = (name: string) =>
  db.rows<{ state: string; output: unknown; data: unknown }>(
    'select state, output, data from jobs.job where name = $1 order by created_on',
    [name],
  )
/** Lets what waits between two attempts be due now. */
const endPause = () => db.rows(`update jobs.job set start_after = now() where state = 'retry'`)
const nothing = async () => {}

describe('the rows of jobs', () => {
  test('that have changed since the last start change the queues of an existing database', async () => {
    const first = await start([
      job('kept', { retry: { limit: 3 }, cron: '* * * * *' }, nothing),
      job('once', { cron: '0 0 * * *' }, nothing),
    ])
    await first.stop()
    await start([
      job(
        'kept',
        { retry: { limit: 7, delaySeconds: 60, delayMaxSeconds: 600 }, cron: '*/5 * * * *', deadLetter: true },
        nothing,
      ),
    ])
    const queue = await db.row(
      `select retry_limit, retry_delay, retry_delay_max, dead_letter from jobs.queue where name = 'kept'`,
    )
    expect(queue).toEqual({ retryLimit: 7, retryDelay: 60, retryDelayMax: 600, deadLetter: 'dead_letters' })
    expect(await db.rows(`select name, cron from jobs.schedule`)).toEqual([{ name: 'kept', cron: '*/5 * * * *' }])
  })

  test('that are as they were write nothing at the next start', async () => {
    const rows = [job('same', { retry: { limit: 3 } }, nothing), job('timed', { cron: '0 0 * * *' }, nothing)]
    const versions = () =>
      db.rows('select name, xmin::text as version from jobs.queue where name = any($1)', [['same', 'timed']])
    const first = await start(rows)
    await first.stop()
    const before = await versions()
    await start(rows)
    expect(await versions()).toEqual(before)
  })
})

describe('a job', () => {
  test('runs if, and only if, its transaction is committed', async () => {
    const ran: string[] = []
    const row = job<{ who: string }>('told', {}, async (_, { who }) => void ran.push(who))
    const queue = await start([row])
    const undone = db.transaction(async (tx) => {
      await queue.enqueue(tx, row, { who: 'undone' })
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    await db.transaction((tx) => queue.enqueue(tx, row, { who: 'done' }))
    queue.nudge(row)
    await until('the job', () => ran.length > 0)
    expect(ran).toEqual(['done'])
  })

  test('that fails is tried again, and neither log nor database has what it failed with', async () => {
    let attempts = 0
    const row = job('fails', { retry: { limit: 1 } }, async () => {
      if (++attempts === 1) throw new TypeError('quotes the-secret-value')
    })
    const queue = await start([row])
    await queue.enqueue(db, row, {})
    queue.nudge(row)
    await until('a failure', async () => (await stored('fails'))[0]?.state === 'retry')
    expect((await stored('fails'))[0]?.output).toMatchObject({ error: 'TypeError' })
    expect(log.filter((line) => line.includes('job failed'))).toHaveLength(1)
    expect(JSON.stringify([log, await stored('fails')])).not.toContain('the-secret-value')
    await endPause()
    queue.nudge(row)
    await until('the second attempt', async () => (await stored('fails'))[0]?.state === 'completed')
    expect(attempts).toBe(2)
  })

  test('with an id that is there already is not added again', async () => {
    const row = job('named', {}, nothing)
    const queue = await start([row])
    const id = randomUUID()
    for (let time = 0; time < 3; time++) await queue.enqueue(db, row, {}, { id })
    expect(await stored('named')).toHaveLength(1)
  })

  test('that is urgent goes before all that wait', async () => {
    const order: number[] = []
    const row = job<{ number: number }>('ordered', {}, async (_, { number }) => void order.push(number))
    const faults = openFaults(db, silent)
    const idle = openQueue(db, faults, [])
    const preparing = await start([row])
    await preparing.stop()
    await idle.start({ db, log: silent, faults } as Context)
    closing.push(() => idle.stop())
    for (const number of [1, 2, 3]) await idle.enqueue(db, row, { number })
    await idle.enqueue(db, row, { number: 4 }, { urgent: true })
    await start([row])
    await until('all four', () => order.length === 4)
    expect(order).toEqual([4, 1, 2, 3])
  })
})

describe('jobs of one queue', () => {
  test('run at once, as many as the row says and no more', async () => {
    let running = 0
    const most: number[] = []
    const gate = Promise.withResolvers<void>()
    const row = job('wide', { concurrency: 3 }, async () => {
      most.push(++running)
      await gate.promise
      running--
    })
    const queue = await start([row])
    for (let number = 0; number < 7; number++) await queue.enqueue(db, row, {})
    queue.nudge(row)
    await until('three to run', () => running === 3)
    gate.resolve()
    await until('all', async () => (await stored('wide')).every(({ state }) => state === 'completed'))
    expect(most).toHaveLength(7)
    expect(Math.max(...most)).toBe(3)
  })

  test('with the same key run one after the other, and others beside them, on two servers', async () => {
    const running = new Map<string, number>()
    let atOnce = 0
    let keysAtOnce = 0
    const row = job<{ key: string }>('keyed', { concurrency: 4, perKey: ({ key }) => key }, async (_, { key }) => {
      running.set(key, (running.get(key) ?? 0) + 1)
      atOnce = Math.max(atOnce, ...running.values())
      keysAtOnce = Math.max(keysAtOnce, [...running.values()].filter((count) => count > 0).length)
      await db.rows('select pg_sleep(0.01)')
      running.set(key, (running.get(key) ?? 0) - 1)
    })
    const servers = [await start([row]), await start([row], await secondDatabase())] as const
    for (let number = 0; number < 60; number++) await servers[0].enqueue(db, row, { key: `key ${number % 3}` })
    for (const server of servers) server.nudge(row)
    await until('all', async () => (await stored('keyed')).every(({ state }) => state === 'completed'), 60_000)
    expect(atOnce).toBe(1)
    expect(keysAtOnce).toBeGreaterThan(1)
    expect(log.filter((line) => /failed|job queue/.test(line))).toEqual([])
  })

  test('with the same key can be taken along by the one that runs, oldest first, if that commits', async () => {
    const row = job<{ key: string; number: number }>('gathered', { perKey: ({ key }) => key }, nothing)
    const queue = await start([row])
    await queue.stop()
    for (const number of [1, 2, 3]) await queue.enqueue(db, row, { key: 'one', number }, { startAfterSeconds: 60 })
    await queue.enqueue(db, row, { key: 'other', number: 4 })
    const take = (tx: Tx) => queue.takeWaiting(tx, row, { key: 'one', number: 0 })
    const undone = db.transaction(async (tx) => {
      await take(tx)
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    expect((await db.transaction(take)).map(({ number }) => number)).toEqual([1, 2, 3])
    expect((await stored('gathered')).map(({ data }) => data)).toEqual([{ key: 'other', number: 4 }])
  })

  test('with the same key do not wait for one that died with its server, and that is tried again', async () => {
    const ran: string[] = []
    const row = job<{ key: string; who: string }>(
      'cut-off',
      { perKey: ({ key }) => key, retry: { limit: 1, delaySeconds: 1 } },
      async (_, { who }) => void ran.push(who),
    )
    const first = await start([row])
    await first.stop()
    await first.enqueue(db, row, { key: 'one', who: 'dead' })
    await db.rows(
      `update jobs.job set state = 'active', started_on = now(), heartbeat_on = now() - interval '6 seconds'
        where name = 'cut-off'`,
    )
    const next = await start([row])
    await next.enqueue(db, row, { key: 'one', who: 'waits' })
    next.nudge(row)
    await until('both', () => ran.length === 2)
    expect(ran.toSorted()).toEqual(['dead', 'waits'])
  })

  test('that run are not given up while their server lives', async () => {
    let runs = 0
    const gate = Promise.withResolvers<void>()
    const row = job<{ key: string }>('long', { perKey: ({ key }) => key, retry: { limit: 3 } }, async () => {
      runs++
      await gate.promise
    })
    const queue = await start([row])
    await queue.enqueue(db, row, { key: 'one' })
    queue.nudge(row)
    await until('it to run', () => runs === 1)
    const [beat] = await db.foreign<{ at: Date }>(`select heartbeat_on as at from jobs.job where name = 'long'`)
    await until('it to say that it lives', async () => {
      const [later] = await db.foreign<{ at: Date }>(`select heartbeat_on as at from jobs.job where name = 'long'`)
      return Number(later?.at) > Number(beat?.at)
    })
    gate.resolve()
    await until('its end', async () => (await stored('long'))[0]?.state === 'completed')
    expect(runs).toBe(1)
  })

  test('with the same key cannot be active twice, whatever looks at the same time', async () => {
    const row = job<{ key: string }>('raced', { perKey: ({ key }) => key }, nothing)
    const queue = await start([row])
    await queue.stop()
    for (let number = 0; number < 2; number++) await queue.enqueue(db, row, { key: 'one' })
    const both = db.rows(`update jobs.job set state = 'active' where name = 'raced'`)
    await expect(both).rejects.toMatchObject({ code: '23505', constraint: 'one_active_per_key' })
  })
})
