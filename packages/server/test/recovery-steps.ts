import { me } from '@skerry/contract/me/endpoints'
import { members } from '@skerry/contract/members/endpoints'
import { recovery, recoveryRequests } from '@skerry/contract/recovery/endpoints'
import { publicKeyJwk, sealedPrivateKey, wrappedKey } from './blobs.ts'
import { keeps, known, only, type Step, step, token, user } from './step.ts'
import { type Actor, newMember, type Tenant } from './tenant.ts'
import type { World } from './world.ts'

/** The body that sets up recovery, with random values in the right form. The server can check only the form. */
export const recoveryBody = (custodians: { id: string }[], threshold: number, environmentIds: string[] = []) => ({
  recoveryPublicKeyJwk: publicKeyJwk(),
  threshold,
  shares: custodians.map(({ id }, index) => ({ userId: id, shareIndex: index + 1, wrappedShare: wrappedKey() })),
  grants: environmentIds.map((environmentId) => ({ environmentId, wrappedDek: wrappedKey() })),
})

export async function setUpRecovery(
  world: World,
  tenant: Tenant,
  custodians: { id: string }[],
  threshold: number,
  environmentIds: string[] = [],
) {
  const body = recoveryBody(custodians, threshold, environmentIds)
  const answer = await world.call(recovery.enable, { as: tenant.admin.as, params: { orgId: tenant.orgId }, body })
  if (answer.status !== 201) throw new Error(answer.error?.message)
  return body
}

/** The public key that a person has uploaded. */
export const keyOf = async (world: World, person: Actor): Promise<string> =>
  (await world.call(me.getKeys, { as: person.as })).body.publicKeyJwk as string

export async function openRequest(world: World, tenant: Tenant, target: Actor) {
  const body = { targetPublicKeyJwk: await keyOf(world, target), targetType: 'user' as const, targetId: target.id }
  const answer = await world.call(recoveryRequests.open, {
    as: tenant.admin.as,
    params: { orgId: tenant.orgId },
    body,
  })
  if (answer.status !== 201) throw new Error(answer.error?.message)
  return answer.body.request
}

/** Steps that enable and disable recovery, with a drill, a request, cancelled requests and custodians who leave. */
export async function recovering(
  world: World,
  ids: Record<string, string>,
  tenant: Tenant,
  admin: Actor,
): Promise<Step[]> {
  const [first, second, leaver, forgetter] = [
    await newMember(world, tenant),
    await newMember(world, tenant),
    await newMember(world, tenant),
    await newMember(world, tenant),
  ] as [Actor, Actor, Actor, Actor]
  const custodians = [first, second, leaver, forgetter]
  const targetKey = await keyOf(world, admin)
  const by = { as: tenant.admin.as, who: token(tenant.admin) }
  const params = only(ids, {})
  const resource = known(ids, 'orgId')
  const inRequest = (key: string) => only(ids, { recoveryRequestId: key })
  const ask = (key: string, body: Record<string, unknown>) =>
    step(recoveryRequests.open, 'recovery_request.opened', by, {
      note: key,
      params,
      body: () => body,
      resource: keeps(ids, key, 'request'),
    })
  const forAdmin = { targetPublicKeyJwk: targetKey, targetType: 'user', targetId: admin.id }
  const contribute = (key: string, custodian: Actor, shareIndex: number) =>
    step(
      recoveryRequests.contribute,
      'recovery_request.share_contributed',
      { as: custodian.as, who: user(custodian) },
      {
        note: `share ${shareIndex} to ${key}`,
        params: inRequest(key),
        body: () => ({ shareIndex, contributedShare: wrappedKey() }),
        resource: known(ids, key),
      },
    )
  const gone = { action: 'recovery.custodian_removed', resourceId: tenant.orgId } as const
  const cancelled = (key: string) => ({
    action: 'recovery_request.cancelled' as const,
    resourceId: ids[key] as string,
    actor: token(tenant.admin),
  })
  const grants = () => [{ environmentId: ids.envId as string, wrappedDek: wrappedKey() }]
  return [
    step(recovery.enable, 'recovery.enabled', by, { params, body: () => recoveryBody(custodians, 2), resource }),
    step(recovery.cover, 'recovery.environments_covered', by, { params, body: () => ({ grants: grants() }), resource }),
    ask('drillId', { targetPublicKeyJwk: publicKeyJwk(), drill: true }),
    contribute('drillId', first, 1),
    contribute('drillId', second, 2),
    step(recoveryRequests.complete, 'recovery.drilled', by, {
      note: 'of a drill',
      params: inRequest('drillId'),
      body: () => ({ grants: [] }),
      resource,
    }),
    ask('recoveryId', forAdmin),
    contribute('recoveryId', first, 1),
    contribute('recoveryId', second, 2),
    step(
      recoveryRequests.complete,
      'recovery_request.completed',
      { as: admin.as, who: user(admin) },
      {
        params: inRequest('recoveryId'),
        body: () => ({ principalType: 'user', principalId: admin.id, grants: grants() }),
        resource: known(ids, 'recoveryId'),
      },
    ),
    ask('unwantedId', forAdmin),
    step(recoveryRequests.cancel, 'recovery_request.cancelled', by, {
      params: inRequest('unwantedId'),
      resource: known(ids, 'unwantedId'),
    }),
    {
      endpoint: members.remove,
      note: 'of a custodian',
      as: () => tenant.admin.as,
      params: () => ({ orgId: tenant.orgId, userId: leaver.id }),
      entries: () => [
        { action: 'member.removed', resourceId: leaver.id, actor: token(tenant.admin) },
        { ...gone, actor: token(tenant.admin) },
      ],
    },
    {
      endpoint: me.replaceKeys,
      note: 'of a custodian',
      as: () => forgetter.as,
      body: () => ({ publicKeyJwk: publicKeyJwk(), encryptedPrivateKey: sealedPrivateKey() }),
      entries: () => [
        { action: 'user.keys_replaced', resourceId: forgetter.id, actor: user(forgetter) },
        { ...gone, actor: user(forgetter) },
      ],
    },
    ask('rotatedAwayId', forAdmin),
    {
      endpoint: recovery.rotate,
      as: () => tenant.admin.as,
      params,
      body: () => recoveryBody([first, second], 2, [ids.envId as string]),
      entries: () => [
        { action: 'recovery.rotated', resourceId: tenant.orgId, actor: token(tenant.admin) },
        cancelled('rotatedAwayId'),
      ],
    },
    ask('disabledAwayId', forAdmin),
    {
      endpoint: recovery.disable,
      as: () => tenant.admin.as,
      params,
      entries: () => [
        { action: 'recovery.disabled', resourceId: tenant.orgId, actor: token(tenant.admin) },
        cancelled('disabledAwayId'),
      ],
    },
  ]
}
