import { accessRequests } from '@skerry/contract/access-requests/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { teams } from '@skerry/contract/teams/endpoints'
import { wrappedKey } from './blobs.ts'
import { keeps, known, only, type Step, step, token, user } from './step.ts'
import { newApp, newEnv, newMember, type Tenant } from './tenant.ts'
import type { World } from './world.ts'

/** Steps in which a team gets people and environments, they get its keys, and it ends. */
export async function teaming(world: World, ids: Record<string, string>, tenant: Tenant): Promise<Step[]> {
  const { orgId } = tenant
  const by = { as: tenant.admin.as, who: token(tenant.admin) }
  const member = await newMember(world, tenant)
  const appId = (await newApp(world, tenant)).id
  const envId = (await newEnv(world, tenant, appId)).id
  const own = await world.call(grants.own, { as: by.as, params: { orgId, envId } })
  const keys = await world.call(me.getKeys, { as: member.as })
  const params = only(ids, { teamId: 'teamId' })
  const row = {
    environmentId: envId,
    principalType: 'user',
    principalId: member.id,
    publicKeyJwk: keys.body.publicKeyJwk,
    wrappedDek: wrappedKey(),
    ownWrappedDek: own.body.wrappedDek,
  }
  const resource = known(ids, 'teamId')
  return [
    step(teams.create, 'team.created', by, {
      params: only(ids, {}),
      body: () => ({ name: 'Payments' }),
      resource: keeps(ids, 'teamId', 'team'),
    }),
    step(teams.update, 'team.renamed', by, { params, body: () => ({ name: 'Billing' }), resource }),
    step(teams.addMembers, 'team.member_added', by, { params, body: () => ({ userIds: [member.id] }), resource }),
    step(teams.addEnvironments, 'team.environment_added', by, {
      params,
      body: () => ({ environmentIds: [envId] }),
      resource,
    }),
    step(
      accessRequests.create,
      'access_request.opened',
      { as: member.as, who: user(member) },
      {
        note: 'for what a team gives',
        params: only(ids, {}),
        body: () => ({ environmentIds: [envId] }),
        resource: keeps(ids, 'teamRequestId', 'request'),
      },
    ),
    {
      endpoint: grants.createMany,
      as: () => by.as,
      params: only(ids, {}),
      body: () => ({ grants: [row] }),
      entries: (seen) => [
        {
          action: 'key.granted',
          resourceId: (seen as unknown as { results: { grantId: string }[] }).results[0]?.grantId as string,
          actor: by.who,
        },
        { action: 'access_request.granted', resourceId: ids.teamRequestId as string, actor: by.who },
      ],
    },
    step(teams.removeEnvironment, 'team.environment_removed', by, {
      params: () => ({ ...params(), envId }),
      resource,
    }),
    step(teams.removeMember, 'team.member_removed', by, {
      params: () => ({ ...params(), userId: member.id }),
      resource,
    }),
    step(teams.delete, 'team.deleted', by, { params, resource }),
    step(grants.plan, 'grant.planned', by, {
      params: () => ({ orgId, userId: member.id }),
      body: () => ({ environmentIds: [envId] }),
      resource: () => member.id,
    }),
  ]
}
