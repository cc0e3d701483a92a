import type { KmsVersion } from '@skerry/contract/kms/schemas'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import type { Principal } from '../../kernel/principal.ts'
import type { Org } from '../orgs/scope.ts'
import { keyLifecycle, type State, type Trigger } from './lifecycle.ts'
import { type KmsKey, kmsKeyColumns } from './scope.ts'

/** Lists the keys that `holder` holds, or all keys if it is null. */
export const listKeys = (db: Sql, org: Org, holder: Principal | null, { at, id, take }: KeysetCursor) =>
  db.rows<KmsKey>(
    `select ${kmsKeyColumns} from kms_keys k
      where k.org_id = $1 and k.deleted_at is null
        and ($2::text is null or exists (
          select from kms_grants g
           where g.org_id = k.org_id and g.key_id = k.id and g.principal_type = $2 and g.principal_id = $3))
        and ($4::timestamptz is null or (k.created_at, k.id) > ($4, $5))
      order by k.created_at, k.id limit $6`,
    [org.id, holder?.type ?? null, holder?.id ?? null, at, id, take],
  )

/** True if the organization has the row, which is then locked until commit. */
export const owns = async (db: Tx, org: Org, table: 'applications' | 'groups', id: string): Promise<boolean> =>
  (await db.row(`select 1 from ${table} where org_id = $1 and id = $2 for key share`, [org.id, id])) !== undefined

interface NewKey {
  id: string
  name: string
  purpose: string
  spec: string
  applicationId: string | null
  groupId: string | null
  now: string
}

/** Returns undefined if another key has the name. */
export const insertKey = (db: Tx, org: Org, one: NewKey) =>
  db.row<KmsKey>(
    `insert into kms_keys as k (org_id, id, name, purpose, spec, application_id, group_id, current_version, created_at,
                                updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, 1, $8, $8)
     on conflict (org_id, name) where deleted_at is null do nothing
     returning ${kmsKeyColumns}`,
    [org.id, one.id, one.name, one.purpose, one.spec, one.applicationId, one.groupId, one.now],
  )

/** Returns the current key, locked until commit. */
export const lockKey = (db: Tx, { orgId, id }: KmsKey) =>
  db.row<KmsKey>(
    `select ${kmsKeyColumns} from kms_keys k where k.org_id = $1 and k.id = $2 and k.deleted_at is null for share`,
    [orgId, id],
  )

const state = `case when k.deleted_at is not null then 'deleted' when k.disabled_at is not null then 'disabled'
                    else 'enabled' end`

/** Returns undefined if the key is in a state in which it cannot be rotated. */
export const addVersion = (db: Tx, { orgId, id }: KmsKey, now: string) =>
  db.row<KmsKey>(
    `update kms_keys k set current_version = k.current_version + 1, updated_at = $3
      where k.org_id = $1 and k.id = $2 and ${state} = any($4::text[])
     returning ${kmsKeyColumns}`,
    [orgId, id, now, keyLifecycle.before('rotate', 'enabled')],
  )

/** Inserts the current version. */
export const insertVersion = (
  db: Tx,
  { orgId, id, currentVersion }: KmsKey,
  { publicKeyJwk, now }: { publicKeyJwk: string | null; now: string },
) =>
  db.rows(
    'insert into kms_key_versions (org_id, key_id, version, public_key_jwk, created_at) values ($1, $2, $3, $4, $5)',
    [orgId, id, currentVersion, publicKeyJwk, now],
  )

export const listVersions = (db: Sql, { orgId, id }: KmsKey) =>
  db.rows<Static<typeof KmsVersion>>(
    `select version, public_key_jwk, created_at from kms_key_versions where org_id = $1 and key_id = $2 order by version`,
    [orgId, id],
  )

/** Returns undefined if the key is in a state that does not allow the trigger. */
export const moveKey = (
  db: Tx,
  { orgId, id }: KmsKey,
  { trigger, to, now }: { trigger: Trigger; to: State; now: string },
) =>
  db.row<KmsKey>(
    `update kms_keys k
        set disabled_at = case $3::text when 'enabled' then null when 'disabled' then $4::timestamptz
                                        else k.disabled_at end,
            deleted_at = case when $3 = 'deleted' then $4 end, updated_at = $4
      where k.org_id = $1 and k.id = $2 and ${state} = any($5::text[])
     returning ${kmsKeyColumns}`,
    [orgId, id, to, now, keyLifecycle.before(trigger, to)],
  )
