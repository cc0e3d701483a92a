import type { KernelContext } from '../kernel/context.ts'
import { describe } from '../kernel/errors.ts'
import { openCalendar } from './calendar.ts'
import type { AnyJob, Job } from './job.ts'
import { beat, completeJob, failJob, failSilent, insertJob, type Places, type TakenJob, takeDueJobs } from './store.ts'

/** Runs the jobs of the queue in this process. */
export interface Runner {
  /** Looks for jobs of these names now, without waiting for the next poll. */
  look(names: Iterable<string>): void
  /** Starts no further jobs, and waits some seconds for running ones. An interrupted job is retried. */
  stop(): Promise<void>
}

/** The longest delay until a job begins that another server has added or that becomes due. */
const pollMs = 2000
/** How often a server records that its jobs are alive. After five missed beats it counts as dead. */
const beatMs = 1000
const silentSeconds = 5
/** The longest run of a job. A job that hangs must not keep its slot forever. */
const limitMs = 15 * 60_000
const stopMs = 5000

export type RunnerContext = Pick<KernelContext, 'db' | 'faults'>

export function openRunner<Context extends RunnerContext>(
  context: Context,
  jobs: readonly Job<never, Context>[],
): Runner {
  const { db, faults } = context
  const rows = new Map(jobs.map((job) => [job.name, job]))
  const names = [...rows.keys()]
  const running = new Map<TakenJob, Promise<void>>()
  const wanted = new Set<string>()
  const calendar = openCalendar(jobs, Date.now())
  const warn = (error: unknown) => faults.warn('job queue', error)
  let looking: Promise<void> | undefined
  let isStopped = false

  const takeWanted = async (): Promise<void> => {
    while (!isStopped) {
      const places = freePlaces(wanted, rows, running.keys())
      wanted.clear()
      if (places.size === 0) return
      // More jobs may be due, so look again.
      for (const taken of await takeDueJobs(db, places)) begin(taken)
    }
  }
  const look = (more: Iterable<string>): void => {
    for (const name of more) wanted.add(name)
    looking ??= takeWanted()
      .catch(warn)
      .finally(() => {
        looking = undefined
      })
  }
  const begin = (taken: TakenJob): void => {
    wanted.add(taken.name)
    const done = runJob(context, rows.get(taken.name) as Job<never, Context>, taken)
      .catch(warn)
      .finally(() => {
        running.delete(taken)
        look([taken.name])
      })
    running.set(taken, done)
  }
  const poll = async (): Promise<void> => {
    look(names)
    for (const { id, job, slot } of calendar.due(Date.now())) {
      await insertJob(db, { id, name: job.name, data: {}, key: null, isUrgent: false, delaySeconds: 0 })
      // Noted only after the insert, so that the next poll repeats an insert that failed in an outage.
      calendar.note(job, slot)
      look([job.name])
    }
  }
  const heart = startHeart(context, jobs, () => [...running.keys()], warn)
  const polls = setInterval(() => void poll().catch(warn), pollMs)
  void poll().catch(warn)
  return {
    look,
    async stop() {
      isStopped = true
      clearInterval(polls)
      await looking
      await within(stopMs, Promise.all(running.values()))
      heart.stop()
      for (const taken of running.keys())
        await failJob(db, rows.get(taken.name) as AnyJob, taken, { error: 'CutOff' }).catch(warn)
    },
  }
}

/** Counts how many jobs of each name may begin in this process. */
function freePlaces(names: Iterable<string>, rows: Map<string, AnyJob>, running: Iterable<TakenJob>): Places {
  const places = new Map<string, number>()
  for (const name of names) places.set(name, rows.get(name)?.concurrency ?? 0)
  for (const { name } of running) if (places.has(name)) places.set(name, (places.get(name) ?? 0) - 1)
  for (const [name, count] of places) if (count <= 0) places.delete(name)
  return places
}

/** `describe` decides what is logged and stored of a failure, because a message may quote something secret. */
async function runJob<Context extends RunnerContext>(
  context: Context,
  job: Job<never, Context>,
  taken: TakenJob,
): Promise<void> {
  try {
    const ended = await within(limitMs, job.run(context, taken.data))
    if (ended === late) throw Object.assign(new Error('The job took too long'), { name: 'TimeoutError' })
  } catch (error) {
    context.faults.warn('job failed', error, { job: job.name })
    return await failJob(context.db, job, taken, describe(error))
  }
  await completeJob(context.db, taken)
}

const late = Symbol('late')

async function within<T>(ms: number, work: Promise<T>): Promise<T | typeof late> {
  const { promise, resolve } = Promise.withResolvers<typeof late>()
  const timer = setTimeout(resolve, ms, late)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Records every second that the jobs of this process are alive, and fails the jobs of dead processes. After a late or
 * failed beat it fails no jobs until the beat after the next: an outage of the database, for example, stops the beats
 * of all processes.
 */
export function startHeart(
  { db }: Pick<KernelContext, 'db'>,
  jobs: readonly AnyJob[],
  running: () => readonly TakenJob[],
  warn: (error: unknown) => void,
  monotonicMs = () => performance.now(),
): { stop(): void } {
  let heardAtMs = monotonicMs()
  let isBeating = false
  const isInTime = () => monotonicMs() - heardAtMs <= 2 * beatMs
  const turn = async () => {
    const atMs = monotonicMs()
    const taken = running()
    // Beats have their own connection, so that a full pool does not stop them.
    if (taken.length > 0 || !isInTime()) await beat(db.watch, taken)
    if (isInTime()) await failSilent(db.watch, jobs, silentSeconds)
    heardAtMs = atMs
  }
  const timer = setInterval(() => {
    if (isBeating) return
    isBeating = true
    void turn()
      .catch(warn)
      .finally(() => {
        isBeating = false
      })
  }, beatMs)
  return { stop: () => clearInterval(timer) }
}
