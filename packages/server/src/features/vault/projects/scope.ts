import type { VaultKey as KeyRow, VaultProject as ProjectRow } from '@skerry/contract/vault/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../../db/database.ts'
import { accessOf, browser, type Checked, narrowed } from '../../../http/access.ts'
import type { Access } from '../../../http/route.ts'
import { fail } from '../../../kernel/errors.ts'
import type { UserPrincipal } from '../../../kernel/principal.ts'
import { admin, type InOrg, type Org, within } from '../../orgs/scope.ts'
import { connectionOf } from '../connections/scope.ts'

export type Project = Checked<Static<typeof ProjectRow> & { orgId: string }>
export type PlatformKey = Checked<Static<typeof KeyRow> & { orgId: string }>

export type OnProject = InOrg & { project: Project }
export type OnKey = OnProject & { vaultKey: PlatformKey }

/** Columns of `vault_projects p`. */
export const projectColumns = 'p.org_id, p.id, p.name, p.display, p.status, p.created_at, p.updated_at'

/** Columns of `vault_keys k`. They include no hash. */
export const keyColumns = `k.org_id, k.id, k.project_id, k.name, k.created_by_id, k.created_at, k.revoked_at,
  (select u.last_used_at from vault_uses u where u.org_id = k.org_id and u.id = k.id) as last_used_at`

export const findProject = (db: Sql, org: Pick<Org, 'id'>, projectId: string) =>
  db.row<Project>(`select ${projectColumns} from vault_projects p where p.org_id = $1 and p.id = $2`, [
    org.id,
    projectId,
  ])

const findKey = (db: Sql, { orgId, id }: Project, keyId: string) =>
  db.row<PlatformKey>(
    `select ${keyColumns} from vault_keys k where k.org_id = $1 and k.project_id = $2 and k.id = $3`,
    [orgId, id, keyId],
  )

export const project = within<'project', 'projectId', Project>(
  'project',
  'projectId',
  'The vault project must belong to the organization',
  findProject,
  'vault project',
)

export const connection = connectionOf<OnProject>(({ project }) => project)

export const vaultKey = <S extends OnProject, N extends string>(
  base: Access<S, N>,
): Access<S & OnKey, N | 'vaultKeyId'> =>
  narrowed(
    'vaultKey',
    'The platform key must belong to the project',
    base,
    async (scope: S, { db }, { vaultKeyId }: Record<N | 'vaultKeyId', string>) => {
      const found = await findKey(db, scope.project, vaultKeyId)
      if (!found) throw fail('not_found', 'no such platform key')
      return { ...scope, vaultKey: found }
    },
  )

/** Admits only an admin in person, at a browser: the keys and codes made here let programs act for a product. */
export const browserAdmin = accessOf<InOrg & { principal: UserPrincipal }, 'orgId'>(
  'browserAdmin',
  'An owner or admin in a browser. The server refuses CLI sessions, service tokens and machine clients',
  async (call, params) => {
    const scope = await admin.resolve(call, params)
    return { ...scope, ...(await browser.resolve(call, {})) }
  },
)
