import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { engine, newDatabase, type TestDatabase } from '../../test/engine.ts'
import { newScratch } from '../../test/scratch.ts'
import { until } from '../../test/until.ts'
import type { Database, Tx } from '../db/database.ts'
import { openDatabase } from '../db/open.ts'
import type { KernelContext } from '../kernel/context.ts'
import { openFaults } from '../kernel/faults.ts'
import { openLog } from '../kernel/log.ts'
import { openCalendar } from './calendar.ts'
import { type Job, job } from './job.ts'
import { openQueue, type Queue } from './queue.ts'
import { startHeart } from './runner.ts'
import { dailyAt, everyMinutes, hourlyAt, slotAt } from './schedule.ts'
import { completeJob, deleteOldJobs, failJob, failSilent, type TakenJob, takeDueJobs } from './store.ts'

let dataDir: string
let database: TestDatabase
let db: Database
let log: string[]
let closing: (() => Promise<void>)[]

beforeEach(async () => {
  dataDir = await newScratch('skerry-jobs-')
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

/**
 * Starts the queue of one server. With the embedded database, all servers of a test run in this process and share it.
 */
async function start(jobs: Job<never, KernelContext>[], own: Database = db): Promise<Queue> {
  const toLog = openLog('debug', (line) => log.push(line))
  const queue = openQueue(own, jobs)
  await queue.start({ db: own, faults: openFaults(own, toLog) } as KernelContext)
  closing.push(() => queue.stop())
  return queue
}

const secondDatabase = () => (engine() === 'postgres' ? openServerDatabase() : Promise.resolve(db))
const stored = (name: string) =>
  db.rows<{ state: string; error: unknown; attempts: number; data: unknown }>(
    'select state, error, attempts, data from jobs where name = $1 order by number',
    [name],
  )
/** Makes jobs due that wait for their retry. */
const endPause = () => db.rows(`update jobs set due_at = now() where state = 'waiting' and attempts > 0`)
const nothing = async () => {}

describe('a schedule', () => {
  test('adds one job for each period, however many servers run', async () => {
    let runs = 0
    const row = job('timed', { schedule: dailyAt('00:00') }, async () => void runs++)
    const servers = [await start([row]), await start([row], await secondDatabase())]
    await until('the job', async () => (await stored('timed'))[0]?.state === 'completed')
    for (const server of servers) await server.stop()
    const next = job('next', { schedule: hourlyAt(0) }, nothing)
    await start([row, next])
    await until('the first look of the third server', async () => (await stored('next'))[0]?.state === 'completed')
    expect(await stored('timed')).toHaveLength(1)
    expect(runs).toBe(1)
  })

  test('with a period of less than an hour is not due at the start of a server', () => {
    const rows = [
      job('minutely', { schedule: everyMinutes(1) }, nothing),
      job('hourly', { schedule: hourlyAt(17) }, nothing),
      job('unscheduled', {}, nothing),
    ]
    const startMs = Date.parse('2026-05-01T10:16:30Z')
    const calendar = openCalendar(rows, startMs)
    const due = (seconds: number) =>
      calendar.due(startMs + seconds * 1000).map(({ job, slot }) => {
        calendar.note(job, slot)
        return job.name
      })
    expect(due(0)).toEqual(['hourly'])
    expect(due(29)).toEqual([])
    expect(due(30)).toEqual(['minutely', 'hourly'])
    expect(due(31)).toEqual([])
    expect(due(3630)).toEqual(['minutely', 'hourly'])
  })

  test('for every day is due at its time of day', () => {
    const slot = (at: string) => slotAt(dailyAt('03:23'), Date.parse(at))
    expect(slot('2026-05-02T03:22:59Z')).toBe(slot('2026-05-01T03:23:00Z'))
    expect(slot('2026-05-02T03:23:00Z')).toBe(slot('2026-05-01T03:23:00Z') + 1)
  })
})

describe('a job', () => {
  test('runs only if its transaction is committed', async () => {
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

  test('that fails is retried, and neither the log nor the database contains its error message', async () => {
    let attempts = 0
    const row = job('fails', { retry: { limit: 1 } }, async () => {
      if (++attempts === 1) throw new TypeError('quotes the-secret-value')
    })
    const queue = await start([row])
    await queue.enqueue(db, row, {})
    queue.nudge(row)
    await until('a failure', async () => (await stored('fails'))[0]?.error !== null)
    expect((await stored('fails'))[0]?.error).toMatchObject({ error: 'TypeError' })
    expect(log.filter((line) => line.includes('job failed'))).toHaveLength(1)
    expect(JSON.stringify([log, await stored('fails')])).not.toContain('the-secret-value')
    await endPause()
    queue.nudge(row)
    await until('the second attempt', async () => (await stored('fails'))[0]?.state === 'completed')
    expect(attempts).toBe(2)
  })

  test.each([true, false])('that fails for good is kept or deleted (deadLetter: %s)', async (deadLetter) => {
    const row = job('hopeless', { deadLetter }, () => Promise.reject(new TypeError('no')))
    const queue = await start([row])
    await queue.enqueue(db, row, {})
    queue.nudge(row)
    const state = deadLetter ? 'dead' : 'failed'
    await until('its end', async () => (await stored('hopeless'))[0]?.state === state)
    await db.rows(`update jobs set ended_at = now() - interval '25 hours'`)
    await deleteOldJobs(db)
    expect(await stored('hopeless')).toHaveLength(deadLetter ? 1 : 0)
  })

  test('waits twice as long before each retry, up to a limit', async () => {
    const row = job('patient', { retry: { limit: 9, delaySeconds: 10, delayMaxSeconds: 60 } }, nothing)
    await db.rows(`insert into jobs (id, name, data, due_at) values (gen_random_uuid(), 'patient', '{}', now())`)
    const pauses: number[] = []
    for (let attempt = 1; attempt <= 5; attempt++) {
      const [taken] = await takeDueJobs(db, new Map([['patient', 1]]))
      await failJob(db, row, taken as TakenJob, { error: 'Error' })
      const after = await db.row<{ seconds: number }>(
        `select extract(epoch from due_at - now())::float8 as seconds from jobs where name = 'patient'`,
      )
      pauses.push(after?.seconds ?? 0)
      await endPause()
    }
    const most = [10, 20, 40, 60, 60]
    for (const [index, seconds] of pauses.entries()) {
      expect(seconds).toBeLessThanOrEqual(most[index] as number)
      expect(seconds).toBeGreaterThan((most[index] as number) / 2 - 1)
    }
  })

  test('that was interrupted and retried does not count as done when the first attempt ends', async () => {
    await db.rows(`insert into jobs (id, name, data, due_at) values (gen_random_uuid(), 'twice', '{}', now())`)
    const row = job('twice', { retry: { limit: 5 } }, nothing)
    const take = async () => (await takeDueJobs(db, new Map([['twice', 1]])))[0] as TakenJob
    const first = await take()
    await failSilent(db, [row], -1)
    await endPause()
    const second = await take()
    await completeJob(db, first)
    await failJob(db, row, first, { error: 'Error' })
    expect((await stored('twice'))[0]).toMatchObject({ state: 'active', attempts: 2 })
    await completeJob(db, second)
    expect((await stored('twice'))[0]).toMatchObject({ state: 'completed' })
  })

  test('that runs when its server stops is retried', async () => {
    const gate = Promise.withResolvers<void>()
    let runs = 0
    const row = job('stopped', { retry: { limit: 1 } }, async () => {
      runs++
      await gate.promise
    })
    const queue = await start([row])
    await queue.enqueue(db, row, {})
    queue.nudge(row)
    await until('it to run', () => runs === 1)
    await queue.stop()
    expect((await stored('stopped'))[0]).toMatchObject({ state: 'waiting', error: { error: 'CutOff' } })
    gate.resolve()
  })

  test('whose id already exists is not added again', async () => {
    const row = job('named', {}, nothing)
    const queue = await start([row])
    const id = randomUUID()
    for (let time = 0; time < 3; time++) await queue.enqueue(db, row, {}, { id })
    expect(await stored('named')).toHaveLength(1)
  })

  test('that is urgent runs before all waiting jobs', async () => {
    const order: number[] = []
    const row = job<{ number: number }>('ordered', {}, async (_, { number }) => void order.push(number))
    const queue = openQueue(db, [row])
    for (const number of [1, 2, 3]) await queue.enqueue(db, row, { number })
    await queue.enqueue(db, row, { number: 4 }, { urgent: true })
    await start([row])
    await until('all four', () => order.length === 4)
    expect(order).toEqual([4, 1, 2, 3])
  })
})

describe('jobs of one queue', () => {
  test('run in parallel, up to the concurrency of their kind', async () => {
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

  test('with the same key run one after the other on two servers, and in parallel with other keys', async () => {
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

  test('with the same key can be removed by the running job, oldest first, if its transaction commits', async () => {
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

  test('with the same key do not wait for a job of a dead server, which is retried', async () => {
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
      `update jobs set state = 'active', attempts = 1, beat_at = now() - interval '6 seconds' where name = 'cut-off'`,
    )
    const next = await start([row])
    await next.enqueue(db, row, { key: 'one', who: 'waits' })
    next.nudge(row)
    await until('both', () => ran.length === 2)
    expect(ran.toSorted()).toEqual(['dead', 'waits'])
  })

  test('that are running do not fail while their server is alive', async () => {
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
    const [beat] = await db.foreign<{ at: Date }>(`select beat_at as at from jobs where name = 'long'`)
    await until('it to say that it lives', async () => {
      const [later] = await db.foreign<{ at: Date }>(`select beat_at as at from jobs where name = 'long'`)
      return Number(later?.at) > Number(beat?.at)
    })
    gate.resolve()
    await until('its end', async () => (await stored('long'))[0]?.state === 'completed')
    expect(runs).toBe(1)
  })

  test('with the same key cannot both be active', async () => {
    const row = job<{ key: string }>('raced', { perKey: ({ key }) => key }, nothing)
    const queue = openQueue(db, [row])
    for (let number = 0; number < 2; number++) await queue.enqueue(db, row, { key: 'one' })
    const both = db.rows(`update jobs set state = 'active' where name = 'raced'`)
    await expect(both).rejects.toMatchObject({ code: '23505', constraint: 'jobs_active_key' })
  })

  test('with the same key do not delay jobs with another key, however many there are', async () => {
    const row = job<{ key: string }>('crowded', { perKey: ({ key }) => key }, nothing)
    const queue = openQueue(db, [row])
    for (let number = 0; number < 50; number++) await queue.enqueue(db, row, { key: 'crowd' })
    await queue.enqueue(db, row, { key: 'single' })
    const taken = await takeDueJobs(db, new Map([['crowded', 4]]))
    expect(taken.map(({ data }) => data)).toEqual([{ key: 'crowd' }, { key: 'single' }])
  })
})

describe('a server that looks for dead servers', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
  afterEach(() => void vi.useRealTimers())

  /**
   * Starts a heart with one beat per step: the milliseconds since the last beat, and whether the database answers ->
   * whether each beat looked for dead servers.
   */
  async function looksAfter(steps: { ms: number; isUp: boolean }[]): Promise<boolean[]> {
    let nowMs = 0
    let isUp = true
    const texts: string[] = []
    const rows = async (text: string) => {
      if (!isUp) throw new Error('down')
      texts.push(text)
      return []
    }
    const heart = startHeart(
      { db: { watch: { rows } } } as never,
      [],
      () => [],
      () => {},
      () => nowMs,
    )
    const looks: boolean[] = []
    for (const step of steps) {
      nowMs += step.ms
      isUp = step.isUp
      texts.length = 0
      vi.advanceTimersToNextTimer()
      await new Promise(setImmediate)
      looks.push(texts.some((text) => text.includes('make_interval(secs => $6)')))
    }
    heart.stop()
    return looks
  }

  test('does not look after a beat that comes late, because its own beats are late as well', async () => {
    const steps = [1000, 3000, 1000, 1900].map((ms) => ({ ms, isUp: true }))
    expect(await looksAfter(steps)).toEqual([true, false, true, true])
  })

  test('does not look at once after an outage, in which no server could beat', async () => {
    const steps = [true, false, false, false, true, true].map((isUp) => ({ ms: 1000, isUp }))
    expect(await looksAfter(steps)).toEqual([true, false, false, false, false, true])
  })
})

test('a scheduled job that could not be added is due again at the next poll', () => {
  const row = job('daily', { schedule: dailyAt('03:23') }, nothing)
  const calendar = openCalendar([row], Date.parse('2026-05-01T03:23:00Z'))
  const due = (at: string) => calendar.due(Date.parse(at)).map(({ slot }) => slot)
  const [slot] = due('2026-05-01T03:23:00Z')
  expect(due('2026-05-01T03:23:02Z')).toEqual([slot])
  calendar.note(row, slot as number)
  expect(due('2026-05-01T03:23:04Z')).toEqual([])
  expect(due('2026-05-02T03:23:00Z')).toEqual([(slot as number) + 1])
})
