import type { Sql, Tx } from '../../../db/database.ts'
import type { KeysetCursor } from '../../../http/page.ts'
import type { Org } from '../../orgs/scope.ts'
import { keyColumns, type PlatformKey, type Project, projectColumns } from './scope.ts'

export const listProjects = (db: Sql, org: Org, { at, id, take }: KeysetCursor) =>
  db.rows<Project>(
    `select ${projectColumns} from vault_projects p
      where p.org_id = $1 and ($2::timestamptz is null or (p.created_at, p.id) > ($2, $3))
      order by p.created_at, p.id limit $4`,
    [org.id, at, id, take],
  )

interface Facts {
  name: string
  display: Project['display']
  now: string
}

export const insertProject = async (db: Tx, org: Org, { id, name, display, now }: Facts & { id: string }) =>
  (await db.row<Project>(
    `insert into vault_projects as p (org_id, id, name, display, status, created_at, updated_at)
     values ($1, $2, $3, $4, 'active', $5, $5) returning ${projectColumns}`,
    [org.id, id, name, JSON.stringify(display), now],
  )) as Project

/** Reads the current project and locks it until commit. Projects are never deleted. */
export const lockProject = async (db: Tx, { orgId, id }: Pick<Project, 'orgId' | 'id'>) =>
  (await db.row<Project>(
    `select ${projectColumns} from vault_projects p where p.org_id = $1 and p.id = $2 for no key update`,
    [orgId, id],
  )) as Project

export const updateProject = async (
  db: Tx,
  { orgId, id }: Project,
  { name, display, status, now }: Facts & { status: string },
) =>
  (await db.row<Project>(
    `update vault_projects p set name = $3, display = $4, status = $5, updated_at = $6
      where p.org_id = $1 and p.id = $2 returning ${projectColumns}`,
    [orgId, id, name, JSON.stringify(display), status, now],
  )) as Project

export const listKeys = (db: Sql, { orgId, id }: Project) =>
  db.rows<PlatformKey>(
    `select ${keyColumns} from vault_keys k where k.org_id = $1 and k.project_id = $2 order by k.created_at, k.id`,
    [orgId, id],
  )

export const insertKey = async (
  db: Tx,
  { orgId, id: projectId }: Project,
  one: { id: string; name: string; keyHash: string; createdById: string; now: string },
) =>
  (await db.row<PlatformKey>(
    `insert into vault_keys as k (org_id, id, project_id, name, key_hash, created_by_id, created_at)
     values ($1, $2, $3, $4, $5, $6, $7) returning ${keyColumns}`,
    [orgId, one.id, projectId, one.name, one.keyHash, one.createdById, one.now],
  )) as PlatformKey

export const revokeKey = async (db: Tx, { orgId, id }: PlatformKey, now: string): Promise<boolean> =>
  (await db.row(
    'update vault_keys set revoked_at = $3 where org_id = $1 and id = $2 and revoked_at is null returning 1',
    [orgId, id, now],
  )) !== undefined

/** Lists the platform keys that a person made and that are not revoked. */
export const listKeysMadeBy = (db: Sql, org: Pick<Org, 'id'>, userId: string) =>
  db.rows<PlatformKey>(
    `select ${keyColumns} from vault_keys k
      where k.org_id = $1 and k.created_by_id = $2 and k.revoked_at is null order by k.created_at, k.id`,
    [org.id, userId],
  )

export const insertRegistrationCode = (
  db: Tx,
  { orgId, id }: Project,
  { codeHash, now, expiresAt }: { codeHash: string; now: string; expiresAt: string },
) =>
  db.rows(
    `insert into vault_registration_codes (org_id, project_id, code_hash, created_at, expires_at)
     values ($1, $2, $3, $4, $5)`,
    [orgId, id, codeHash, now, expiresAt],
  )
