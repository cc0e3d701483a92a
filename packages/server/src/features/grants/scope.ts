import type { KeyGrant } from '@skerry/contract/grants'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import { type Checked, narrowed } from '../../http/access.ts'
import type { Access } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { type Env, grantColumns, type InEnv } from '../envs/scope.ts'

export type Grant = Checked<Static<typeof KeyGrant>>

const findGrant = (db: Sql, env: Env, grantId: string) =>
  db.row<Grant>(`select ${grantColumns} from key_grants where org_id = $1 and environment_id = $2 and id = $3`, [
    env.orgId,
    env.id,
    grantId,
  ])

/** A key grant of the environment. */
export const grant = <S extends InEnv, N extends string>(
  base: Access<S, N>,
): Access<S & { grant: Grant }, N | 'grantId'> =>
  narrowed(
    'grant',
    'As inside; the key grant is one on the environment',
    base,
    async (scope: S, { db }, params: Record<N | 'grantId', string>) => {
      const found = await findGrant(db, scope.env, params.grantId)
      if (!found) throw fail('not_found', 'no such grant')
      return { ...scope, grant: found }
    },
  )
