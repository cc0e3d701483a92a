import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import type { Origin } from '../../kernel/audit.ts'
import type { Org } from '../orgs/scope.ts'
import { runLifecycle } from './lifecycle.ts'
import type { Binding, Connection, Run } from './scope.ts'

const runColumns = `r.org_id, r.id, r.binding_id, r.connection_id, r.environment_id, r.trigger, r.status, r.pushed, r.deleted,
  r.skipped, r.failures, r.unchanged, r.error, r.started_at, r.finished_at`

export const listRuns = (db: Sql, org: Org, bindingId: string | undefined, { at, id, take }: KeysetCursor) =>
  db.rows<Run>(
    `select ${runColumns} from sync_runs r
      where r.org_id = $1 and ($2::text is null or r.binding_id = $2)
        and ($3::timestamptz is null or (r.started_at, r.id) < ($3, $4))
      order by r.started_at desc, r.id desc limit $5`,
    [org.id, bindingId ?? null, at, id, take],
  )

export const findRun = (db: Sql, orgId: string, runId: string) =>
  db.row<Run>(`select ${runColumns} from sync_runs r where r.org_id = $1 and r.id = $2`, [orgId, runId])

export interface NewRun {
  id: string
  bindingId: string
  connectionId: string
  environmentId: string
  trigger: Run['trigger']
  adopt: readonly string[]
  origin: StoredOrigin
  now: string
}

/**
 * The caller who requested a run, for the audit log. If the server itself starts a run, the actor is the connection.
 */
type StoredOrigin = Pick<Origin, 'ipAddress' | 'userAgent' | 'requestId'> & {
  actor: { type: string; id: string }
}

/** Returns the id of the new run, or of a waiting run of the same binding, which then serves this request too. */
export const insertRun = async (db: Tx, orgId: string, one: NewRun): Promise<string> =>
  (
    (await db.row<{ id: string }>(
      `insert into sync_runs as r (org_id, id, binding_id, connection_id, environment_id, trigger, status, adopt, origin,
                                   pushed, deleted, skipped, failures, unchanged, started_at)
       values ($1, $2, $3, $4, $5, $6, 'running', $7, $8, '[]', '[]', '[]', '[]', 0, $9)
       on conflict (org_id, binding_id) where status = 'running' and taken_at is null
       do update set adopt = r.adopt || excluded.adopt,
                     trigger = case when excluded.trigger = 'request' then excluded.trigger else r.trigger end,
                     origin = case when excluded.trigger = 'request' then excluded.origin else r.origin end
       returning id`,
      [
        orgId,
        one.id,
        one.bindingId,
        one.connectionId,
        one.environmentId,
        one.trigger,
        JSON.stringify(one.adopt),
        JSON.stringify(one.origin),
        one.now,
      ],
    )) as { id: string }
  ).id

export type OpenRun = Run & { adopt: string[]; origin: StoredOrigin; takenAt: string | null }

/** A run that has locked its places, so that no other run writes there. */
export interface TakenRun {
  run: OpenRun
  binding: Binding
  connection: Connection
  /** The time since the last push to one of these places. */
  idleMs: number
}

/** Returns undefined if the run has ended. */
export const lockOpenRun = (db: Tx, orgId: string, runId: string) =>
  db.row<OpenRun>(
    `select ${runColumns}, r.adopt, r.origin, r.taken_at from sync_runs r
      where r.org_id = $1 and r.id = $2 and r.status = any($3::text[]) for update`,
    [orgId, runId, runLifecycle.before('take', 'running')],
  )

export const takeRun = (db: Tx, orgId: string, runId: string, now: string) =>
  db.rows('update sync_runs set taken_at = $3 where org_id = $1 and id = $2', [orgId, runId, now])

export const deleteRun = (db: Tx, orgId: string, runId: string) =>
  db.rows('delete from sync_runs where org_id = $1 and id = $2', [orgId, runId])

/** A place becomes free this long after its server last renewed it. */
export const heldSeconds = 10

/**
 * Locks the places in one statement, and returns fewer of them if another run has locked some. It uses the database’s
 * clock, which all servers share.
 */
export const holdPlaces = (db: Tx, orgId: string, places: readonly string[], runId: string) =>
  db.rows<{ idleMs: number | null }>(
    `insert into sync_places as p (org_id, place, run_id, held_until)
     select $1, place, $3, clock_timestamp() + make_interval(secs => $4)
       from unnest($2::text[]) as given(place) order by place
     on conflict (org_id, place) do update set run_id = excluded.run_id, held_until = excluded.held_until
       where p.held_until is null or p.held_until < clock_timestamp()
     returning (extract(epoch from clock_timestamp() - p.last_pushed_at) * 1000)::float8 as idle_ms`,
    [orgId, places, runId, heldSeconds],
  )

/** Returns how many places the run still has. */
export const renewPlaces = async (db: Sql, orgId: string, runId: string): Promise<number> =>
  (
    await db.rows(
      `update sync_places set held_until = clock_timestamp() + make_interval(secs => $3)
        where org_id = $1 and run_id = $2 and held_until is not null returning 1`,
      [orgId, runId, heldSeconds],
    )
  ).length

/** Starts the pause after a push `sparedMs` early: a push of a few names needs a shorter pause than a full one. */
export const notePushed = (db: Tx, orgId: string, runId: string, sparedMs: number) =>
  db.rows(
    `update sync_places set last_pushed_at = clock_timestamp() - make_interval(secs => $3::float8 / 1000)
      where org_id = $1 and run_id = $2`,
    [orgId, runId, sparedMs],
  )

export const freePlaces = (db: Tx, orgId: string, runId: string) =>
  db.rows('update sync_places set run_id = null, held_until = null where org_id = $1 and run_id = $2', [orgId, runId])

/** Frees all places at the start of an embedded database, because its only server had stopped. */
export const freeAllPlaces = (db: Sql) => db.rows('update sync_places set run_id = null, held_until = null')

export const recordProgress = (
  db: Tx,
  { orgId, id }: Pick<Run, 'orgId' | 'id'>,
  done: { pushed: readonly string[]; deleted: readonly string[] },
) =>
  db.rows(
    'update sync_runs set pushed = pushed || $3::jsonb, deleted = deleted || $4::jsonb where org_id = $1 and id = $2',
    [orgId, id, JSON.stringify(done.pushed), JSON.stringify(done.deleted)],
  )

/** Returns undefined if the run had already ended. */
export const finishRun = (
  db: Tx,
  { orgId, id }: Pick<Run, 'orgId' | 'id'>,
  end: Pick<Run, 'status' | 'skipped' | 'failures' | 'unchanged' | 'error'> & { now: string },
) =>
  db.row<Run>(
    `update sync_runs r set status = $3, failures = $4, unchanged = $5, error = $6, finished_at = $7, skipped = $9
      where r.org_id = $1 and r.id = $2 and r.status = any($8::text[]) returning ${runColumns}`,
    [
      orgId,
      id,
      end.status,
      JSON.stringify(end.failures),
      end.unchanged,
      end.error,
      end.now,
      runLifecycle.before('finish', end.status),
      JSON.stringify(end.skipped),
    ],
  )

export interface Noted {
  failureStreak: number
  /** What admins were last mailed about. */
  told: 'credential' | 'failure' | null
  /** Whether admins were mailed about the credential for another binding of the connection. */
  toldElsewhere: boolean
}

export const recordTold = (db: Tx, orgId: string, bindingId: string, told: Noted['told']) =>
  db.rows('update sync_bindings set told = $3 where org_id = $1 and id = $2', [orgId, bindingId, told])

/**
 * Records the pause that a destination asked for, even if the settings of the binding were changed during the run. If the
 * binding got another destination, or its connection another credential, the pause is not about them.
 */
export const recordPause = (
  db: Tx,
  { orgId, id, destination }: Pick<Binding, 'orgId' | 'id' | 'destination'>,
  { wrappedCredential }: Pick<Connection, 'wrappedCredential'>,
  askedUntil: string | null,
) =>
  db.rows(
    `update sync_bindings b set asked_until = $3
       from sync_connections c
      where b.org_id = $1 and b.id = $2 and b.destination = $4::jsonb
        and c.org_id = b.org_id and c.id = b.connection_id and c.wrapped_credential = $5`,
    [orgId, id, askedUntil, JSON.stringify(destination), wrappedCredential],
  )

/** Records the results of a run that the next run needs. */
export const recordOutcome = (
  db: Tx,
  orgId: string,
  { id, revision }: { id: string; revision: number },
  outcome: { takenDigest: string | null; failed: boolean; lastError: string | null; nextTryAt: string | null },
) =>
  db.row<Noted>(
    `update sync_bindings
        set taken_digest = $4, failure_streak = case when $5 then failure_streak + 1 else 0 end, last_error = $6,
            next_try_at = $7
      where org_id = $1 and id = $2 and revision = $3
     returning failure_streak, told,
       exists (select from sync_bindings o where o.org_id = sync_bindings.org_id and o.id <> sync_bindings.id
                  and o.connection_id = sync_bindings.connection_id and o.told = 'credential') as told_elsewhere`,
    [orgId, id, revision, outcome.takenDigest, outcome.failed, outcome.lastError, outcome.nextTryAt],
  )

/** Lists runs that no server works on any more, because their places have expired or belong to another run. */
export const listCutOff = (db: Sql) =>
  db.rows<{ orgId: string; id: string }>(
    `select r.org_id, r.id from sync_runs r
      where r.status = 'running' and r.taken_at is not null
        and not exists (select from sync_places p where p.org_id = r.org_id and p.run_id = r.id
                           and p.held_until > clock_timestamp())`,
  )

export const listWaiting = (db: Sql) =>
  db.rows<{ orgId: string; id: string }>(
    `select org_id, id from sync_runs where status = 'running' and taken_at is null`,
  )

/** Runs that wait for a place that this run was using. */
export const listWaitingFor = (db: Sql, orgId: string, runId: string) =>
  db.rows<{ id: string }>(
    `select w.id from sync_runs r
       join sync_bindings b on b.org_id = r.org_id and b.id = r.binding_id
       join sync_bindings o on o.org_id = b.org_id and o.places && b.places
       join sync_runs w on w.org_id = o.org_id and w.binding_id = o.id
      where r.org_id = $1 and r.id = $2 and w.status = 'running' and w.taken_at is null`,
    [orgId, runId],
  )

export const deleteOldRuns = (db: Sql, before: string) =>
  db.rows(`delete from sync_runs where finished_at < $1`, [before])
