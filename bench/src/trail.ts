import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../packages/server/src/db/database.ts'
import { openDatabase } from '../../packages/server/src/db/open.ts'
import { jobs as sealing } from '../../packages/server/src/features/audit-proof/jobs.ts'
import { stopScheduled } from '../../packages/server/test/schedules.ts'
import { say } from './measure.ts'

const lookMs = 50
const giveUpMs = 1_200_000
const batch = 50_000

export const openTrail = (databaseUrl: string): Promise<Database> =>
  openDatabase({ databaseUrl, dataDir: '' }, { info: () => {}, warn: say, error: say })

/** Inserts audit entries in the form that writes of secrets have, in one transaction for each batch. */
export async function addEntries(db: Database, orgId: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += batch)
    await db.rows(
      `insert into audit_entries (org_id, id, action, actor_type, actor_id, resource_type, resource_id, metadata,
                                  ip_address, user_agent, request_id, created_at)
       select $1, 'aud_' || substr(md5(random()::text) || md5(n::text), 1, 22), 'secret.written', 'service_token',
              'skt_0123456789abcdef012345', 'secret', 'sec_' || substr(md5(n::text), 1, 22),
              jsonb_build_object('name', 'SECRET_' || n, 'version', n), '127.0.0.1', 'bench', 'req_' || n, now()
         from generate_series($2::int, $3::int) n`,
      [orgId, from + 1, Math.min(count, from + batch)],
    )
}

export async function untilTrue(what: string, look: () => Promise<boolean> | boolean): Promise<void> {
  const endsAt = performance.now() + giveUpMs
  while (!(await look())) {
    if (performance.now() > endsAt) throw new Error(`not within ${giveUpMs / 1000} s: ${what}`)
    await sleep(lookMs)
  }
}

const unsealed = `select count(*)::int as n from audit_entries e where e.org_id is not null
  and not exists (select from audit_leaves l where l.org_id = e.org_id and l.entry_id = e.id)`

/** Waits until the server has sealed all entries. */
export const untilSealed = (db: Database): Promise<void> =>
  untilTrue('every entry is sealed', async () => (await db.row<{ n: number }>(unsealed))?.n === 0)

/** Stops the jobs that seal entries. The server of this database keeps running. */
export const stopSealing = (db: Database): Promise<void> => stopScheduled(db, sealing)
