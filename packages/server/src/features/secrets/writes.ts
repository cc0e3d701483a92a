import type { Config } from '../../config.ts'
import { type Batcher, openBatcher, openBatcherPerKey } from '../../db/batcher.ts'
import type { Database } from '../../db/database.ts'
import { isRolledBack } from '../../db/sql-errors.ts'
import type { Announcements, Committed, Evictions } from '../../kernel/context.ts'
import { openTurns } from '../../kernel/turns.ts'
import { type GroupedWrite, type WrittenRow, writeBatch } from '../../model/secrets/write.ts'
import { admitGroup, type QuotaCache } from './quota-cache.ts'

/**
 * Groups writes by service tokens in statements. Returns undefined for a write that must be made, or refused, alone.
 */
export type Writes = Batcher<GroupedWrite, WrittenRow | undefined>

const writesMax = 64

interface WritesDeps {
  config: Config
  db: Database
  evictions: Evictions
  announcements: Announcements
  now: () => Date
  quotaCache: QuotaCache
}

type Send = (writes: GroupedWrite[]) => Promise<WrittenRow[]>

export const openWrites = (deps: WritesDeps): Writes =>
  openGroups(deps, (writes) => writeBatch(deps.db.batches, writes, deps.now().toISOString()))

/** An organization uses this many connections for counted writes at most, although each environment has its own groups. */
const countedAtOnce = 2

/**
 * Near the limits of an environment, one count admits a whole group: a count for each write would take most of its time. A
 * group is one transaction and holds writes to one environment. Its failure concerns no other environment, and an
 * environment that is locked delays no other organization.
 */
export function openCountedWrites(deps: WritesDeps): Writes {
  const turns = openTurns(countedAtOnce)
  return openBatcherPerKey(
    ({ environmentId }) => environmentId,
    () =>
      openGroups(deps, (writes) => {
        const [{ orgId }] = writes as [GroupedWrite]
        return turns(orgId, () => writeCounted(deps, writes))
      }),
  )
}

const writeCounted = ({ config, db, now, quotaCache }: WritesDeps, writes: GroupedWrite[]): Promise<WrittenRow[]> =>
  db.transaction(async (tx) => {
    const [{ orgId, environmentId: id }] = writes as [GroupedWrite]
    const sized = writes.map((write) => ({ write, name: write.name, bytes: write.ciphertext.length }))
    const admitted = await admitGroup({ config, quotaCache }, tx, { orgId, id }, sized)
    if (admitted.length === 0) return []
    return await writeBatch(
      tx,
      admitted.map(({ write }) => write),
      now().toISOString(),
    )
  })

/**
 * Like a unit of work, this evicts the changed environments from this process’s resolve cache before it answers, and
 * announces the entries.
 */
const openGroups = ({ db, evictions, announcements }: WritesDeps, write: Send): Writes =>
  openBatcher<GroupedWrite, WrittenRow | undefined>({
    keyOf,
    itemsMax: writesMax,
    isAhead: db.engine === 'postgres',
    async send(writes) {
      const rows = await write(writes).catch((error: unknown) => {
        // A write is made again alone only if the group certainly left nothing. Otherwise it might be made twice.
        if (isRolledBack(error)) return []
        // The database may have committed before its connection was lost.
        evictChanged(evictions, writes)
        throw error
      })
      evictChanged(evictions, rows)
      const rowOf = new Map(rows.map((row) => [keyOf(row), row]))
      const written = writes.map((write) => rowOf.get(keyOf(write)))
      const watched = writes.flatMap((write, i) => {
        const row = announcements.isWatched(write.orgId) && written[i]
        return row ? [entryOf(write, row)] : []
      })
      if (watched.length > 0) announcements.announce(watched)
      return written
    },
  })

/** The audit entry that the shared statement has written for a write. */
const entryOf = (write: GroupedWrite, row: WrittenRow): Committed => ({
  orgId: write.orgId,
  id: write.auditId,
  action: 'secret.written',
  actorType: write.authorType,
  actorId: write.authorId,
  resourceType: 'secret',
  resourceId: row.id,
  metadata: { environmentId: row.environmentId },
  createdAt: row.updatedAt,
})

function evictChanged(evictions: Evictions, changed: readonly Pick<GroupedWrite, 'orgId' | 'environmentId'>[]): void {
  const environments = new Map(changed.map(({ environmentId, orgId }) => [environmentId, orgId]))
  for (const [environmentId, orgId] of environments) evictions.evict(orgId, environmentId)
}

const keyOf = ({ environmentId, name }: Pick<GroupedWrite, 'environmentId' | 'name'>) => `${environmentId} ${name}`
