import { accessOf, narrowed } from '../../../http/access.ts'
import type { Access } from '../../../http/route.ts'
import { fail } from '../../../kernel/errors.ts'
import type { PlatformPrincipal } from '../../../kernel/principal.ts'
import { findSession, type Session } from '../connect/scope.ts'
import { connectionOf, type Place } from '../connections/scope.ts'

export interface ByPlatform {
  principal: PlatformPrincipal
  place: Place
}

export const platformKey = accessOf<ByPlatform>(
  'platformKey',
  'The backend of a product, with a platform key (`skv_`) of its vault project',
  async (call) => {
    const { principal } = call
    if (principal?.type !== 'vault_platform') throw fail('unauthorized', 'send a platform key')
    return { principal, place: { orgId: principal.orgId, id: principal.projectId } }
  },
)

export const connection = connectionOf<ByPlatform>(({ place }) => place)

export const session = <N extends string>(
  base: Access<ByPlatform, N>,
): Access<ByPlatform & { session: Session }, N | 'connectSessionId'> =>
  narrowed(
    'session',
    'The connect session must belong to the project',
    base,
    async (scope, { db, context }, { connectSessionId }: Record<N | 'connectSessionId', string>) => {
      const found = await findSession(db, scope.place, connectSessionId, context.now().toISOString())
      if (!found) throw fail('not_found', 'no such session')
      return { ...scope, session: found }
    },
  )
