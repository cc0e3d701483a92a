import { jobs } from '../src/app.ts'
import { entryColumns } from '../src/kernel/audit.ts'
import type { Place } from './needles.ts'
import { stopScheduled } from './schedules.ts'
import { until } from './until.ts'
import type { World } from './world.ts'

/**
 * Tables that may change although a request changed nothing: records of use, which are written later, of attempts and
 * of pending work, and data that is derived from the audit log every ten seconds.
 */
const notesOfUse = [
  ...['service_token_uses', 'machine_client_uses', 'cli_session_uses', 'vault_uses'],
  ...['usage_counts', 'attempts', 'sync_changes', 'jobs'],
  ...['audit_sealing', 'audit_trees', 'audit_leaves', 'audit_nodes', 'export_signing_keys'],
]

/** Every table of Skerry's own schema. A partitioned table is listed without its partitions. */
export async function tablesOf({ server }: World): Promise<string[]> {
  const rows = await server.context.db.rows<{ relname: string }>(
    `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
        and not relispartition order by relname`,
  )
  return rows.map((row) => row.relname)
}

/** Every column of every row of every table, including those of the job queue, as text. */
export async function tableDump({ server }: World): Promise<Place[]> {
  const { db } = server.context
  const tables = await db.rows<{ name: string }>(
    `select format('%I.%I', nspname, relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where relkind in ('r', 'm') and nspname not in ('pg_catalog', 'information_schema') and nspname !~ '^pg_toast'`,
  )
  const places: Place[] = []
  for (const { name } of tables) {
    const rows = await db.rows<{ text: string }>(`select t::text as text from ${name} t`)
    places.push({ where: `table ${name}`, text: rows.map((row) => row.text).join('\n') })
  }
  return places
}

export type State = Record<string, { rows: number; digest: string }>

/** Row count and content of every table, so that "nothing changed" means every column of every row. */
export async function stateOf(world: World): Promise<State> {
  const tables = (await tablesOf(world)).filter((table) => !notesOfUse.includes(table))
  const each = await world.server.context.db.rows<{ name: string; rows: number; digest: string | null }>(
    tables
      .map(
        (table) =>
          `select '${table}' as name, count(*) as rows, md5(string_agg(t::text, chr(10) order by t::text)) as digest
             from ${table} t`,
      )
      .join(' union all '),
  )
  return Object.fromEntries(each.map(({ name, rows, digest }) => [name, { rows, digest: digest ?? '' }]))
}

export interface AuditRow {
  orgId: string | null
  id: string
  action: string
  actorType: string
  actorId: string | null
  resourceType: string
  resourceId: string | null
  metadata: Record<string, unknown>
  ipAddress: string | null
  userAgent: string | null
  requestId: string | null
}

/** The audit entries of all organizations, as stored. */
export const auditRows = ({ server }: World): Promise<AuditRow[]> =>
  server.context.db.rows<AuditRow>(`select ${entryColumns} from audit_entries order by created_at, id`)

/** Returns the audit entries that `work` adds. */
export async function newEntries({ server }: World, work: () => Promise<unknown>): Promise<AuditRow[]> {
  const { db } = server.context
  const before = await db.rows<{ id: string }>('select id from audit_entries')
  await work()
  const added = `select ${entryColumns} from audit_entries where id <> all($1) order by created_at, id`
  return db.rows<AuditRow>(added, [before.map(({ id }) => id)])
}

/** Stops all scheduled jobs of the server, so that a suite causes every change that it sees. */
export const stopSchedules = ({ server }: World): Promise<void> => stopScheduled(server.context.db, jobs)

/**
 * Waits until all requested mails have been written, including those that wait a minute for others of their kind. The
 * job that writes an invitation also stores its link.
 */
export const mailsWritten = ({ server }: World) =>
  until('mails are written', async () => {
    const { db, queue } = server.context
    const waiting = `select 1 from jobs where (state = 'active' or state = 'waiting' and attempts = 0)`
    // The minute of a mail ends only when no event is left that may add to it.
    await db.rows(`update jobs set due_at = now() where name = 'mail.gather' and state = 'waiting'
                      and not exists (${waiting} and name like 'events.%')`)
    for (const job of jobs) queue.nudge(job)
    const mails = `${waiting} and (name like 'events.%' or name in ('mail', 'mail.gather', 'sign_in.link'))`
    return (await db.row(mails)) === undefined
  })
