import type { OffboardingRow, Offboarding as OffboardingSchema } from '@skerry/contract/offboardings/schemas'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import { keyedState } from '../../model/environments/keyed.ts'
import { grantInForce } from '../../model/grants/table.ts'
import { actingFor } from '../../model/people/made.ts'
import type { Org } from '../orgs/scope.ts'
import { type Offboarding, offboardingColumns, offboardingCounts } from './scope.ts'
import { rowState } from './state.ts'

export type Revoked = Static<typeof OffboardingSchema>['revoked'][number]
export type Row = Static<typeof OffboardingRow>

interface By {
  type: string
  id: string
}

const withStatus = { running: 'o.finished_at is null', finished: 'o.finished_at is not null', any: 'true' }

export const listOffboardings = (
  db: Sql,
  org: Org,
  { status, now }: { status: keyof typeof withStatus; now: string },
  cursor: KeysetCursor,
) =>
  db.rows<Offboarding>(
    `select ${offboardingColumns} from offboardings o ${offboardingCounts('$2')}
      where o.org_id = $1 and ${withStatus[status]} and ($3::timestamptz is null or (o.started_at, o.id) > ($3, $4))
      order by o.started_at, o.id limit $5`,
    [org.id, now, cursor.at, cursor.id, cursor.take],
  )

export const findRunning = async (db: Sql, org: Org, userId: string): Promise<string | null> =>
  (
    await db.row<{ id: string }>(
      'select id from offboardings where org_id = $1 and user_id = $2 and finished_at is null',
      [org.id, userId],
    )
  )?.id ?? null

/** Returns false if an offboarding of the person is running. A start at the same time waits here for the other one. */
export const insertOffboarding = async (
  db: Tx,
  org: Org,
  one: { id: string; userId: string; email: string | null; name: string | null; by: By; now: string },
): Promise<boolean> =>
  (await db.row(
    `insert into offboardings (org_id, id, user_id, email, name, revoked, started_by_type, started_by_id, started_at)
     values ($1, $2, $3, $4, $5, '[]', $6, $7, $8)
     on conflict (org_id, user_id) where finished_at is null do nothing returning id`,
    [org.id, one.id, one.userId, one.email, one.name, one.by.type, one.by.id, one.now],
  )) !== undefined

export const putRevoked = (db: Tx, org: Org, id: string, revoked: Revoked[]) =>
  db.rows('update offboardings set revoked = $3::jsonb where org_id = $1 and id = $2', [
    org.id,
    id,
    JSON.stringify(revoked),
  ])

export interface NewRow {
  kind: Row['kind']
  state: 'waiting' | 'done'
  environmentId: string | null
  label: string | null
  via: string | null
  secretId: string | null
  secretName: string | null
  baseVersion: number | null
  sharedAt: string | null
}

/** Inserts rows with these ids, which must be in the order in which lists show the rows. */
export const insertRows = (db: Tx, org: Org, offboardingId: string, rows: readonly (NewRow & { id: string })[]) =>
  db.rows(
    `insert into offboarding_rows (org_id, offboarding_id, id, kind, state, environment_id, label, via, secret_id,
                                   secret_name, base_version, shared_at)
     select $1, $2, given.*
       from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
                   $11::integer[], $12::timestamptz[]) as given`,
    [
      org.id,
      offboardingId,
      rows.map(({ id }) => id),
      rows.map(({ kind }) => kind),
      rows.map(({ state }) => state),
      rows.map(({ environmentId }) => environmentId),
      rows.map(({ label }) => label),
      rows.map(({ via }) => via),
      rows.map(({ secretId }) => secretId),
      rows.map(({ secretName }) => secretName),
      rows.map(({ baseVersion }) => baseVersion),
      rows.map(({ sharedAt }) => sharedAt),
    ],
  )

/** Condition on `key_grants k`: the key of the environment of `offboarding_rows r`. */
const ofRow = 'k.org_id = r.org_id and k.environment_id = r.environment_id'

/** The columns of `offboarding_rows r` in the form of the API. */
const rowColumns = (now: `$${number}`, callerType: `$${number}`, callerId: `$${number}`) => `r.id, r.kind,
  ${rowState(now)} as state, r.environment_id, r.label, r.secret_name, r.via, r.note, r.assignee_id, r.changed_by_type,
  r.changed_by_id, r.changed_at,
  exists (select from environments e where e.org_id = r.org_id and e.id = r.environment_id
             and e.required_approvals is not null) as protected,
  (select c.id from change_requests c join environments e on e.org_id = c.org_id and e.id = c.environment_id
    where r.kind = 'rekey' and ${rowState(now)} = 'waiting' and c.org_id = r.org_id
      and c.environment_id = r.environment_id and c.action = 'rekey' and c.status = 'open'
      and c.base_state = ${keyedState(now)}) as change_request_id,
  exists (select from key_grants k where ${ofRow} and k.principal_type = ${callerType} and k.principal_id = ${callerId}
             and ${grantInForce(now)}) as held,
  (select coalesce(jsonb_agg(m.user_id order by m.user_id), '[]')
     from key_grants k join memberships m on m.org_id = k.org_id and m.user_id = k.principal_id
    where r.kind = 'rekey' and ${ofRow} and k.principal_type = 'user' and m.role <> 'member'
      and ${grantInForce(now)}) as holder_ids,
  (select p.id from rotation_policies p where r.kind = 'rotate_value' and p.org_id = r.org_id
      and p.environment_id = r.environment_id and p.secret_name = r.secret_name limit 1) as rotation_id`

interface Reading {
  principal: By
  now: string
}

export const listRows = (
  db: Sql,
  org: Org,
  offboardingId: string,
  { principal, now }: Reading,
  cursor: Pick<KeysetCursor, 'id' | 'take'>,
) =>
  db.rows<Row>(
    `select ${rowColumns('$3', '$4', '$5')} from offboarding_rows r
      where r.org_id = $1 and r.offboarding_id = $2 and ($6::text is null or r.id > $6) order by r.id limit $7`,
    [org.id, offboardingId, now, principal.type, principal.id, cursor.id, cursor.take],
  )

export const findRow = (db: Sql, org: Org, offboardingId: string, rowId: string, { principal, now }: Reading) =>
  db.row<Row>(
    `select ${rowColumns('$3', '$4', '$5')} from offboarding_rows r
      where r.org_id = $1 and r.offboarding_id = $2 and r.id = $6`,
    [org.id, offboardingId, now, principal.type, principal.id, rowId],
  )

/** Locks the offboarding until commit. Returns false if it is finished. */
export const lockRunning = async (db: Tx, org: Org, id: string, lock: 'share' | 'update'): Promise<boolean> =>
  (await db.row(`select 1 from offboardings where org_id = $1 and id = $2 and finished_at is null for ${lock}`, [
    org.id,
    id,
  ])) !== undefined

/** Locks the row until commit, so that changes of different fields at the same time keep each other. */
export const lockRow = async (db: Tx, org: Org, offboardingId: string, rowId: string): Promise<boolean> =>
  (await db.row('select 1 from offboarding_rows where org_id = $1 and offboarding_id = $2 and id = $3 for update', [
    org.id,
    offboardingId,
    rowId,
  ])) !== undefined

export const isAdminInPerson = async (db: Sql, org: Org, userId: string): Promise<boolean> =>
  (await db.row(`select 1 from memberships where org_id = $1 and user_id = $2 and role <> 'member'`, [
    org.id,
    userId,
  ])) !== undefined

export interface Change {
  state: 'waiting' | 'replaced' | 'not_needed' | undefined
  note: string | null
  assigneeId: string | null
}

/**
 * Returns false if the change has no effect. The row of a value that is opened again waits for the next version.
 */
export const changeRow = async (
  db: Tx,
  org: Org,
  rowId: string,
  { state, note, assigneeId }: Change,
  { principal, now }: Reading,
): Promise<boolean> =>
  (await db.row(
    `update offboarding_rows r
        set state = coalesce($3, r.state), note = $4, assignee_id = $5, changed_by_type = $6, changed_by_id = $7,
            changed_at = $8,
            base_version = case when $3 = 'waiting' then coalesce((
              select s.current_version from secrets s where s.org_id = r.org_id and s.id = r.secret_id), r.base_version)
              else r.base_version end
      where r.org_id = $1 and r.id = $2
        and (coalesce($3, ${rowState('$8')}), r.note, r.assignee_id) is distinct from (${rowState('$8')}, $4, $5)
     returning r.id`,
    [org.id, rowId, state ?? null, note, assigneeId, principal.type, principal.id, now],
  )) !== undefined

export const listOpen = (db: Sql, org: Org, offboardingId: string, now: string) =>
  db.rows<{ kind: Row['kind']; label: string | null; rows: number }>(
    `select r.kind, r.label, count(*) as rows from offboarding_rows r
      where r.org_id = $1 and r.offboarding_id = $2 and ${rowState('$3')} = 'waiting'
      group by r.kind, r.label order by r.kind, r.label`,
    [org.id, offboardingId, now],
  )

export const finishOffboarding = (db: Tx, org: Org, id: string, by: By, now: string) =>
  db.rows(
    `update offboardings set finished_by_type = $3, finished_by_id = $4, finished_at = $5 where org_id = $1 and id = $2`,
    [org.id, id, by.type, by.id, now],
  )

/** Condition on `offboarding_rows r`: the principal is neither the person who leaves nor a credential of theirs. */
const byAnother = (type: `$${number}`, id: `$${number}`) => `not exists (
  select from offboardings o
   where o.org_id = r.org_id and o.id = r.offboarding_id
     and (${type}, ${id}::text) in (${actingFor('o.org_id', 'o.user_id')}))`

/** Settles the waiting rows of an environment right before its re-key, which advances each secret by one version. */
export async function settleRekeyed(
  db: Tx,
  env: { orgId: string; id: string },
  principal: By,
  now: string,
): Promise<void> {
  await db.rows(
    `update offboarding_rows r
        set state = 'done', changed_by_type = $3, changed_by_id = $4, changed_at = $5
      where r.org_id = $1 and r.environment_id = $2 and r.state = 'waiting' and r.kind = 'rekey'
        and ${byAnother('$3', '$4')}`,
    [env.orgId, env.id, principal.type, principal.id, now],
  )
  await db.rows(
    `update offboarding_rows r set state = ${rowState('$3')}, base_version = s.current_version + 1
       from secrets s
      where r.org_id = $1 and r.environment_id = $2 and r.state = 'waiting' and r.kind = 'rotate_value'
        and s.org_id = r.org_id and s.id = r.secret_id`,
    [env.orgId, env.id, now],
  )
}
