import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import type { Org } from '../orgs/scope.ts'

type InOrg = Pick<Org, 'id'>

export interface KeyAndShares {
  recoveryPublicKeyJwk: string
  threshold: number
  shares: { userId: string; shareIndex: number; wrappedShare: string }[]
  grants: { environmentId: string; wrappedDek: string }[]
}

/** Returns false if there is one already. */
export const insertRecovery = async (db: Tx, org: InOrg, made: KeyAndShares, now: string): Promise<boolean> =>
  (await db.row(
    `insert into recoveries (org_id, recovery_public_key_jwk, threshold, shares, created_at)
     values ($1, $2, $3, $4, $5) on conflict do nothing returning org_id`,
    [org.id, made.recoveryPublicKeyJwk, made.threshold, made.shares.length, now],
  )) !== undefined

/**
 * Replaces the recovery key, and deletes the old shares and grants. Returns false if recovery was disabled meanwhile.
 */
export async function replaceRecovery(db: Tx, org: InOrg, made: KeyAndShares, now: string): Promise<boolean> {
  const row = await db.row(
    `update recoveries set recovery_public_key_jwk = $2, threshold = $3, shares = $4, rotated_at = $5, last_drill_at = null
      where org_id = $1 returning org_id`,
    [org.id, made.recoveryPublicKeyJwk, made.threshold, made.shares.length, now],
  )
  if (!row) return false
  await db.rows('delete from recovery_custodians where org_id = $1', [org.id])
  await db.rows('delete from recovery_grants where org_id = $1', [org.id])
  return true
}

/** Deletes recovery with its shares and grants. Returns false if somebody else has deleted it. */
export const deleteRecovery = async (db: Tx, org: InOrg): Promise<boolean> =>
  (await db.row('delete from recoveries where org_id = $1 returning org_id', [org.id])) !== undefined

/** Locks the recovery settings against a rotation until commit, and returns them. */
export const lockRecovery = (db: Tx, org: InOrg) =>
  db.row<{ threshold: number; shares: number }>(
    'select threshold, shares from recoveries where org_id = $1 for share',
    [org.id],
  )

/** The same, and other calls that open a request wait until commit. */
export const lockForRequest = (db: Tx, org: InOrg) =>
  db.row<{ threshold: number }>('select threshold from recoveries where org_id = $1 for no key update', [org.id])

export const markDrill = (db: Tx, org: InOrg, now: string) =>
  db.rows('update recoveries set last_drill_at = $2 where org_id = $1', [org.id, now])

/** Returns which of these users are members with keys. None of them leaves or replaces the keys before commit. */
export const lockKeyedMembers = async (db: Tx, org: InOrg, userIds: string[]): Promise<Set<string>> => {
  const rows = await db.rows<{ userId: string }>(
    `select m.user_id from memberships m join users u on u.id = m.user_id
      where m.org_id = $1 and m.user_id = any($2::text[]) and u.public_key_jwk is not null
      order by m.user_id for key share of m for share of u`,
    [org.id, userIds],
  )
  return new Set(rows.map(({ userId }) => userId))
}

export const insertCustodians = (db: Tx, org: InOrg, shares: KeyAndShares['shares']) =>
  db.rows(
    `insert into recovery_custodians (org_id, user_id, share_index, wrapped_share)
     select $1, * from unnest($2::text[], $3::integer[], $4::text[])`,
    [
      org.id,
      shares.map(({ userId }) => userId),
      shares.map(({ shareIndex }) => shareIndex),
      shares.map(({ wrappedShare }) => wrappedShare),
    ],
  )

export const listCustodians = (db: Sql, org: InOrg) =>
  db.rows<{ userId: string; shareIndex: number }>(
    'select user_id, share_index from recovery_custodians where org_id = $1 order by share_index',
    [org.id],
  )

export const deleteCustodian = (db: Tx, org: InOrg, userId: string) =>
  db.row<{ shareIndex: number }>(
    'delete from recovery_custodians where org_id = $1 and user_id = $2 returning share_index',
    [org.id, userId],
  )

/** Lists the organizations of whose recovery key a person holds a share. */
export const listCustodianships = async (db: Sql, userId: string): Promise<string[]> =>
  (
    await db.rows<{ orgId: string }>('select org_id from recovery_custodians where user_id = $1 order by org_id', [
      userId,
    ])
  ).map(({ orgId }) => orgId)

/** Stores wrapped keys. Does nothing if the organization has no recovery. */
export const upsertGrants = (db: Tx, org: InOrg, grants: KeyAndShares['grants'], now: string) =>
  db.rows(
    `insert into recovery_grants (org_id, environment_id, wrapped_dek, created_at)
     select r.org_id, given.*, $4
       from recoveries r, unnest($2::text[], $3::text[]) as given(environment_id, wrapped_dek) where r.org_id = $1
     on conflict (org_id, environment_id) do update set wrapped_dek = excluded.wrapped_dek, created_at = excluded.created_at`,
    [org.id, grants.map(({ environmentId }) => environmentId), grants.map(({ wrappedDek }) => wrappedDek), now],
  )

export const deleteGrantOf = (db: Tx, org: InOrg, environmentId: string) =>
  db.rows('delete from recovery_grants where org_id = $1 and environment_id = $2', [org.id, environmentId])

export const listCoverage = (db: Sql, org: InOrg, now: string) =>
  db.rows<{ id: string; isCovered: boolean }>(
    `select e.id, g.environment_id is not null as is_covered
       from environments e
       left join recovery_grants g on g.org_id = e.org_id and g.environment_id = e.id
      where e.org_id = $1 and (e.expires_at is null or e.expires_at > $2) order by e.created_at, e.id`,
    [org.id, now],
  )

export const listGrants = (db: Sql, org: InOrg, now: string, cursor: KeysetCursor) =>
  db.rows<{ id: string; createdAt: string; wrappedDek: string }>(
    `select e.id, e.created_at, g.wrapped_dek
       from recovery_grants g join environments e on e.org_id = g.org_id and e.id = g.environment_id
      where g.org_id = $1 and (e.expires_at is null or e.expires_at > $2)
        and ($3::timestamptz is null or (e.created_at, e.id) > ($3, $4))
      order by e.created_at, e.id limit $5`,
    [org.id, now, cursor.at, cursor.id, cursor.take],
  )
