import type { MonthlyMetric as Metric } from '@skerry/contract/billing/plans'
import type { Database } from '../db/database.ts'

/** Counts use that is not audited, in memory, and adds it to the database from time to time. */
export interface Meter {
  countResolve(orgId: string): void
  countRelease(orgId: string): void
  /**
   * Returns the quota that an organization has used up this month, as of the last flush. A resolve calls this, so it
   * makes no query.
   */
  over(metric: Metric, orgId: string): Over | undefined
  flush(): Promise<void>
  /**
   * Forgets which organizations have used up their quota, because another database said so. The counts are kept: that
   * use took place.
   */
  clear(): void
}

interface Over {
  included: number
  used: number
}

/** Finds the organizations that have used up the quota of their plan. */
type FindOver = (metric: Metric, orgIds: readonly string[]) => Promise<Map<string, Over>>

type Counts = Record<Metric, Map<string, number>>

const noCounts = (): Counts => ({ resolves: new Map(), 'vault.releases': new Map() })

export function openMeter(db: Database, now: () => Date, findOver: FindOver): Meter {
  const over: Record<Metric, Map<string, Over>> = { resolves: new Map(), 'vault.releases': new Map() }
  let counts = noCounts()
  const add = (metric: Metric, orgId: string, quantity: number) =>
    void counts[metric].set(orgId, (counts[metric].get(orgId) ?? 0) + quantity)
  return {
    countResolve: (orgId) => add('resolves', orgId, 1),
    countRelease: (orgId) => add('vault.releases', orgId, 1),
    over: (metric, orgId) => over[metric].get(orgId),
    async flush() {
      const taken = counts
      counts = noCounts()
      const used = Object.entries(taken).flatMap(([metric, ofOrgs]) =>
        [...ofOrgs].map(([orgId, quantity]) => ({ metric: metric as Metric, orgId, quantity })),
      )
      try {
        if (used.length > 0) await addUp(db, used, now().toISOString().slice(0, 10))
      } catch (error) {
        // Kept for the next flush, so that use during an outage of the database is still counted.
        for (const { metric, orgId, quantity } of used) add(metric, orgId, quantity)
        throw error
      }
      for (const metric of Object.keys(taken) as Metric[])
        over[metric] = await findOver(metric, [...new Set([...taken[metric].keys(), ...over[metric].keys()])])
    },
    clear() {
      for (const metric of Object.keys(over) as Metric[]) over[metric].clear()
    },
  }
}

function addUp(db: Database, used: { metric: Metric; orgId: string; quantity: number }[], day: string) {
  return db.rows(
    `insert into usage_counts (org_id, metric, day, quantity)
     select org_id, metric, $4::date, quantity
       from unnest($1::text[], $2::text[], $3::bigint[]) as used(org_id, metric, quantity)
     on conflict (org_id, metric, day) do update set quantity = usage_counts.quantity + excluded.quantity`,
    [used.map(({ orgId }) => orgId), used.map(({ metric }) => metric), used.map(({ quantity }) => quantity), day],
  )
}
