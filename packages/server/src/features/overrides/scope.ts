import { type Checked, narrowed } from '../../http/access.ts'
import type { Access } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import type { UserPrincipal } from '../../kernel/principal.ts'
import type { InEnv } from '../envs/scope.ts'
import { findOverride, type OverrideRow } from './store.ts'

/** A person in an environment. */
export type InPerson = InEnv & { principal: UserPrincipal }

export type OnOverride = InPerson & { override: Checked<OverrideRow> }

/** Finds an override of the caller. For everyone else it does not exist. */
export const override = <S extends InPerson, N extends string>(
  base: Access<S, N>,
): Access<S & OnOverride, N | 'overrideId'> =>
  narrowed(
    'override',
    'The override must belong to the caller and the environment',
    base,
    async (scope: S, { db }, params: Record<N | 'overrideId', string>) => {
      const found = await findOverride(db, scope.env, scope.principal.id, params.overrideId)
      if (!found) throw fail('not_found', 'no such override')
      return { ...scope, override: found as Checked<OverrideRow> }
    },
  )
