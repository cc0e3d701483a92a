import { overrides } from '@skerry/contract/overrides/endpoints'
import { sealedOverride, wrappedKey } from './blobs.ts'
import { idOf, known, only, type Step, step } from './step.ts'
import { grantKey, newMember, type Tenant } from './tenant.ts'
import type { World } from './world.ts'

export const newOverride = (bytes?: number) => ({ wrappedKey: wrappedKey(), ciphertext: sealedOverride(bytes) })

/** Makes a member who holds the key of the environment and has one override there. */
export async function newOverrider(world: World, tenant: Tenant, envId: string) {
  const person = await newMember(world, tenant)
  await grantKey(world, tenant, envId, person)
  const params = { orgId: tenant.orgId, envId }
  const answer = await world.call(overrides.create, { as: person.as, params, body: { ...newOverride(), seen: [] } })
  if (answer.status !== 201) throw new Error(answer.error?.message)
  return { person, override: answer.body.override }
}

/** Steps in which a person who holds the key of the environment stores, replaces and removes an override. */
export function overriding(ids: Record<string, string>, by: { as: string; who: { type: string; id: string } }): Step[] {
  const resource = known(ids, 'envId')
  const params = only(ids, { envId: 'envId', overrideId: 'overrideId' })
  return [
    step(overrides.create, 'override.stored', by, {
      params: only(ids, { envId: 'envId' }),
      body: () => ({ ...newOverride(), seen: [] }),
      resource: (seen) => {
        ids.overrideId = idOf(seen, 'override')
        return resource()
      },
    }),
    step(overrides.replace, 'override.stored', by, {
      params,
      body: () => ({ ...newOverride(), expectedRevision: 1 }),
      resource,
    }),
    step(overrides.delete, 'override.deleted', by, { params, resource }),
  ]
}
