import { type Checked, narrowed } from '../../http/access.ts'
import type { Access } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { findGrant, type GrantRow } from '../../model/grants/table.ts'
import type { InEnv } from '../envs/scope.ts'

export type Grant = Checked<GrantRow>

/** Finds a key grant of the environment. */
export const grant = <S extends InEnv, N extends string>(
  base: Access<S, N>,
): Access<S & { grant: Grant }, N | 'grantId'> =>
  narrowed(
    'grant',
    'The key grant must belong to the environment',
    base,
    async (scope: S, { db, context }, params: Record<N | 'grantId', string>) => {
      const found = await findGrant(db, scope.env, params.grantId, context.now().toISOString())
      if (!found) throw fail('not_found', 'no such grant')
      return { ...scope, grant: found as Grant }
    },
  )
