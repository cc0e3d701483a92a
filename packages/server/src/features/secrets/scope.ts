import type { Sql } from '../../db/database.ts'
import { type Checked, narrowed } from '../../http/access.ts'
import type { Access } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { type DeletedRow, deletedColumns } from '../../model/secrets/deleted.ts'
import type { Env, InEnv } from '../envs/scope.ts'

export type Deleted = Checked<DeletedRow>

const findDeleted = (db: Sql, env: Env, secretId: string, now: string) =>
  db.row<Deleted>(
    `select ${deletedColumns} from deleted_secrets
      where org_id = $1 and environment_id = $2 and id = $3 and kept_until > $4`,
    [env.orgId, env.id, secretId, now],
  )

/** Finds a deleted secret. After its time it counts as missing, even before its row is purged. */
export const deletedSecret = <S extends InEnv, N extends string>(
  base: Access<S, N>,
): Access<S & { deleted: Deleted }, N | 'secretId'> =>
  narrowed(
    'deletedSecret',
    'The deleted secret must belong to the environment, and the server must still keep it: the time in `keepFor` of the deletion is not over',
    base,
    async (scope: S, { db, context }, params: Record<N | 'secretId', string>) => {
      const deleted = await findDeleted(db, scope.env, params.secretId, context.now().toISOString())
      if (!deleted) throw fail('not_found', 'no such deleted secret')
      return { ...scope, deleted }
    },
  )
