import { offboardings } from '@skerry/contract/offboardings/endpoints'
import { idOf, only, type Step, step, token } from './step.ts'
import { grantKey, newApp, newEnv, newMember, type Tenant } from './tenant.ts'
import type { World } from './world.ts'

/** Offboards a new member who could read an environment. The first row is that of the environment. */
export async function newOffboarding(world: World, tenant: Tenant, envId: string) {
  const person = await newMember(world, tenant)
  await grantKey(world, tenant, envId, person)
  const { as } = tenant.admin
  const { orgId } = tenant
  const { body } = await world.call(offboardings.start, { as, params: { orgId }, body: { userId: person.id } })
  const offboardingId = body.offboarding.id
  const { rows } = (await world.call(offboardings.rows, { as, params: { orgId, offboardingId } })).body
  return { offboardingId, offboardingRowId: rows[0]?.id as string }
}

/** Steps that offboard a member; and that change a row of another offboarding, and finish it with the row open. */
export async function leaving(world: World, ids: Record<string, string>, tenant: Tenant): Promise<Step[]> {
  const person = await newMember(world, tenant)
  const by = { as: tenant.admin.as, who: token(tenant.admin) }
  const environment = await newEnv(world, tenant, (await newApp(world, tenant)).id)
  const begun = await newOffboarding(world, tenant, environment.id)
  const resource = () => begun.offboardingId
  const params = only({ ...ids, ...begun }, { offboardingId: 'offboardingId' })
  return [
    {
      endpoint: offboardings.start,
      as: () => by.as,
      params: only(ids, {}),
      body: () => ({ userId: person.id }),
      entries: (seen) => [
        { action: 'offboarding.started', resourceId: idOf(seen, 'offboarding'), actor: by.who },
        { action: 'member.removed', resourceId: person.id, actor: by.who },
      ],
    },
    step(offboardings.change, 'offboarding.row_changed', by, {
      params: () => ({ ...params(), offboardingRowId: begun.offboardingRowId }),
      body: () => ({ note: 'on Monday' }),
      resource,
    }),
    step(offboardings.finish, 'offboarding.finished', by, { params, body: () => ({ acceptOpen: true }), resource }),
  ]
}
