import type { Database } from '../db/database.ts'

declare module '../kernel/context.ts' {
  interface Context {
    meter: Meter
  }
}

/** Counts what is used but not audited, in memory, and adds it up in the database now and then. */
export interface Meter {
  countResolve(orgId: string): void
  /** What an organization has used up of its month, by the last look; a resolve asks it, so it asks nobody. */
  overResolves(orgId: string): Over | undefined
  flush(): Promise<void>
}

interface Over {
  included: number
  used: number
}

/** Finds those that have used up what their plan includes. */
type FindOver = (orgIds: readonly string[]) => Promise<Map<string, Over>>

export function openMeter(db: Database, now: () => Date, findOver: FindOver): Meter {
  let over = new Map<string, Over>()
  let counts = new Map<string, number>()
  const add = (orgId: string, quantity: number) => void counts.set(orgId, (counts.get(orgId) ?? 0) + quantity)
  return {
    countResolve: (orgId) => add(orgId, 1),
    overResolves: (orgId) => over.get(orgId),
    async flush() {
      const taken = counts
      counts = new Map()
      try {
        if (taken.size > 0) await addUp(db, taken, now().toISOString().slice(0, 10))
      } catch (error) {
        // Kept for the next time: an outage of the database is not a gift.
        for (const [orgId, quantity] of taken) add(orgId, quantity)
        throw error
      }
      over = await findOver([...new Set([...taken.keys(), ...over.keys()])])
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
