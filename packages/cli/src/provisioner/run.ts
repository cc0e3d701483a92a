import { UnavailableError } from '@skerry/sdk/errors'
import { sleep } from '@skerry/sdk/internal/transport'
import { toFailure, usage } from '../failure.ts'
import type { SignedIn } from '../frame.ts'
import { note, warn } from '../output.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { openChildren } from './children.ts'
import { type Job, type Report, work } from './work.ts'

/** Jobs that are done at once; a target that does not answer keeps the others waiting for nothing. */
const atOnceMax = 8
const pauseMs = { first: 500, max: 15_000 }
/** After a minute the job is somebody else's. */
const reportWithinMs = 60_000

const ending = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export async function run({ session, flags }: SignedIn<Flags & { allow?: string[] }>): Promise<void> {
  if (session.principal.type !== 'service_token')
    throw usage('a provisioner signs in with a service token', 'set SKERRY_TOKEN')
  const stop = new AbortController()
  const end = () => stop.abort()
  for (const one of ending) process.once(one, end)
  note(`provisioner ${session.principal.id} waits for work from ${session.settings.url}`)
  try {
    await serve(session, flags.allow, stop.signal)
  } finally {
    for (const one of ending) process.off(one, end)
  }
  note('the provisioner ends')
}

export function checkRun(flags: Flags & { allow?: string[] }): void {
  const wrong = flags.allow?.find((one) => !/^[^\s:]+:\d{1,5}$|^\[?[0-9a-fA-F:.]+\]?:\d{1,5}$/.test(one))
  if (wrong !== undefined) throw usage('--allow takes host:port')
}

/** Asks for work until it is told to end, then waits for what is in hand. */
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

/** Waits for a server that is away. A provisioner that the server refuses ends. */
async function claim({ client }: Session, signal: AbortSignal): Promise<Job | null> {
  for (let pause = pauseMs.first; ; pause = Math.min(pause * 2, pauseMs.max)) {
    try {
      return (await client.provisioner.claim({ body: {} }, { signal })).job
    } catch (error) {
      if (signal.aborted) return null
      if (!(error instanceof UnavailableError)) throw error
      if (pause === pauseMs.first) warn(`waits for the server: ${error.message}`)
      await sleep(pause * (0.5 + Math.random() / 2), signal).catch(() => {})
    }
  }
}

/** Tried again while the job is ours. Where it is not any more, somebody else does it. */
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
