import { UnavailableError } from '@skerry/sdk/errors'
import { sleep } from '@skerry/sdk/internal/transport'
import { openDirectory } from '../directory.ts'
import { toFailure, usage } from '../failure.ts'
import type { SignedIn } from '../frame.ts'
import { note, warn } from '../output.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { openChildren } from './children.ts'
import { type Job, type Report, work } from './work.ts'

/** The number of concurrent jobs, so that a target that does not answer does not delay the others. */
const atOnceMax = 8
const pauseMs = { first: 500, max: 15_000 }
/** After a minute the server gives the job to another provisioner. */
const reportWithinMs = 60_000

const ending = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export async function run({ session, flags }: SignedIn<Flags & { allow?: string[] }>): Promise<void> {
  if (session.principal.type !== 'service_token') throw usage('a provisioner needs a service token', 'set SKERRY_TOKEN')
  const stop = new AbortController()
  const end = () => stop.abort()
  for (const one of ending) process.once(one, end)
  note(`provisioner ${await nameOf(session)} waits for work from ${session.settings.url}`)
  try {
    await serve(session, flags.allow, stop.signal)
  } finally {
    for (const one of ending) process.off(one, end)
  }
  note('the provisioner ends')
}

/** The name of the provisioner's token. It is its id while the server is unavailable, because that must not stop it. */
async function nameOf(session: Session): Promise<string> {
  const { id } = session.principal
  const directory = await openDirectory(session, [id]).catch(() => undefined)
  return directory?.(id) ?? id
}

export function checkRun(flags: Flags & { allow?: string[] }): void {
  const wrong = flags.allow?.find((one) => !/^[^\s:]+:\d{1,5}$|^\[?[0-9a-fA-F:.]+\]?:\d{1,5}$/.test(one))
  if (wrong !== undefined) throw usage(`--allow must have the form host:port (you gave ${wrong})`)
}

/** Requests jobs until a signal ends it, then waits for the jobs in progress. */
async function serve(session: Session, allowed: string[] | undefined, signal: AbortSignal): Promise<void> {
  const children = openChildren(allowed, atOnceMax)
  const means = { holder: await session.key(), children, now: () => performance.now() }
  const inHand = new Set<Promise<void>>()
  try {
    while (!signal.aborted) {
      if (inHand.size >= atOnceMax) await Promise.race(inHand)
      const job = await claim(session, signal)
      if (!job) continue
      const done = work(job, means)
        .then((came) => report(session, job, came))
        .catch((error) => warn(toFailure(error).message))
      inHand.add(done)
      void done.finally(() => inHand.delete(done))
    }
  } finally {
    await Promise.all(inHand)
    await children.close()
  }
}

/** Requests a job, with retries while the server is unavailable. It throws if the server refuses this provisioner. */
async function claim({ client }: Session, signal: AbortSignal): Promise<Job | null> {
  for (let pause = pauseMs.first; ; pause = Math.min(pause * 2, pauseMs.max)) {
    try {
      return (await client.provisioner.claim({ body: {} }, { signal })).job
    } catch (error) {
      if (signal.aborted) return null
      if (!(error instanceof UnavailableError)) throw error
      if (pause === pauseMs.first) warn(`waiting for the server: ${error.message}`)
      await sleep(pause * (0.5 + Math.random() / 2), signal).catch(() => {})
    }
  }
}

/**
 * Reports a job, with retries while the job belongs to this provisioner. After that, another provisioner does the job.
 */
async function report({ client }: Session, job: Job, came: Report): Promise<void> {
  const until = Date.now() + reportWithinMs
  const what = `${job.kind} ${job.lease?.resourceRef ?? ''} on ${job.target.name}`.replace('  ', ' ')
  note(`${what}: ${came.ok ? 'done' : (came.error?.message ?? 'failed')}`)
  for (let pause = pauseMs.first; ; pause = Math.min(pause * 2, pauseMs.max)) {
    try {
      await client.provisioner.report({ params: { jobId: job.id }, body: came })
      return
    } catch (error) {
      const isFinal = !(error instanceof UnavailableError) || Date.now() > until
      if (isFinal) return warn(`${what} could not be reported: ${toFailure(error).message}`)
      await sleep(pause)
    }
  }
}
