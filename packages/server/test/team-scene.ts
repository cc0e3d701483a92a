import { audit } from '@skerry/contract/audit/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { teams } from '@skerry/contract/teams/endpoints'
import { wrappedKey } from './blobs.ts'
import { openTenant } from './scene.ts'
import { type Actor, newApp, newEnv } from './tenant.ts'

/** An organization with one application, and the calls of teams and of the keys that they give. */
export async function openTeams() {
  const { world, tenant } = await openTenant()
  const { orgId, admin } = tenant
  const appId = (await newApp(world, tenant)).id

  let count = 0
  const newPlace = async () => (await newEnv(world, tenant, appId, `env-${++count}`)).id
  const at = (actor: Pick<Actor, 'as'>, params: Record<string, string> = {}) => ({
    as: actor.as,
    params: { orgId, ...params } as { orgId: string } & Record<string, string>,
  })
  const show = async (teamId: string) => (await world.call(teams.get, { ...at(admin), params: { orgId, teamId } })).body
  const missingOf = async (userId: string, actor: Pick<Actor, 'as'> = admin) =>
    (await world.call(grants.missing, { as: actor.as, params: { orgId }, query: { userId } })).body.missing
  const keyOf = async ({ as }: Pick<Actor, 'as'>) => (await world.call(me.getKeys, { as })).body.publicKeyJwk as string
  const ownKey = async (envId: string, { as }: Pick<Actor, 'as'> = admin) =>
    (await world.call(grants.own, { as, params: { orgId, envId } })).body.wrappedDek

  /** A row of a request that grants the key of an environment to a person. */
  const rowFor = async (environmentId: string, person: Actor, more: { direct?: boolean } = {}) => ({
    environmentId,
    principalType: 'user' as const,
    principalId: person.id,
    wrappedDek: wrappedKey(),
    publicKeyJwk: await keyOf(person),
    ownWrappedDek: await ownKey(environmentId),
    ...more,
  })
  type Row = Awaited<ReturnType<typeof rowFor>>
  const give = async (rows: Row[], actor: Pick<Actor, 'as'> = admin) =>
    await world.call(grants.createMany, { as: actor.as, params: { orgId }, body: { grants: rows } })
  const resultsOf = async (rows: Row[], actor: Pick<Actor, 'as'> = admin) =>
    (await give(rows, actor)).body.results.map(({ result, reason }) => reason ?? result)
  const reads = async (person: Pick<Actor, 'as'>, envId: string) =>
    (await world.call(grants.own, { as: person.as, params: { orgId, envId } })).status === 200
  const trail = async (resourceId: string) => {
    const query = { resourceId }
    const { entries } = (await world.call(audit.list, { as: admin.as, params: { orgId }, query })).body
    return entries.map(({ action, metadata }) => [action, metadata])
  }
  const leave = (teamId: string, userId: string) =>
    world.call(teams.removeMember, { as: admin.as, params: { orgId, teamId, userId } })
  const join = (teamId: string, userIds: string[]) =>
    world.call(teams.addMembers, { as: admin.as, params: { orgId, teamId }, body: { userIds } })
  return {
    world,
    tenant,
    orgId,
    admin,
    newPlace,
    at,
    show,
    missingOf,
    keyOf,
    ownKey,
    rowFor,
    give,
    resultsOf,
    reads,
    trail,
    leave,
    join,
  }
}
