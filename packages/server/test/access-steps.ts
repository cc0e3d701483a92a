import { accessRequests } from '@skerry/contract/access-requests/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { wrappedKey } from './blobs.ts'
import { overriding, publicKeyOf } from './override-steps.ts'
import { keeps, known, only, type Step, step, token, user } from './step.ts'
import { newMember, type Tenant } from './tenant.ts'
import type { World } from './world.ts'

/** Steps in which a member asks for access, withdraws, is declined, gets a key that closes the request, and uses the key. */
export async function asking(world: World, ids: Record<string, string>, tenant: Tenant): Promise<Step[]> {
  const member = await newMember(world, tenant)
  const byMember = { as: member.as, who: user(member) }
  const byToken = { as: tenant.admin.as, who: token(tenant.admin) }
  const params = only(ids, {})
  const ask = (key: string) =>
    step(accessRequests.create, 'access_request.opened', byMember, {
      note: key,
      params,
      body: () => ({ environmentIds: [ids.envId as string], reason: 'to fix the checkout' }),
      resource: keeps(ids, key, 'request'),
    })
  const on = (key: string) => ({ params: only(ids, { accessRequestId: key }), resource: known(ids, key) })
  return [
    ask('withdrawnId'),
    step(accessRequests.withdraw, 'access_request.withdrawn', byMember, on('withdrawnId')),
    ask('declinedId'),
    step(accessRequests.decline, 'access_request.declined', byToken, {
      ...on('declinedId'),
      body: () => ({ reason: 'use staging' }),
    }),
    ask('grantedId'),
    {
      endpoint: grants.create,
      note: 'that answers a request',
      as: () => tenant.admin.as,
      params: only(ids, { envId: 'envId' }),
      body: () => ({ principalType: 'user', principalId: member.id, wrappedDek: wrappedKey() }),
      entries: (seen) => [
        { action: 'key.granted', resourceId: keeps(ids, 'askedGrantId', 'grant')(seen), actor: token(tenant.admin) },
        { action: 'access_request.granted', resourceId: ids.grantedId as string, actor: token(tenant.admin) },
      ],
    },
    ...overriding(ids, byMember, await publicKeyOf(world, member)),
  ]
}
