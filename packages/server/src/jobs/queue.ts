import { PgBoss } from 'pg-boss'
import type { Database, Sql } from '../db/database.ts'
import { describe } from '../kernel/errors.ts'
import type { Log } from '../kernel/log.ts'
import type { Mail } from './mail.ts'

declare module '../kernel/context.ts' {
  interface Context {
    queue: Queue
  }
}

/** What can be done later, and what each is given. */
export interface Jobs {
  /** With `signsIn`, a link goes along that signs its recipient in, where Skerry itself signs people in. */
  mail: Mail & { signsIn?: boolean }
  /** Someone asked for a link to this address; whether anyone has it is not known yet. */
  'sign_in.link': { email: string; returnTo: string | null }
  'branches.expire': object
  sweep: object
  maintain: object
}

export type JobName = keyof Jobs
export type Handlers = { [N in JobName]: (data: Jobs[N]) => Promise<unknown> }

export interface Queue {
  /** Puts a job into the transaction of `db`: it runs, on whichever server takes it, if that is committed. */
  enqueue<N extends JobName>(db: Sql, name: N, data: Jobs[N]): Promise<void>
  /** Says that one waits, so that this server looks now and not at its next turn. */
  nudge(name: JobName): void
  start(handlers: Handlers): Promise<void>
  stop(): Promise<void>
}

interface QueueRow {
  /** When it runs by itself, as cron in UTC. */
  cron: string | null
  retryLimit: number
  pollSeconds: number
}

/** One row per queue. Whatever is done later is done again after a failure, with growing pauses. */
const queues: Record<JobName, QueueRow> = {
  mail: { cron: null, retryLimit: 12, pollSeconds: 2 },
  // A link is good for minutes, so trying for hours would help nobody.
  'sign_in.link': { cron: null, retryLimit: 5, pollSeconds: 2 },
  'branches.expire': { cron: '* * * * *', retryLimit: 0, pollSeconds: 10 },
  sweep: { cron: '*/5 * * * *', retryLimit: 0, pollSeconds: 30 },
  maintain: { cron: '*/15 * * * *', retryLimit: 0, pollSeconds: 30 },
}

const rows = Object.entries(queues) as [JobName, QueueRow][]

export function openQueue(db: Database, log: Log): Queue {
  const boss = new PgBoss({
    db: over(db),
    backend: db.engine === 'embedded' ? 'pglite' : 'postgres',
    schema: 'jobs',
    useListenNotify: false,
    superviseIntervalSeconds: 300,
    persistWarnings: false,
  })
  const workers = new Map<JobName, string>()
  boss.on('error', (error) => log.warn('job queue', describe(error)))
  return {
    async enqueue(tx, name, data) {
      await boss.send(name, data, { db: over(tx) })
    },
    nudge(name) {
      const worker = workers.get(name)
      if (worker) boss.notifyWorker(worker)
    },
    async start(handlers) {
      await boss.start()
      const open = async <N extends JobName>(name: N, row: QueueRow) => {
        const handle: Handlers[N] = handlers[name]
        workers.set(name, await work<Jobs[N]>(boss, name, row, handle, log))
      }
      for (const [name, row] of rows) await open(name, row)
    },
    stop: () => boss.stop({ graceful: true, timeout: 5000, close: false }),
  }
}

const over = (db: Sql) => ({
  executeSql: async (text: string, values?: unknown[]) => ({ rows: await db.foreign(text, values) }),
})

async function work<Data extends object>(
  boss: PgBoss,
  name: JobName,
  row: QueueRow,
  handle: (data: Data) => Promise<unknown>,
  log: Log,
) {
  await boss.createQueue(name, { retryLimit: row.retryLimit, retryBackoff: true, retryDelay: 5 })
  if (row.cron !== null) await boss.schedule(name, row.cron, {}, { tz: 'UTC' })
  return boss.work<Data>(name, { pollingIntervalSeconds: row.pollSeconds }, async ([job]) => {
    try {
      if (job) await handle(job.data)
    } catch (error) {
      log.warn('job failed', { job: name, ...describe(error) })
      throw error
    }
  })
}
