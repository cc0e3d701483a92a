import { accessRequests } from '@skerry/contract/access-requests/endpoints'
import { apps } from '@skerry/contract/apps/endpoints'
import { branches } from '@skerry/contract/branches/endpoints'
import { protection } from '@skerry/contract/changes/endpoints'
import { composition, groups } from '@skerry/contract/groups/endpoints'
import { honeyTokens } from '@skerry/contract/honey-tokens/endpoints'
import { leases } from '@skerry/contract/leases/endpoints'
import { logSink } from '@skerry/contract/log-sink/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { invites, members } from '@skerry/contract/members/endpoints'
import { orgs } from '@skerry/contract/orgs/endpoints'
import { secretDetails } from '@skerry/contract/secret-details/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { sync } from '@skerry/contract/sync/endpoints'
import { teams } from '@skerry/contract/teams/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { vaultProjects } from '@skerry/contract/vault/projects'
import { vaultWebhooks } from '@skerry/contract/vault/webhooks'
import { sealDetails } from '@skerry/crypto/details'
import { importDek, newDek, sealSecret } from '@skerry/crypto/secret'
import { newToken } from '@skerry/crypto/token'
import { wrapKey } from '@skerry/crypto/wrap'
import { newSshLease, sshTarget } from '../../server/test/lease-steps.ts'
import { sinkBody } from '../../server/test/log-sink-steps.ts'
import { newRotation, wrappedForRotator } from '../../server/test/rotation-steps.ts'
import type { AppPlatform } from '../../server/test/services/app-platform.ts'
import { bind, connectionBody, runNow, type Vaulted } from '../../server/test/sync-scene.ts'
import type { Tenant } from '../../server/test/tenant.ts'
import { until } from '../../server/test/until.ts'
import {
  newCode,
  newConnection,
  newExecutor,
  newPlatformKey,
  returnOrigin,
  sent,
  webhookBody,
} from '../../server/test/vault-scene.ts'
import type { World } from '../../server/test/world.ts'
import { fillAgents, type Signer } from './fill-agents.ts'
import { joins, type Place, putSecret } from './org-steps.ts'
import type { Team } from './teams.ts'

/** The IDs of a team's objects, for addresses of pages. */
export interface Filled {
  team: Team
  orgId: string
  envId: string
  branchId: string
  crewId: string
  projectId: string
  changeId: string
}

/** Creates all objects of a team through the API, as another client of the person at the browser. */
export async function fillOrg(world: World, platform: AppPlatform, as: () => string, team: Team): Promise<Filled> {
  const made = await world.call(orgs.create, { as: as(), body: team.org })
  const orgId = made.body.org.id
  const { body: app } = await world.call(apps.create, { as: as(), params: { orgId }, body: team.app })
  const { body: group } = await world.call(groups.create, { as: as(), params: { orgId }, body: team.group })
  const places: Place[] = []
  for (const env of team.envs) {
    const newEnv = await sealedKey(world, as())
    const params = { orgId, appId: app.app.id }
    const { body } = await world.call(apps.createEnv, {
      as: as(),
      params,
      body: { ...env, wrappedDek: newEnv.wrappedDek },
    })
    places.push({ orgId, envId: body.environment.id, dek: newEnv.dek, raw: newEnv.raw })
  }
  const [production] = places as [Place]
  const shared = await fillGroup(world, as(), team, { orgId, groupId: group.group.id }, production)
  await fillSecrets(world, as(), team, places)
  const branchId = await fork(world, as(), team, production)
  const signer = await bringPeople(world, as, team, places)
  const crewId = await makeCrew(world, as(), team, places)
  await makeTokens(world, as(), team, production)
  await automate(world, as(), team, production)
  await syncTo(world, platform, as(), team, [production, shared])
  await fillAgents(world, as(), signer, team, production)
  const projectId = await connectAccounts(world, as(), team, orgId)
  await setSink(world, as(), orgId)
  const changeId = await propose(world, as(), team, production)
  return { team, orgId, envId: production.envId, branchId, crewId, projectId, changeId }
}

/** Sets a log sink at an address that the server of a test may not reach, so that nothing is sent. */
const setSink = (world: World, as: string, orgId: string) =>
  world.call(logSink.set, { as, params: { orgId }, body: sinkBody() })

/** Creates the key of a new environment, wrapped to the person. */
async function sealedKey(world: World, as: string) {
  const { body: own } = await world.call(me.get, { as })
  const raw = newDek()
  return { raw, dek: await importDek(raw), wrappedDek: await wrapKey(raw, own.user?.publicKeyJwk as string) }
}

async function fillGroup(
  world: World,
  as: string,
  { envs, shared }: Team,
  params: { orgId: string; groupId: string },
  into: Place,
): Promise<Place> {
  const { raw, dek, wrappedDek } = await sealedKey(world, as)
  const { body } = await world.call(groups.createEnv, { as, params, body: { ...envs[0], wrappedDek } })
  const place = { orgId: params.orgId, envId: body.environment.id, dek, raw }
  for (const [name, value] of Object.entries(shared)) await putSecret(world, as, place, name, value)
  await world.call(composition.set, {
    as,
    params: { orgId: into.orgId, envId: into.envId },
    body: { groupId: params.groupId },
  })
  return place
}

async function fillSecrets(world: World, as: string, team: Team, places: Place[]) {
  for (const [name, values] of Object.entries(team.secrets))
    for (const [i, value] of values.entries())
      if (value !== null) await putSecret(world, as, places[i] as Place, name, value)
  const { orgId, envId, dek } = places.at(-1) as Place
  const ciphertext = await sealSecret('moved', dek, envId, 'ELSEWHERE')
  await world.call(secrets.put, { as, params: { orgId, envId, name: team.moved }, body: { ciphertext } })
  await describeFirst(world, as, team, places[0] as Place)
}

/** Describes the secret in the first row of the matrix. */
async function describeFirst(world: World, as: string, team: Team, { orgId, envId, dek }: Place) {
  const [name = ''] = Object.keys(team.secrets).sort()
  const text = {
    description: 'Ask the harbour office for a new one.\nIt takes them two days.',
    tags: ['harbour', 'yearly'],
  }
  const body = { sealed: await sealDetails(text, dek, envId, name), expiresAt: '2099-05-04T00:00:00.000Z' }
  await world.call(secretDetails.update, { as, params: { orgId, envId, name }, body })
}

async function fork(world: World, as: string, { branch }: Team, { orgId, envId }: Place): Promise<string> {
  const { wrappedDek } = await sealedKey(world, as)
  const { body } = await world.call(branches.create, { as, params: { orgId, envId }, body: { ...branch, wrappedDek } })
  return body.branch.id
}

/** Adds the people of the team. The last one asks for another environment. Returns the first one, who is an admin. */
async function bringPeople(world: World, as: () => string, team: Team, places: Place[]): Promise<Signer> {
  const [place, another] = places as [Place, Place]
  const params = { orgId: place.orgId }
  const people: Signer[] = []
  for (const { email, role } of team.people) {
    await world.call(invites.create, { as: as(), params, body: { email } })
    const person = await joins(world, as(), place, email)
    await world.call(members.update, { as: as(), params: { ...params, userId: person.id }, body: { role } })
    people.push(person)
  }
  await world.call(invites.create, { as: as(), params, body: { email: team.invited } })
  const request = { environmentIds: [another.envId], reason: 'On call from Monday' }
  await world.call(accessRequests.create, { as: people.at(-1)?.as as string, params, body: request })
  return people[0]!
}

/** Creates a team of all members but the owner. They have the key of the first environment, and wait for the second. */
async function makeCrew(world: World, as: string, { crew }: Team, [first, second]: Place[]): Promise<string> {
  const { orgId, envId } = first as Place
  const { body: all } = await world.call(orgs.members, { as, params: { orgId } })
  const userIds = all.members.filter(({ role }) => role !== 'owner').map(({ userId }) => userId)
  const { body: made } = await world.call(teams.create, { as, params: { orgId }, body: { name: crew } })
  const params = { orgId, teamId: made.team.id }
  await world.call(teams.addMembers, { as, params, body: { userIds } })
  const environmentIds = [envId, (second as Place).envId]
  await world.call(teams.addEnvironments, { as, params, body: { environmentIds } })
  return made.team.id
}

async function makeTokens(world: World, as: string, team: Team, { orgId, envId }: Place) {
  const params = { orgId }
  for (const [i, name] of team.tokens.entries()) {
    const { tokenId, tokenHash, publicKeyJwk } = await newToken('skerry')
    const expiresAt = i === 0 ? new Date(world.clock.now().getTime() + 90 * 86_400_000).toISOString() : null
    const body = { name, tokenId, tokenHash, publicKeyJwk, environmentId: envId, expiresAt }
    await world.call(tokens.create, { as, params, body })
  }
  for (const [i, placement] of team.placements.entries()) {
    const { tokenId, tokenHash, bearer } = await newToken('skerry')
    await world.call(honeyTokens.create, { as, params, body: { tokenId, tokenHash, placement } })
    if (i === 0) await world.call(me.get, { as: `Bearer ${bearer}`, headers: { 'user-agent': 'curl/8.5.0' } })
  }
  await until('a decoy that was tried', async () => {
    const { body } = await world.call(honeyTokens.list, { as, params })
    return body.honeyTokens.some(({ tripCount }) => tripCount > 0) || undefined
  })
}

/** Creates a target with an active lease, and a secret with a rotation. */
async function automate(world: World, as: string, { target: name, rotated }: Team, { orgId, envId, raw }: Place) {
  const tenant = { orgId, admin: { as } } as Tenant
  const body = { ...(await sshTarget(world, tenant)), name }
  const made = await world.call(leases.createTarget, { as, params: { orgId }, body })
  await newSshLease(world, tenant, made.body.target.id, { ttlSeconds: 8 * 3600 })
  const wrappedDek = await wrappedForRotator(world, tenant, raw)
  const policy = {
    environmentId: envId,
    secretName: rotated,
    config: { kind: 'generated' },
    intervalSeconds: 30 * 86_400,
  }
  await newRotation(world, tenant, { ...policy, wrappedDek })
}

/**
 * Creates a connection, and binds the first environment to an app there. One name was written there by somebody else.
 */
async function syncTo(
  world: World,
  platform: AppPlatform,
  as: string,
  { destination, rotated }: Team,
  places: [Place, Place],
) {
  const tenant = { orgId: places[0].orgId, admin: { as } } as Tenant
  const { key, body } = await connectionBody(world, tenant, platform.token, destination)
  await world.call(sync.createConnection, { as, params: { orgId: tenant.orgId }, body })
  const [env, group] = places.map(({ envId, raw }) => ({ id: envId, dek: raw })) as [Vaulted, Vaulted]
  platform.values(destination).set(rotated, 'theirs')
  const binding = await bind(world, tenant, key, [env, group], destination, { exclude: ['LOG_*'] })
  await runNow(world, tenant, binding)
}

/**
 * Creates a vault project with an executor, a webhook and two connections, one of them revoked. Returns the project's
 * ID.
 */
async function connectAccounts(world: World, as: string, { product }: Team, orgId: string): Promise<string> {
  const tenant = { orgId, admin: { as } } as Tenant
  const display = { ...product, returnOrigins: [returnOrigin] }
  const made = await sent(world, vaultProjects.create, { as, params: { orgId }, body: { name: product.name, display } })
  const params = { orgId, projectId: made.project.id }
  const person = { as, id: '' }
  const platform = await newPlatformKey(world, tenant, params.projectId, person)
  const executor = await newExecutor(world, await newCode(world, tenant, params.projectId, person))
  const vault = { tenant, person, projectId: params.projectId, platform, executor }
  await sent(world, vaultWebhooks.create, { as, params, body: webhookBody() })
  await newConnection(world, vault)
  const vaultConnectionId = await newConnection(world, vault, { userRef: 'user-2' })
  await sent(world, vaultProjects.revokeConnection, { as, params: { ...params, vaultConnectionId } })
  return params.projectId
}

/** Protects the first environment, so that later writes wait for approval. Returns the ID of the first change. */
async function propose(world: World, as: string, team: Team, place: Place): Promise<string> {
  const params = { orgId: place.orgId, envId: place.envId }
  await world.call(protection.put, { as, params, body: { requiredApprovals: 1, allowSelfApproval: true } })
  const ids: string[] = []
  for (const { name, value, note } of team.proposals) {
    const { body } = await putSecret(world, as, place, name, value, note)
    if ('queued' in body) ids.push(body.changeRequest.id)
  }
  return ids[0] as string
}
