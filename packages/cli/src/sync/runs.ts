import { setTimeout } from 'node:timers/promises'
import type { SyncRun } from '@skerry/sdk/internal/sync'
import { Failure } from '../failure.ts'
import type { InOrg, SignedIn } from '../frame.ts'
import { parseLimit } from '../options.ts'
import { note, type Output, writeLine, writeTable } from '../output.ts'
import { eachPage } from '../pages.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { shownTime } from '../times.ts'
import { findBinding } from './find.ts'
import { writePlan } from './plan.ts'

export async function plan(wanted: string, { session }: SignedIn): Promise<Output> {
  const { orgId, binding } = await findBinding(session, wanted)
  const answer = await session.client.sync.plan({ params: { orgId, bindingId: binding.id }, body: {} })
  return { json: answer, text: () => writePlan(answer.plan) }
}

/** Pushes and reports the result. Exits with 1 if not everything was pushed. */
export async function run(
  wanted: string,
  { session, flags: { adopt } }: SignedIn<Flags & { adopt?: string[] }>,
): Promise<Output> {
  const { orgId, binding } = await findBinding(session, wanted)
  if (binding.missingEnvironmentIds.length > 0)
    throw new Failure(
      'conflict',
      'the connection lacks the key of a group that was composed later',
      `give it with \`skerry sync edit ${binding.id} --keys\``,
    )
  const params = { orgId, bindingId: binding.id }
  const body = adopt === undefined ? {} : { adopt }
  const { run } = await session.client.sync.run({ params, body })
  return { json: { run }, text: () => tellRun(run), after: () => checkRun(run) }
}

/**
 * Waits for the first push of a new binding and reports the result. A secret that was changed right before may have
 * started a second push, which finds nothing to do.
 */
export async function followFirstPush(session: Session, { orgId, bindingId }: { orgId: string; bindingId: string }) {
  for (let look = 0; ; look++) {
    const { runs } = await session.client.sync.runs({ params: { orgId }, query: { bindingId, limit: pageMax } })
    const first = runs.at(-1)
    if (first === undefined) return
    if (look === looksMax || runs.every(({ status }) => status !== 'running')) {
      tellRun(first)
      return checkRun(first)
    }
    await setTimeout(lookMs)
  }
}

const lookMs = 250
/** 220 polls of 250 ms are 55 s: as long as the server waits for a requested push. */
const looksMax = 220

function checkRun(run: SyncRun): void {
  if (run.status === 'failed' || run.status === 'partial')
    throw new Failure('failure', run.error ?? 'not every name was pushed', 'see `skerry sync runs`')
}

function tellRun(run: SyncRun): void {
  for (const name of run.pushed) writeLine(`pushed ${name}`)
  for (const name of run.deleted) writeLine(`deleted ${name}`)
  for (const { name, reason } of run.skipped) writeLine(`skipped ${name}: ${reason}`)
  for (const { name, reason } of run.failures) writeLine(`failed ${name}: ${reason}`)
  if (run.status === 'running') note(`run ${run.id} goes on; see \`skerry sync runs\``)
  else note(`${run.status}: ${run.pushed.length} pushed, ${run.deleted.length} deleted, ${run.unchanged} unchanged`)
}

const pageMax = 100

export async function list(
  wanted: string | undefined,
  { session, orgId, input: { limit } }: InOrg<Flags & { limit: string }, typeof parseList>,
): Promise<Output> {
  const bindingId = wanted === undefined ? undefined : (await findBinding(session, wanted)).binding.id
  const all: SyncRun[] = []
  let left = limit || Number.POSITIVE_INFINITY
  const of = bindingId === undefined ? {} : { bindingId }
  const pages = eachPage((at) =>
    session.client.sync.runs({ params: { orgId }, query: { limit: Math.min(left, pageMax), ...of, ...at } }),
  )
  for await (const { runs } of pages) {
    all.push(...runs)
    left -= runs.length
    if (left <= 0) break
  }
  return {
    json: { runs: all },
    text: () => {
      writeTable(
        ['id', 'binding', 'started', 'because of', 'status', 'pushed', 'deleted', 'unchanged', 'skipped', 'failed'],
        all.map((one) => [
          ...[one.id, one.bindingId, shownTime(one.startedAt), one.trigger, one.status],
          ...[one.pushed, one.deleted].map(({ length }) => String(length)),
          ...[one.unchanged, one.skipped.length, one.failures.length].map(String),
        ]),
        'nothing was pushed yet; see the bindings with `skerry sync ls`',
      )
      for (const one of all) {
        if (one.error !== null) note(`${one.id}: ${one.error}`)
        for (const { name, reason } of [...one.failures, ...one.skipped]) note(`${one.id}: ${name}: ${reason}`)
      }
    },
  }
}

export const parseList = (flags: Flags & { limit: string }) => ({ limit: parseLimit(flags.limit, 0) })
