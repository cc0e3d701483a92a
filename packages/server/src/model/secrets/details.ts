import type { SecretDetails } from '@skerry/contract/secret-details/schemas'
import type { Static } from 'typebox'
import type { Tx } from '../../db/database.ts'
import { environmentLabel, labelJoins } from '../environments/label.ts'
import { notExpired, type OfEnvironment } from '../environments/table.ts'

// Statements that change `secret_details`. Lock the environment first, so that changes come one after the other.

export type DetailsRow = Static<typeof SecretDetails>

export const detailsColumns = `environment_id, name, sealed, owner_id, expires_at, not_needed, revision, updated_by_type,
  updated_by_id, updated_at`

export type Noted = Pick<DetailsRow, 'sealed' | 'ownerId' | 'expiresAt' | 'notNeeded'>

/** Replaces the details of a name. Another expiry date begins its reminders anew. */
export async function writeDetails(
  db: Tx,
  env: OfEnvironment,
  name: string,
  noted: Noted,
  { author, now }: { author: { type: string; id: string }; now: string },
): Promise<DetailsRow> {
  const row = await db.row<DetailsRow>(
    `insert into secret_details as d (org_id, environment_id, name, sealed, owner_id, expires_at, not_needed, revision,
                                      updated_by_type, updated_by_id, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, 1, $8, $9, $10)
     on conflict (org_id, environment_id, name) do update
       set sealed = excluded.sealed, owner_id = excluded.owner_id, expires_at = excluded.expires_at,
           not_needed = excluded.not_needed, revision = d.revision + 1, updated_by_type = excluded.updated_by_type,
           updated_by_id = excluded.updated_by_id, updated_at = excluded.updated_at,
           reminders = case when excluded.expires_at is distinct from d.expires_at then 0 else d.reminders end
     returning ${detailsColumns}`,
    [
      env.orgId,
      env.id,
      name,
      noted.sealed,
      noted.ownerId,
      noted.expiresAt,
      noted.notNeeded,
      author.type,
      author.id,
      now,
    ],
  )
  return row as DetailsRow
}

/** Moves the details of a renamed secret to its new name, with the description encrypted anew under it. */
export const renameDetails = (
  db: Tx,
  env: OfEnvironment,
  { name, newName, sealed }: { name: string; newName: string; sealed: string | null },
  { author, now }: { author: { type: string; id: string }; now: string },
) =>
  db.rows(
    `update secret_details
        set name = $4, sealed = $5, revision = revision + 1, updated_by_type = $6, updated_by_id = $7, updated_at = $8
      where org_id = $1 and environment_id = $2 and name = $3`,
    [env.orgId, env.id, name, newName, sealed, author.type, author.id, now],
  )

export const deleteDetails = (db: Tx, env: OfEnvironment, name: string) =>
  db.rows('delete from secret_details where org_id = $1 and environment_id = $2 and name = $3', [
    env.orgId,
    env.id,
    name,
  ])

/** Replaces descriptions after a re-key; null drops one. */
export async function resealDetails(
  db: Tx,
  env: OfEnvironment,
  details: { name: string; sealed: string | null }[],
): Promise<void> {
  await db.rows(
    `update secret_details d set sealed = given.sealed, revision = d.revision + 1
       from unnest($3::text[], $4::text[]) as given(name, sealed)
      where d.org_id = $1 and d.environment_id = $2 and d.name = given.name`,
    [env.orgId, env.id, details.map(({ name }) => name), details.map(({ sealed }) => sealed)],
  )
  await deleteEmpty(db, env)
}

/** Drops every description, because nobody has the key that they were encrypted with. */
export async function dropSealedDetails(db: Tx, env: OfEnvironment): Promise<void> {
  await db.rows(
    `update secret_details set sealed = null, revision = revision + 1
      where org_id = $1 and environment_id = $2 and sealed is not null`,
    [env.orgId, env.id],
  )
  await deleteEmpty(db, env)
}

const deleteEmpty = (db: Tx, env: OfEnvironment) =>
  db.rows(
    `delete from secret_details
      where org_id = $1 and environment_id = $2
        and sealed is null and owner_id is null and expires_at is null and not not_needed`,
    [env.orgId, env.id],
  )

export interface Reminder {
  orgId: string
  environmentId: string
  /** The environment with its application or group, for people. */
  environment: string
  name: string
  ownerId: string | null
  expiresAt: string
  hasExpired: boolean
}

/** Marks some secrets as reminded of: those that expire before `soon`, and once more those that have expired. */
export const takeReminders = (db: Tx, { now, soon, limit }: { now: string; soon: string; limit: number }) =>
  db.rows<Reminder>(
    `with taken as (
       update secret_details d set reminders = case when d.expires_at <= $1 then 2 else 1 end
        where (d.org_id, d.environment_id, d.name) in (
          select o.org_id, o.environment_id, o.name
            from secret_details o
            join secrets s on s.org_id = o.org_id and s.environment_id = o.environment_id and s.name = o.name
            join environments e on e.org_id = o.org_id and e.id = o.environment_id and ${notExpired('$1')}
           where o.expires_at <= $1 and o.reminders < 2 or o.expires_at <= $2 and o.reminders < 1
           order by o.expires_at limit $3 for update of o skip locked)
       returning org_id, environment_id, name, owner_id, expires_at, expires_at <= $1 as has_expired)
     select t.*, ${environmentLabel} as environment
       from taken t join environments e on e.org_id = t.org_id and e.id = t.environment_id ${labelJoins}`,
    [now, soon, limit],
  )
