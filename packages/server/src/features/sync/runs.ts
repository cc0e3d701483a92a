import { setTimeout as pause } from 'node:timers/promises'
import { limits } from '@skerry/contract/limits'
import type { sync } from '@skerry/contract/sync/endpoints'
import type { Context } from '../../http/context.ts'
import { pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import type { InOrg } from '../orgs/scope.ts'
import { runLifecycle } from './lifecycle.ts'
import { performRun } from './run-job.ts'
import { findRun, insertRun, listRuns } from './run-store.ts'
import type { OnBinding, Run } from './scope.ts'

export async function list({ db, org, query }: In<typeof sync.runs, InOrg>): Out<typeof sync.runs> {
  const cursor = pageFrom(query, 'syncRun', limits.syncRunsDefault)
  const rows = await listRuns(db, org, query.bindingId, cursor)
  const page = pageOf(rows, cursor, ({ startedAt, id }) => [startedAt, id])
  return { runs: page.rows.map(toResponse), nextCursor: page.nextCursor }
}

/** Requests a run and waits for it. A run that takes longer continues, and its result is in the history. */
export async function run(input: In<typeof sync.run, OnBinding>): Out<typeof sync.run> {
  const { context, org, binding, body, principal, origin, now, newId, transaction } = input
  if (context.serverKey === null) throw fail('conflict', 'this server has no server key')
  if (!binding.enabled) throw fail('conflict', 'pushes of this binding are paused')
  const { ipAddress, userAgent, requestId } = origin
  const runId = await transaction(async ({ db, enqueue }) => {
    const id = await insertRun(db, org.id, {
      id: newId('syncRun'),
      bindingId: binding.id,
      connectionId: binding.connectionId,
      environmentId: binding.environmentId,
      trigger: 'request',
      adopt: body.adopt ?? [],
      origin: { actor: { type: principal.type, id: principal.id }, ipAddress, userAgent, requestId },
      now,
    })
    await enqueue(performRun, { orgId: org.id, runId: id }, { urgent: true })
    return id
  })
  return { run: toResponse(await awaited(context, org.id, runId)) }
}

const lookMs = 100

async function awaited(context: Context, orgId: string, runId: string): Promise<Run> {
  const untilMs = context.now().getTime() + limits.syncRunAnswerSeconds * 1000
  for (;;) {
    const found = await findRun(context.db, orgId, runId)
    if (!found) throw fail('not_found', 'no such run')
    const isOver = runLifecycle.next(found.status, 'finish') === undefined
    if (isOver || context.now().getTime() >= untilMs) return found
    await pause(lookMs)
  }
}

function toResponse({ orgId, ...run }: Run) {
  return run
}
