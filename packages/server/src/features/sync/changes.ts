import type { Tx } from '../../db/database.ts'
import type { Context } from '../../http/context.ts'
import { instant } from '../../kernel/context.ts'
import { system, unit } from '../../kernel/unit.ts'
import { deleteUnreadGrants } from '../../model/grants/write.ts'
import { changesAtOnce, listConcerned, takeChanges, takeEndings } from './change-store.ts'
import { insertOwnRun } from './own-run.ts'
import { performRun } from './run-job.ts'
import { digestNow } from './values.ts'

/**
 * Looks at what has changed since the last time: bindings that read something else now are pushed, keys that no binding needs
 * are taken back, and the trail hears of bindings that ended with what they stood on. Rows of changes are written by the
 * database with the change itself, so that no way of changing anything has to know of sync.
 */
export async function lookAtChanges(context: Context): Promise<void> {
  for (;;) {
    const changed = await lookOnce(context)
    if (changed < changesAtOnce) return
  }
}

async function lookOnce(context: Context): Promise<number> {
  const { changed, queued } = await unit(context, system, async (db, record) => {
    const changes = await takeChanges(db)
    const endings = await takeEndings(db, null)
    for (const { orgId, bindingId, connectionId, environmentId } of endings) {
      const metadata = { connectionId, environmentId, cause: 'its environment was deleted' }
      record({ orgId, action: 'sync_binding.deleted', resourceId: bindingId, metadata })
    }
    const wide = [...changes, ...endings.map(({ orgId }) => ({ orgId, environmentId: null }))]
    const orgIds = [...new Set(wide.filter(({ environmentId }) => environmentId === null).map(({ orgId }) => orgId))]
    for (const grant of orgIds.length > 0 ? await deleteUnreadGrants(db, orgIds, null) : [])
      record({
        orgId: grant.orgId,
        action: 'key.revoked',
        resourceId: grant.id,
        metadata: {
          environmentId: grant.environmentId,
          principalType: 'sync_connection',
          principalId: grant.principalId,
          cause: 'no binding of the connection reads it',
        },
      })
    let queued = 0
    for (const [orgId, of] of Map.groupBy(changes, (change) => change.orgId))
      queued += await queueConcerned(context, db, orgId, of)
    return { changed: changes.length, queued }
  })
  if (queued > 0) context.queue.nudge(performRun)
  return changed
}

async function queueConcerned(
  context: Context,
  db: Tx,
  orgId: string,
  changes: readonly { environmentId: string | null }[],
): Promise<number> {
  const environmentIds = changes.flatMap(({ environmentId }) => environmentId ?? [])
  const all = environmentIds.length < changes.length
  let queued = 0
  for (const binding of await listConcerned(db, orgId, environmentIds, all)) {
    if ((await digestNow(db, binding, instant(context))) === binding.takenDigest) continue
    const runId = await insertOwnRun(context, db, binding, 'change')
    await context.queue.enqueue(db, performRun, { orgId, runId })
    queued++
  }
  return queued
}
