import type { Database } from '../db/database.ts'
import { describe } from '../kernel/errors.ts'
import type { Log } from '../kernel/log.ts'
import { upsertCliSessionUse, upsertMachineClientUse, upsertTokenUse } from './store.ts'
import { upsertVaultUses, type VaultUse } from './vault-store.ts'

declare module '../kernel/context.ts' {
  interface Context {
    lastUsed: LastUsed
  }
}

/** How exact `lastUsedAt` is. A write for each request would cost more than the request. */
const granularityMs = 60_000
const rememberedMax = 10_000

/** Notes that a credential was used, at most once a minute each, off the request's path. */
export interface LastUsed {
  note(token: { orgId: string; id: string }, nowMs: number): void
  noteCliSession(id: string, nowMs: number): void
  noteMachineClient(client: { orgId: string; id: string }, nowMs: number): void
  /** A platform key, an executor or a connection of the vault. */
  noteVault(one: { orgId: string; id: string }, nowMs: number): void
}

export function openLastUsed(db: Database, log: Log): LastUsed {
  const notedAtMs = new Map<string, number>()
  /** Every request asks, so it comes to nothing quickly. */
  const isDue = (id: string, nowMs: number): boolean => {
    const last = notedAtMs.get(id)
    if (last !== undefined && nowMs - last < granularityMs) return false
    if (notedAtMs.size > rememberedMax) notedAtMs.clear()
    notedAtMs.set(id, nowMs)
    return true
  }
  /** What failed is due again with the next use, and not a minute later. */
  const write = (id: string, upsert: Promise<unknown>) =>
    upsert.catch((error) => {
      notedAtMs.delete(id)
      log.warn('could not note the use of a token', describe(error))
    })
  // An executor uses many connections in a second: those that are noted during one write go with the next.
  const waiting = new Map<string, VaultUse>()
  let isWriting = false
  const writeVaultUses = async () => {
    isWriting = true
    while (waiting.size > 0) {
      const uses = [...waiting.values()]
      waiting.clear()
      await upsertVaultUses(db, uses).catch((error) => {
        for (const { id } of uses) notedAtMs.delete(id)
        log.warn('could not note the use of a vault', describe(error))
      })
    }
    isWriting = false
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
      if (!isWriting) void writeVaultUses()
    },
  }
}
