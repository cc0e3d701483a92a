import { narrowed } from '../../http/access.ts'
import type { Access } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import type { UserPrincipal } from '../../kernel/principal.ts'
import type { InOrg } from '../orgs/scope.ts'

export type InPerson = InOrg & { principal: UserPrincipal }

/** Admits signed-in people only, because presence never shows a token. */
export const inPerson = <S extends InOrg, N extends string>(
  base: Access<S, N>,
): Access<S & { principal: UserPrincipal }, N> =>
  narrowed('inPerson', 'As inside, in person: no service token, no machine client', base, async (scope) => {
    const { principal } = scope
    if (principal.type !== 'user') throw fail('forbidden', 'only a signed-in person may do this')
    return { ...scope, principal }
  })
