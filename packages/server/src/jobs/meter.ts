import type { Database } from '../db/database.ts'

/** Counts what is used but not audited, in memory, and adds it up in the database now and then. */
export interface Meter {
  count(orgId: string, metric: 'resolves'): void
  flush(): Promise<void>
}

export function openMeter(db: Database, now: () => Date): Meter {
  let counts = new Map<string, number>()
  const add = (key: string, quantity: number) => counts.set(key, (counts.get(key) ?? 0) + quantity)
  return {
    count: (orgId, metric) => {
      add(`${orgId} ${metric}`, 1)
    },
    async flush() {
      if (counts.size === 0) return
      const taken = counts
      counts = new Map()
      try {
        await addUp(db, taken, now().toISOString().slice(0, 10))
      } catch (error) {
        // Kept for the next time: an outage of the database is not a gift.
        for (const [key, quantity] of taken) add(key, quantity)
        throw error
      }
    },
  }
}

function addUp(db: Database, counts: Map<string, number>, day: string) {
  const keys = [...counts.keys()].map((key) => key.split(' '))
  return db.rows(
    `insert into usage_counts (org_id, metric, day, quantity)
     select org_id, metric, $4::date, quantity
       from unnest($1::text[], $2::text[], $3::bigint[]) as used(org_id, metric, quantity)
     on conflict (org_id, metric, day) do update set quantity = usage_counts.quantity + excluded.quantity`,
    [keys.map(([orgId]) => orgId), keys.map(([, metric]) => metric), [...counts.values()], day],
  )
}
