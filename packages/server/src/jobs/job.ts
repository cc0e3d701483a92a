import type { KernelContext } from '../kernel/context.ts'
import type { Schedule } from './schedule.ts'

export interface Settings<Data> {
  /** When the job also runs by itself, without data. */
  schedule?: Schedule
  /** Says how often a job that failed is tried again. Default: not at all. */
  retry?: {
    limit: number
    /** The pause before the first retry. Each further pause is twice as long, with some jitter. */
    delaySeconds?: number
    delayMaxSeconds?: number
  }
  /**
   * Whether a job that failed for good is kept for an operator, who can run it again (`skerry-server jobs`). Default: true,
   * except for scheduled jobs, because the next run does the same work.
   */
  deadLetter?: boolean
  /** How many run at once in one server process. */
  concurrency?: number
  /** Jobs with the same key run one after the other, whichever server processes take them. */
  perKey?: (data: Data) => string
}

/**
 * A kind of background work: one row of a feature's `jobs.ts`, collected in app.ts.
 *
 * The database stores a job's data in plain text until the job has run, and for a day after. So the data contains ids
 * and facts, never a credential, a key or a value. A job creates or reads those while it runs. It may run twice, for
 * example after a crash, so it checks whether its work is already done.
 *
 * `Context` is the context that it needs. In app.ts the compiler checks that the server's context provides it.
 */
export interface Job<Data extends object, Context> {
  /** Stays the same from release to release, because waiting jobs are found by it. */
  name: string
  schedule: Schedule | null
  retry: { limit: number; delaySeconds: number; delayMaxSeconds: number }
  deadLetter: boolean
  concurrency: number
  perKey: ((data: Data) => string) | null
  run: (context: Context, data: Data) => Promise<unknown>
}

/** A job of any kind, for code that does not run it. */
export type AnyJob = Job<never, never>

const hourSeconds = 3600

/**
 * Creates one row of a feature's jobs: `job<{ runId: string }, Context>('sync.run', { perKey: ({ runId }) => runId },
 * runSync)`.
 */
export function job<Data extends object = object, Context = KernelContext>(
  name: string,
  { schedule, retry, deadLetter, concurrency, perKey }: Settings<Data>,
  run: (context: Context, data: Data) => Promise<unknown>,
): Job<Data, Context> {
  return {
    name,
    schedule: schedule ?? null,
    retry: { limit: 0, delaySeconds: 5, delayMaxSeconds: 6 * hourSeconds, ...retry },
    deadLetter: deadLetter ?? schedule === undefined,
    concurrency: concurrency ?? 1,
    perKey: perKey ?? null,
    run,
  }
}
