import type { Context } from '../kernel/context.ts'

export interface Settings<Data> {
  /** When it also runs by itself, without data, as cron in UTC. */
  cron?: string
  /** How late a job that is due may be noticed, unless this server added it. Default 2, and 10 for a job with cron. */
  pollSeconds?: number
  /** What happens after a failure. Unless said otherwise, nothing: it is a failure then. */
  retry?: {
    /** How often it is tried again. */
    limit: number
    /** The pause before that. Each further pause is twice as long, with some jitter. */
    delaySeconds?: number
    delayMaxSeconds?: number
  }
  /**
   * Whether what failed for good is kept for an operator, who can run it again (`skerry-server jobs`). It is, unless the job
   * runs by cron: the next run does what this one could not.
   */
  deadLetter?: boolean
  /** How many run at once in one server process. */
  concurrency?: number
  /** Jobs with the same key run one after the other, whichever server processes take them. */
  perKey?: (data: Data) => string
}

/**
 * A kind of work that is done later: one row of a feature's `jobs.ts`, collected in app.ts.
 *
 * What a job is given is stored in the database in plain text until it has run, and for a day after: ids and facts, never
 * a credential, a key or a value. What it needs of those it makes or reads while it runs. It may run twice, after a crash
 * for example, so it has to look whether its work is done already.
 */
export interface Job<Data extends object> {
  /** Of its queue. It stays the same from release to release: what waits is found by it. */
  name: string
  cron: string | null
  pollSeconds: number
  retry: { limit: number; delaySeconds: number; delayMaxSeconds: number }
  deadLetter: boolean
  concurrency: number
  perKey: ((data: Data) => string) | null
  run: (context: Context, data: Data) => Promise<unknown>
}

/** A job of any kind, as lists hold them. */
export type AnyJob = Job<never>

const hourSeconds = 3600

/** One row of a feature's jobs: `job<{ runId: string }>('sync.run', { perKey: ({ runId }) => runId }, runSync)`. */
export function job<Data extends object = object>(
  name: string,
  { cron, pollSeconds, retry, deadLetter, concurrency, perKey }: Settings<Data>,
  run: (context: Context, data: Data) => Promise<unknown>,
): Job<Data> {
  return {
    name,
    cron: cron ?? null,
    // A cron job is added by the clock's minute, so that nobody waits for it.
    pollSeconds: pollSeconds ?? (cron === undefined ? 2 : 10),
    retry: { limit: 0, delaySeconds: 5, delayMaxSeconds: 6 * hourSeconds, ...retry },
    deadLetter: deadLetter ?? cron === undefined,
    concurrency: concurrency ?? 1,
    perKey: perKey ?? null,
    run,
  }
}
