import { kms } from '@skerry/contract/kms/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { members } from '@skerry/contract/members/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { publicKeyJwk, sealedPrivateKey, wrappedKey } from './blobs.ts'
import { keeps, known, only, type Step, step, token, user } from './step.ts'
import { type Actor, newMember, newToken, type Tenant } from './tenant.ts'
import type { World } from './world.ts'

/** A grant with a random wrapped key, of which the server checks only the form. */
export const kmsGrant = ({ id }: Pick<Actor, 'id'>, more: object = {}) => ({
  principalType: id.startsWith('usr_') ? ('user' as const) : ('service_token' as const),
  principalId: id,
  wrappedKey: wrappedKey(),
  ...more,
})

export const encryptKey = (grantees: Pick<Actor, 'id'>[], more: object = {}) => ({
  name: 'billing',
  purpose: 'encrypt' as const,
  spec: 'aes-256-gcm' as const,
  grants: grantees.map((one) => kmsGrant(one)),
  ...more,
})

export const signKey = (grantees: Pick<Actor, 'id'>[], more: object = {}) => ({
  name: 'releases',
  purpose: 'sign' as const,
  spec: 'ecdsa-p256-sha256' as const,
  publicKeyJwk: publicKeyJwk(),
  grants: grantees.map((one) => kmsGrant(one)),
  ...more,
})

export async function newKmsKey(world: World, { orgId, admin }: Tenant, body: Record<string, unknown>) {
  const answer = await world.call(kms.create, { as: admin.as, params: { orgId }, body })
  if (answer.status !== 201) throw new Error(answer.error?.message)
  return answer.body.key
}

/** Steps that create, use and delete a managed key. Before the end two holders leave and one replaces the key pair. */
export async function keeping(
  world: World,
  ids: Record<string, string>,
  tenant: Tenant,
  admin: Actor,
): Promise<Step[]> {
  const byToken = { as: tenant.admin.as, who: token(tenant.admin) }
  const byPerson = { as: admin.as, who: user(admin) }
  const [leaver, leaving] = [await newMember(world, tenant), await newToken(world, tenant)]
  const forgetter = await newMember(world, tenant)
  const params = only(ids, { kmsKeyId: 'kmsKeyId' })
  const ofToken = { params: () => ({ ...only(ids, {})(), tokenId: leaving.id }), resource: () => leaving.id }
  const ofMember = { params: () => ({ ...only(ids, {})(), userId: leaver.id }), resource: () => leaver.id }
  const resource = known(ids, 'kmsKeyId')
  const withGrant = (gone: Step): Step => ({
    ...gone,
    note: 'that holds a managed key',
    entries: (seen) => [
      ...gone.entries(seen),
      { action: 'kms_grant.revoked', resourceId: ids.kmsKeyId as string, actor: token(tenant.admin) },
    ],
  })
  return [
    step(kms.create, 'kms_key.created', byToken, {
      params: only(ids, {}),
      body: () => encryptKey([tenant.admin, leaver, leaving, forgetter]),
      resource: keeps(ids, 'kmsKeyId', 'key'),
    }),
    step(kms.grant, 'kms_grant.created', byToken, { params, body: () => kmsGrant(admin), resource }),
    step(kms.rotate, 'kms_key.rotated', byPerson, {
      params,
      body: () => ({ grants: [kmsGrant(tenant.admin)] }),
      resource,
    }),
    step(kms.disable, 'kms_key.disabled', byPerson, { params, resource }),
    step(kms.enable, 'kms_key.enabled', byToken, { params, resource }),
    step(kms.revoke, 'kms_grant.revoked', byPerson, {
      params,
      query: () => ({ principalType: 'user', principalId: admin.id }),
      resource,
    }),
    {
      endpoint: me.replaceKeys,
      note: 'of a person who holds a managed key',
      as: () => forgetter.as,
      body: () => ({ publicKeyJwk: publicKeyJwk(), encryptedPrivateKey: sealedPrivateKey() }),
      entries: () => [
        { action: 'user.keys_replaced', resourceId: forgetter.id, actor: user(forgetter) },
        { action: 'kms_grant.revoked', resourceId: ids.kmsKeyId as string, actor: user(forgetter) },
      ],
    },
    withGrant(step(members.remove, 'member.removed', byToken, ofMember)),
    step(tokens.revoke, 'token.revoked', byToken, { ...ofToken, note: 'that holds a managed key' }),
    withGrant(step(tokens.delete, 'token.deleted', byToken, ofToken)),
    step(kms.delete, 'kms_key.deleted', byToken, { params, resource }),
  ]
}
