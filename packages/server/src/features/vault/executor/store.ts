import type { Tx } from '../../../db/database.ts'
import type { Project } from '../projects/scope.ts'
import type { Catalog } from './catalog.ts'
import { type Executor, executorColumns } from './scope.ts'

/** Returns undefined if the code is unknown, used or expired. */
export const spendCode = (db: Tx, codeHash: string, now: string) =>
  db.row<{ orgId: string; projectId: string }>(
    `update vault_registration_codes set used_at = $2 where code_hash = $1 and used_at is null and expires_at > $2
     returning org_id, project_id`,
    [codeHash, now],
  )

/** Returns undefined if the project already has an active executor. */
export const insertExecutor = (
  db: Tx,
  { orgId, id: projectId }: Project,
  one: { id: string; origin: string; catalog: Catalog; sdkVersion: string; credentialHash: string; now: string },
) =>
  db.row(
    `insert into vault_executors (org_id, id, project_id, origin, catalog, sdk_version, credential_hash, status,
                                  created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, 'active', $8, $8)
     on conflict (org_id, project_id) where status = 'active' do nothing returning 1`,
    [orgId, one.id, projectId, one.origin, JSON.stringify(one.catalog), one.sdkVersion, one.credentialHash, one.now],
  )

/** Gives the active executor a new credential and ends the old one. Returns undefined if it was disabled meanwhile. */
export const renewExecutor = (
  db: Tx,
  { orgId, id }: Executor,
  one: { origin: string; catalog: Catalog; sdkVersion: string; credentialHash: string; now: string },
) =>
  db.row(
    `update vault_executors set origin = $3, catalog = $4, sdk_version = $5, credential_hash = $6, updated_at = $7
      where org_id = $1 and id = $2 and status = 'active' returning 1`,
    [orgId, id, one.origin, JSON.stringify(one.catalog), one.sdkVersion, one.credentialHash, one.now],
  )

/** Stores the key and makes it the current one. */
export async function putKey(
  db: Tx,
  { orgId, id }: { orgId: string; id: string },
  { thumbprint, jwk, now }: { thumbprint: string; jwk: object; now: string },
): Promise<void> {
  await db.rows(
    'update vault_wrapping_keys set current = false where org_id = $1 and executor_id = $2 and thumbprint <> $3 and current',
    [orgId, id, thumbprint],
  )
  await db.rows(
    `insert into vault_wrapping_keys (org_id, executor_id, thumbprint, jwk, current, created_at)
     values ($1, $2, $3, $4, true, $5)
     on conflict (org_id, executor_id, thumbprint) do update set current = true`,
    [orgId, id, thumbprint, JSON.stringify(jwk), now],
  )
}

export const updateCatalog = (
  db: Tx,
  { orgId, id }: Executor,
  { catalog, sdkVersion, now }: { catalog: Catalog; sdkVersion: string; now: string },
) =>
  db.rows('update vault_executors set catalog = $3, sdk_version = $4, updated_at = $5 where org_id = $1 and id = $2', [
    orgId,
    id,
    JSON.stringify(catalog),
    sdkVersion,
    now,
  ])

/** Returns undefined if another request changed the status meanwhile. */
export const moveExecutor = (db: Tx, { orgId, id, status: from }: Executor, to: string, now: string) =>
  db.row<Executor>(
    `update vault_executors e set status = $4, updated_at = $5 where e.org_id = $1 and e.id = $2 and e.status = $3
     returning ${executorColumns}`,
    [orgId, id, from, to, now],
  )
