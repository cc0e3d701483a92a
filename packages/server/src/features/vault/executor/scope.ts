import type { VaultExecutor as ExecutorRow } from '@skerry/contract/vault/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../../db/database.ts'
import { accessOf, type Checked, narrowed } from '../../../http/access.ts'
import type { Access } from '../../../http/route.ts'
import { fail } from '../../../kernel/errors.ts'
import type { ExecutorPrincipal } from '../../../kernel/principal.ts'
import { connectionOf } from '../connections/scope.ts'

export type Executor = Checked<Static<typeof ExecutorRow> & { orgId: string }>

export interface ByExecutor {
  principal: ExecutorPrincipal
  executor: Executor
}

/** Columns of `vault_executors e`. They include no credential hash. */
export const executorColumns = `e.org_id, e.id, e.project_id, e.origin, e.catalog, e.sdk_version, e.status, e.created_at,
  (select u.last_used_at from vault_uses u where u.org_id = e.org_id and u.id = e.id) as last_seen_at,
  (select jsonb_agg(jsonb_build_object('thumbprint', w.thumbprint, 'current', w.current, 'createdAt',
                      to_char(w.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
                    order by w.current desc, w.created_at desc, w.thumbprint)
     from vault_wrapping_keys w where w.org_id = e.org_id and w.executor_id = e.id) as keys`

export const findActive = (db: Sql, { orgId, id }: { orgId: string; id: string }) =>
  db.row<Executor>(
    `select ${executorColumns} from vault_executors e where e.org_id = $1 and e.project_id = $2 and e.status = 'active'`,
    [orgId, id],
  )

const findExecutor = (db: Sql, { orgId, id }: ExecutorPrincipal) =>
  db.row<Executor>(
    `select ${executorColumns} from vault_executors e where e.org_id = $1 and e.id = $2 and e.status = 'active'`,
    [orgId, id],
  )

/**
 * Identifies an executor by its credential, without reading its row. Releases, its most frequent call, need no more.
 */
export const executorKey = accessOf<{ principal: ExecutorPrincipal }>(
  'executorKey',
  'The active executor of a vault project, with its credential (`skx_`)',
  async ({ principal }) => {
    if (principal?.type !== 'vault_executor') throw fail('unauthorized', 'send the credential of an executor')
    return { principal }
  },
)

/** Counts the call against the rate limit for credentials that an executor reads. */
export const releases = <S extends { principal: ExecutorPrincipal }>(base: Access<S>): Access<S> =>
  narrowed('releases', 'The server limits how often an executor may call this operation', base, async (scope, call) => {
    call.context.limiter.take('vaultRelease', scope.principal.id, call.counted)
    return scope
  })

/** Finds the active executor of a project. An executor that was just disabled is refused like an unknown one. */
export const executor = accessOf<ByExecutor>(
  'executor',
  'The active executor of a vault project, with its credential (`skx_`)',
  async (call) => {
    const { principal } = await executorKey.resolve(call, {})
    const found = await findExecutor(call.db, principal)
    if (!found) throw fail('unauthorized', 'unknown executor')
    return { principal, executor: found }
  },
)

export const connection = connectionOf<ByExecutor>(({ executor: { orgId, projectId } }) => ({ orgId, id: projectId }))
