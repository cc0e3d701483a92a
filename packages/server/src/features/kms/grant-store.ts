import type { Sql, Tx } from '../../db/database.ts'
import type { Principal } from '../../kernel/principal.ts'
import { tokenStands } from '../../model/tokens/table.ts'
import type { Org } from '../orgs/scope.ts'
import type { KmsKey } from './scope.ts'

interface Holder {
  principalType: string
  principalId: string
}

/** Lists the holders who can open a key that is wrapped to them. Locks them until commit. */
export const listUsable = async (db: Tx, org: Org, holders: readonly Holder[], now: string): Promise<Holder[]> => {
  const ids = (type: string) =>
    holders.filter((one) => one.principalType === type).map(({ principalId }) => principalId)
  const people = await db.rows<{ principalId: string }>(
    `select m.user_id as principal_id from memberships m join users u on u.id = m.user_id
      where m.org_id = $1 and m.user_id = any($2::text[]) and u.public_key_jwk is not null
      order by m.user_id for key share of m`,
    [org.id, ids('user')],
  )
  const tokens = await db.rows<{ principalId: string }>(
    `select t.id as principal_id from service_tokens t
      where t.org_id = $1 and t.id = any($2::text[]) and ${tokenStands('$3')}
      order by t.id for share of t`,
    [org.id, ids('service_token'), now],
  )
  return [
    ...people.map((one) => ({ ...one, principalType: 'user' })),
    ...tokens.map((one) => ({ ...one, principalType: 'service_token' })),
  ]
}

/** Inserts grants of the current version, and returns how many. A holder who has one, or is gone, gets none. */
export const insertGrants = async (
  db: Tx,
  key: KmsKey,
  grants: readonly (Holder & { wrappedKey: string })[],
  { by, now }: { by: Principal; now: string },
): Promise<number> =>
  (
    await db.rows(
      `insert into kms_grants (org_id, key_id, version, principal_type, principal_id, wrapped_key, granted_by_type,
                               granted_by_id, created_at)
       select p.org_id, $2, $3, p.type, p.id, g.wrapped_key, $7, $8, $9::timestamptz
         from unnest($4::text[], $5::text[], $6::text[]) as g (type, id, wrapped_key)
         join principals p on p.org_id = $1 and p.type = g.type and p.id = g.id
          for key share of p
       on conflict do nothing
       returning principal_id`,
      [
        key.orgId,
        key.id,
        key.currentVersion,
        grants.map((one) => one.principalType),
        grants.map((one) => one.principalId),
        grants.map((one) => one.wrappedKey),
        by.type,
        by.id,
        now,
      ],
    )
  ).length

export const listOwn = (db: Sql, key: KmsKey, { type, id }: Principal) =>
  db.rows<{ version: number; wrappedKey: string }>(
    `select version, wrapped_key from kms_grants
      where org_id = $1 and key_id = $2 and principal_type = $3 and principal_id = $4 order by version`,
    [key.orgId, key.id, type, id],
  )

export const listGrants = (db: Sql, key: KmsKey) =>
  db.rows<Holder & { versions: number[] }>(
    `select principal_type, principal_id, array_agg(version order by version) as versions from kms_grants
      where org_id = $1 and key_id = $2
      group by principal_type, principal_id order by min(created_at), principal_id`,
    [key.orgId, key.id],
  )

/** Deletes the grants of a holder, and returns their versions. */
export const deleteGrants = async (db: Tx, key: KmsKey, { principalType, principalId }: Holder): Promise<number[]> =>
  (
    await db.rows<{ version: number }>(
      `delete from kms_grants where org_id = $1 and key_id = $2 and principal_type = $3 and principal_id = $4
       returning version`,
      [key.orgId, key.id, principalType, principalId],
    )
  )
    .map(({ version }) => version)
    .sort((a, b) => a - b)

/** Lists the versions that a principal holds of each key, without deleted keys. */
export const listHeld = (db: Tx, org: Pick<Org, 'id'>, { principalType, principalId }: Holder) =>
  db.rows<{ keyId: string; versions: number[] }>(
    `select g.key_id, array_agg(g.version order by g.version) as versions
       from kms_grants g join kms_keys k on k.org_id = g.org_id and k.id = g.key_id
      where g.org_id = $1 and g.principal_type = $2 and g.principal_id = $3 and k.deleted_at is null
      group by g.key_id order by g.key_id`,
    [org.id, principalType, principalId],
  )

/** Deletes the grants of a principal, also of deleted keys. */
export const deleteHeld = (db: Tx, org: Pick<Org, 'id'>, { principalType, principalId }: Holder) =>
  db.rows('delete from kms_grants where org_id = $1 and principal_type = $2 and principal_id = $3', [
    org.id,
    principalType,
    principalId,
  ])
