import type { Database } from '../db/database.ts'

/** Counts what is used but not audited, in memory, and adds it up in the database now and then. */
export interface Meter {
  count(orgId: string, metric: 'resolves'): void
  flush(): Promise<void>
}

export function openMeter(db: Database, now: () => Date): Meter {
  let counts = new Map<string, number>()
  return {
    count(orgId, metric) {
      const key = `${orgId} ${metric}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    },
    async flush() {
      if (counts.size === 0) return
      const taken = counts
      counts = new Map()
      const keys = [...taken.keys()].map((key) => key.split(' '))
      await db.rows(
        `insert into usage_counts (org_id, metric, day, quantity)
         select org_id, metric, $4::date, quantity
           from unnest($1::text[], $2::text[], $3::bigint[]) as used(org_id, metric, quantity)
         on conflict (org_id, metric, day) do update set quantity = usage_counts.quantity + excluded.quantity`,
        [
          keys.map(([orgId]) => orgId),
          keys.map(([, metric]) => metric),
          [...taken.values()],
          now().toISOString().slice(0, 10),
        ],
      )
    },
  }
}
