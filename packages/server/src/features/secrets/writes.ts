import { type Batcher, openBatcher } from '../../db/batcher.ts'
import type { Database } from '../../db/database.ts'
import { isRolledBack } from '../../db/sql-errors.ts'
import type { Evictions } from '../../kernel/context.ts'
import { type GroupedWrite, type WrittenRow, writeBatch } from './write-store.ts'

declare module '../../kernel/context.ts' {
  interface Context {
    writes: Writes
  }
}

/** Writes by service tokens, many to a statement. Undefined for one that has to be made, or refused, by itself. */
export type Writes = Batcher<GroupedWrite, WrittenRow | undefined>

const writesMax = 64

/** As a unit of work does, this process's resolve cache forgets the environments concerned before anybody is answered. */
export const openWrites = (db: Database, evictions: Evictions, now: () => Date): Writes =>
  openBatcher<GroupedWrite, WrittenRow | undefined>({
    keyOf,
    itemsMax: writesMax,
    isAhead: db.engine === 'postgres',
    async send(writes) {
      const rows = await writeBatch(db.batches, writes, now().toISOString()).catch((error: unknown) => {
        // By itself only after what is certain to have left nothing: otherwise a write might be made twice.
        if (isRolledBack(error)) return []
        throw error
      })
      const rowOf = new Map(rows.map((row) => [keyOf(row), row]))
      const changed = new Map(rows.map((row) => [row.environmentId, row.orgId]))
      for (const [environmentId, orgId] of changed) evictions.evict(orgId, environmentId)
      return writes.map((write) => rowOf.get(keyOf(write)))
    },
  })

const keyOf = ({ environmentId, name }: Pick<GroupedWrite, 'environmentId' | 'name'>) => `${environmentId} ${name}`
