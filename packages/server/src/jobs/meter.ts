import type { Database } from '../db/database.ts'

declare module '../kernel/context.ts' {
  interface Context {
    meter: Meter
  }
}

/** Counts what is used but not audited, in memory, and adds it up in the database now and then. */
export interface Meter {
  countResolve(orgId: string): void
  flush(): Promise<void>
}

export function openMeter(db: Database, now: () => Date): Meter {
  let counts = new Map<string, number>()
  const add = (orgId: string, quantity: number) => void counts.set(orgId, (counts.get(orgId) ?? 0) + quantity)
  return {
    countResolve: (orgId) => add(orgId, 1),
    async flush() {
      if (counts.size === 0) return
      const taken = counts
      counts = new Map()
      try {
        await addUp(db, taken, now().toISOString().slice(0, 10))
      } catch (error) {
        // Kept for the next time: an outage of the database is not a gift.
        for (const [orgId, quantity] of taken) add(orgId, quantity)
        throw error
      }
    },
  }
}

function addUp(db: Database, counts: Map<string, number>, day: string) {
  return db.rows(
    `insert into usage_counts (org_id, metric, day, quantity)
     select org_id, 'resolves', $3::date, quantity
       from unnest($1::text[], $2::bigint[]) as used(org_id, quantity)
     on conflict (org_id, metric, day) do update set quantity = usage_counts.quantity + excluded.quantity`,
    [[...counts.keys()], [...counts.values()], day],
  )
}
