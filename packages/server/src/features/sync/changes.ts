import type { Tx } from '../../db/database.ts'
import type { Context } from '../../http/context.ts'
import { system, transactWithAudit } from '../../kernel/audit.ts'
import { type Evictions, instant } from '../../kernel/context.ts'
import { deleteUnreadGrants } from '../../model/grants/write.ts'
import { changesAtOnce, listConcerned, takeChanges, takeEndings } from './change-store.ts'
import { performRun, startForChange } from './run-job.ts'
import { digestNow } from './state.ts'

/**
 * Processes the changes since the last time. It pushes bindings that now read something else, and revokes keys that no
 * binding needs any more. It records in the audit log which bindings were deleted with their environment. The database
 * writes a row with every change, so that code that changes secrets need not know about sync.
 */
export async function processChanges(context: Context): Promise<void> {
  for (;;) {
    const changed = await processBatch(context)
    if (changed < changesAtOnce) return
  }
}

async function processBatch(context: Context): Promise<number> {
  const { changed, queued } = await transactWithAudit(context, system, async (db, record) => {
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
    await startForChange(context, db, binding, (...sent) => context.queue.enqueue(db, ...sent))
    queued++
  }
  return queued
}

/** Changes are processed once no other has followed for this long. */
const quietMs = 800
/** Changes are processed this long after the first one at the latest: a push has to begin within 5 seconds. */
const delayMaxMs = 3000

export interface ChangeDebounce extends Evictions {
  start(context: Context): void
  stop(): Promise<void>
}

/**
 * Receives the same notices of committed changes as the resolve cache of this process, and processes the changes soon
 * after. Changes that come together make one push. A notice is only a hint: if no process receives it, the sweep finds
 * the row of the change.
 */
export function debounceChanges(): ChangeDebounce {
  let context: Context | null = null
  let timer: NodeJS.Timeout | undefined
  let firstAtMs = 0
  let processing: Promise<void> = Promise.resolve()

  const run = () => {
    timer = undefined
    const { faults } = context as Context
    processing = processChanges(context as Context).catch((error) => faults.warn('could not look at changes', error))
  }
  return {
    evict() {
      if (context === null) return
      const nowMs = performance.now()
      if (timer === undefined) firstAtMs = nowMs
      clearTimeout(timer)
      timer = setTimeout(run, Math.max(0, Math.min(quietMs, firstAtMs + delayMaxMs - nowMs)))
    },
    start(started) {
      context = started
    },
    async stop() {
      context = null
      clearTimeout(timer)
      await processing
    },
  }
}
