import { me } from '@skerry/contract/me/endpoints'
import { overrides } from '@skerry/contract/overrides/endpoints'
import { ownWrappedKey, sealedOverride, wrappedKey } from './blobs.ts'
import { idOf, known, only, type Step, step } from './step.ts'
import { type Actor, grantKey, newMember, type Tenant } from './tenant.ts'
import type { World } from './world.ts'

/** An override that is sealed with the key pair of this public key. */
export const newOverride = (publicKeyJwk: string | null | undefined, bytes?: number) => ({
  wrappedKey: publicKeyJwk ? ownWrappedKey(publicKeyJwk) : wrappedKey(),
  ciphertext: sealedOverride(bytes),
})

export const publicKeyOf = async (world: World, { as }: Pick<Actor, 'as'>) =>
  (await world.call(me.getKeys, { as })).body?.publicKeyJwk

/** An override that this person sealed, or a caller without keys. */
export const overrideOf = async (world: World, person: Pick<Actor, 'as'>, bytes?: number) =>
  newOverride(await publicKeyOf(world, person), bytes)

/** Makes a member who holds the key of the environment and has one override there. */
export async function newOverrider(world: World, tenant: Tenant, envId: string) {
  const person = await newMember(world, tenant)
  await grantKey(world, tenant, envId, person)
  const params = { orgId: tenant.orgId, envId }
  const body = { ...(await overrideOf(world, person)), seen: [] }
  const answer = await world.call(overrides.create, { as: person.as, params, body })
  if (answer.status !== 201) throw new Error(answer.error?.message)
  return { person, override: answer.body.override }
}

/** Steps in which a person who holds the key of the environment stores, replaces and removes an override. */
export function overriding(
  ids: Record<string, string>,
  by: { as: string; who: { type: string; id: string } },
  publicKeyJwk: string | null,
): Step[] {
  const resource = known(ids, 'envId')
  const params = only(ids, { envId: 'envId', overrideId: 'overrideId' })
  return [
    step(overrides.create, 'override.stored', by, {
      params: only(ids, { envId: 'envId' }),
      body: () => ({ ...newOverride(publicKeyJwk), seen: [] }),
      resource: (seen) => {
        ids.overrideId = idOf(seen, 'override')
        return resource()
      },
    }),
    step(overrides.replace, 'override.stored', by, {
      params,
      body: () => ({ ...newOverride(publicKeyJwk), expectedRevision: 1 }),
      resource,
    }),
    step(overrides.delete, 'override.deleted', by, { params, resource }),
  ]
}
