import type { Database } from '../db/database.ts'
import { isConnectionError } from '../db/sql-errors.ts'
import type { Faults } from '../kernel/faults.ts'
import { upsertCliSessionUse, upsertMachineClientUse, upsertTokenUse } from './store.ts'
import { upsertVaultUses, type VaultUse } from './vault-store.ts'

/** The precision of `lastUsedAt`. A write for each request would cost more than the request. */
const granularityMs = 60_000
/** About 10 MB. With fewer entries, an executor that uses more connections in turn would cause a write for each use. */
const rememberedMax = 100_000

/** An executor uses many connections in a second. The first use is written at once, and the following ones together. */
const pauseMs = 1000

/** Records that a credential was used, at most once a minute for each, without delaying the request. */
export interface LastUsed {
  note(token: { orgId: string; id: string }, nowMs: number): void
  noteCliSession(id: string, nowMs: number): void
  noteMachineClient(client: { orgId: string; id: string }, nowMs: number): void
  /** Records the use of a platform key, an executor or a connection of the vault. */
  noteVault(one: { orgId: string; id: string }, nowMs: number): void
  /** Writes the uses that are waiting. */
  flush(): Promise<void>
  /** Forgets which uses were written, because they are in another database. */
  clear(): void
}

export function openLastUsed(db: Database, faults: Faults): LastUsed {
  const notedAtMs = new Map<string, number>()
  /** Called at every request, so it must be fast. */
  const isDue = (id: string, nowMs: number): boolean => {
    const last = notedAtMs.get(id)
    if (last !== undefined && nowMs - last < granularityMs) return false
    if (notedAtMs.size > rememberedMax) notedAtMs.clear()
    notedAtMs.set(id, nowMs)
    return true
  }
  /** After a failure the next use is written at once, and not only a minute later. */
  const write = (id: string, upsert: Promise<unknown>) =>
    upsert.catch((error) => {
      notedAtMs.delete(id)
      faults.warn('could not note the use of a token', error)
    })
  /**
   * Writes several uses. If they cannot be written together, each is written alone, so that one bad use does not
   * prevent the others.
   */
  const writeTogether = async (uses: VaultUse[]): Promise<void> => {
    try {
      await upsertVaultUses(db, uses)
    } catch (error) {
      if (uses.length > 1 && !isConnectionError(error)) {
        for (const use of uses) await writeTogether([use])
        return
      }
      for (const { id } of uses) notedAtMs.delete(id)
      faults.warn('could not note the use of a vault', error)
    }
  }
  const waiting = new Map<string, VaultUse>()
  const flush = async () => {
    const uses = [...waiting.values()]
    waiting.clear()
    if (uses.length > 0) await writeTogether(uses)
  }
  let pause: NodeJS.Timeout | undefined
  const writeAndPause = () => {
    pause = waiting.size > 0 ? setTimeout(writeAndPause, pauseMs).unref() : undefined
    void flush()
  }
  return {
    note(token, nowMs) {
      if (isDue(token.id, nowMs)) write(token.id, upsertTokenUse(db, token, new Date(nowMs).toISOString()))
    },
    noteCliSession(id, nowMs) {
      if (isDue(id, nowMs)) write(id, upsertCliSessionUse(db, id, new Date(nowMs).toISOString()))
    },
    noteMachineClient(client, nowMs) {
      if (isDue(client.id, nowMs)) write(client.id, upsertMachineClientUse(db, client, new Date(nowMs).toISOString()))
    },
    noteVault(one, nowMs) {
      if (!isDue(one.id, nowMs)) return
      waiting.set(one.id, { orgId: one.orgId, id: one.id, at: new Date(nowMs).toISOString() })
      if (!pause) writeAndPause()
    },
    flush,
    clear: () => notedAtMs.clear(),
  }
}
