import { createHash } from 'node:crypto'
import { PgBoss } from 'pg-boss'
import type { Database, Sql, Tx } from '../db/database.ts'
import type { Context } from '../kernel/context.ts'
import type { Faults } from '../kernel/faults.ts'
import { giveUpCutOff, lookForCutOff } from './cut-off.ts'
import type { AnyJob, Job } from './job.ts'
import { prepareQueues } from './prepare.ts'
import { openWorkers, type Workers } from './workers.ts'

declare module '../kernel/context.ts' {
  interface Context {
    queue: Queue
  }
}

export interface Sending {
  /** A uuid. A job whose id is there already is not added again. */
  id?: string
  /** Goes before what waits in its queue. */
  urgent?: boolean
  startAfterSeconds?: number
}

export interface Queue {
  /** Puts a job into the transaction of `db`: it runs, on whichever server takes it, if that is committed. */
  enqueue<Data extends object>(db: Sql, job: Job<Data>, data: NoInfer<Data>, sending?: Sending): Promise<void>
  /**
   * Takes the waiting jobs of the same key out of the queue, oldest first, so that the job that runs can do the work of all.
   * A job that is added meanwhile stays.
   */
  takeWaiting<Data extends object>(tx: Tx, job: Job<Data>, like: NoInfer<Data>): Promise<Data[]>
  /** Says that one waits, so that this server looks now and not at its next turn. Called once it is committed. */
  nudge(job: AnyJob): void
  start(context: Context): Promise<void>
  stop(): Promise<void>
}

export const schema = 'jobs'

export function openQueue(db: Database, faults: Faults, jobs: readonly AnyJob[]): Queue {
  const boss = openBoss(db, { supervise: true, schedule: true, migrate: true })
  boss.on('error', (error) => faults.warn('job queue', toError(error)))
  const workers = new Map<string, Workers>()
  let looking: NodeJS.Timeout | undefined
  return {
    async enqueue(tx, job, data, { id, urgent, startAfterSeconds } = {}) {
      await boss.send(job.name, data, {
        db: over(tx),
        ...(id !== undefined && { id }),
        ...(urgent && { priority: 1 }),
        ...(startAfterSeconds !== undefined && { startAfter: startAfterSeconds }),
        ...(job.perKey && { group: { id: job.perKey(data) } }),
      })
    },
    async takeWaiting(tx, job, like) {
      const taken = await tx.rows<{ data: typeof like }>(takeByKey, [job.name, job.perKey?.(like)])
      return taken.map(({ data }) => data)
    },
    nudge: ({ name }) => workers.get(name)?.wake(),
    async start(context) {
      await boss.start()
      await prepareQueues(boss, db, jobs)
      await giveUpCutOff(boss, db, 'start')
      looking = lookForCutOff(boss, db, (error) => faults.warn('job queue', error))
      for (const job of jobs) workers.set(job.name, await openWorkers(boss, job, context))
    },
    stop: () => {
      clearInterval(looking)
      return boss.stop({ graceful: true, timeout: 5000, close: false })
    },
  }
}

/** The library passes copies of errors on, which are errors no more. */
const toError = (error: Error): Error =>
  error instanceof Error ? error : Object.assign(new Error('job queue'), error as object)

const takeByKey = `
  with taken as (delete from jobs.job where name = $1 and group_id = $2 and state in ('created', 'retry')
                 returning data, created_on)
  select data from taken order by created_on`

/** A job's id that is made of what makes it the only one. */
export function idOf(...parts: string[]): string {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')
}

export const openBoss = (db: Database, options: { supervise: boolean; schedule: boolean; migrate: boolean }): PgBoss =>
  new PgBoss({
    ...options,
    db: over(db),
    backend: db.engine === 'embedded' ? 'pglite' : 'postgres',
    schema,
    useListenNotify: false,
    persistWarnings: false,
  })

const over = (db: Sql) => ({
  executeSql: async (text: string, values?: unknown[]) => ({ rows: await db.foreign(text, values) }),
})
