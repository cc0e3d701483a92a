import { accessRequests } from '@skerry/contract/access-requests/endpoints'
import { branches } from '@skerry/contract/branches/endpoints'
import type { Surface } from '@skerry/contract/endpoint'
import { composition } from '@skerry/contract/groups/endpoints'
import { cliSessions } from '@skerry/contract/me/cli-sessions'
import { invites } from '@skerry/contract/members/endpoints'
import { oauth } from '@skerry/contract/oauth/endpoints'
import { orgs } from '@skerry/contract/orgs/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { newId } from '../src/kernel/context.ts'
import { newTask, newWorkingAgent } from './agent-steps.ts'
import { bearerSecret, wrappedKey } from './blobs.ts'
import { newGuarded, proposeRekey } from './guarded.ts'
import { newKmsKey, signKey } from './kms-steps.ts'
import { newSshLease, newSshTarget } from './lease-steps.ts'
import { newOffboarding } from './offboarding-steps.ts'
import { newOverrider } from './override-steps.ts'
import { openRequest, setUpRecovery } from './recovery-steps.ts'
import { generatedRotation, newKeyedEnv, newRotation } from './rotation-steps.ts'
import { startIssuer } from './services/issuer.ts'
import { bind, connect, vaultedEnv } from './sync-scene.ts'
import {
  type Actor,
  askForCliSession,
  deletedSecret,
  grantKey,
  newApp,
  newCliSession,
  newDecoy,
  newEnv,
  newGroup,
  newGroupEnv,
  newMachineClient,
  newMember,
  newPerson,
  newTeam,
  newToken,
  putSecret,
  signUp,
  type Tenant,
} from './tenant.ts'
import { newSurfaces, type Surfaces } from './vault-scene.ts'
import type { World } from './world.ts'

/** Facts about one caller. The suite derives rules from these facts, independently of the committed matrix. */
export interface Caller {
  name: string
  as: string | undefined
  /** unknown: no valid credential. foreign: a valid one of another organization. vault: one of the vault's surfaces. */
  from: 'unknown' | 'foreign' | 'org' | 'vault'
  kind: 'nobody' | 'person' | 'token' | 'machine'
  role: 'none' | 'member' | 'admin'
  granted: boolean
  /** The surface that a vault credential is for. */
  surface?: Surface
  /** Set for a bound token: it is bound to the environment in the paths, or to one of another application. */
  bound?: 'here' | 'elsewhere'
}

/** One organization with one object of each kind that a path can name. */
export interface OneOfEach {
  tenant: Tenant
  params: Record<string, string>
  branchId: string
  /** A person with a share of the recovery key. */
  custodian: Actor
  /** The member whose request for access the path can name. */
  asker: Actor
  /** The member whose override the path can name. */
  overrider: Actor
  vault: Surfaces
}

/** Creates the organization and its objects. `makeCallers` creates the key grants of the callers later. */
export async function makeOneOfEach(world: World): Promise<OneOfEach> {
  const tenant = await signUp(world)
  const { orgId } = tenant
  const as = tenant.admin.as
  const appId = (await newApp(world, tenant)).id
  const envId = (await newEnv(world, tenant, appId)).id
  const groupId = (await newGroup(world, tenant)).id
  await newGroupEnv(world, tenant, groupId)
  await world.call(composition.set, { as, params: { orgId, envId }, body: { groupId } })
  await putSecret(world, tenant, envId, 'NAME')
  const secretId = (await deletedSecret(world, tenant, envId, 'GONE')).id
  const fork = { slug: 'branch', wrappedDek: wrappedKey(), ttlSeconds: null }
  const branch = await world.call(branches.create, { as, params: { orgId, envId }, body: fork })
  const guardedId = await newGuarded(world, tenant)
  const changeRequestId = (await proposeRekey(world, tenant, guardedId)).id
  const invite = await world.call(invites.create, { as, params: { orgId }, body: { email: 'waits@example.com' } })
  const target = await newToken(world, tenant)
  const grantId = (await grantKey(world, tenant, envId, target)).id
  const decoy = await newDecoy(world, tenant)
  const targetId = (await newSshTarget(world, tenant)).id
  const leaseId = (await newSshLease(world, tenant, targetId)).lease.id
  const keyed = await newKeyedEnv(world, tenant)
  const rotated = await newRotation(world, tenant, await generatedRotation(world, tenant, keyed))
  const rotationId = rotated.rotation.id
  // No platform has to answer, because the suites that send requests to every route do not contact it.
  const connection = await connect(world, tenant, { token: 'fm2_lJPECAAAAAAAAAAB' })
  const bindingId = (await bind(world, tenant, connection, [await vaultedEnv(world, tenant)], 'shop')).id
  const jobId = newId('provisionerJob')
  const agentId = (await newWorkingAgent(world, tenant)).agent.id
  const taskId = (await newTask(world, tenant, agentId)).task.id
  const working = { agentId, agentRef: agentId, taskId, version: '1' }
  const kmsKeyId = (await newKmsKey(world, tenant, signKey([tenant.admin]))).id
  const member = await newMember(world, tenant)
  const userId = member.id
  const custodians = [await newMember(world, tenant), await newMember(world, tenant)]
  await setUpRecovery(world, tenant, custodians, 2, [envId])
  const recoveryRequestId = (await openRequest(world, tenant, member)).id
  const asked = { environmentIds: [envId] }
  const access = await world.call(accessRequests.create, { as: member.as, params: { orgId }, body: asked })
  const accessRequestId = access.body.request.id
  const leaving = await newOffboarding(world, tenant, envId)
  const overrider = await newOverrider(world, tenant, envId)
  const teamId = (await newTeam(world, tenant, [userId], [envId])).id
  const { code, id: cliSessionId } = await askForCliSession(world)
  const synced = { connectionId: connection.id, bindingId }
  const own = { userId, code, cliSessionId, passkeyId: newId('passkey') }
  // These ids belong to nobody: the server looks up a person’s own objects only after it has decided access.
  const personal = { webSessionId: newId('session'), signInPasskeyId: newId('signInPasskey') }
  const clientId = (await newMachineClient(world, tenant)).id
  const ofMachines = { clientId, targetId, leaseId, rotationId, jobId, kmsKeyId, recoveryRequestId }
  const vault = await newSurfaces(world, tenant)
  const others = {
    ...vault.params,
    ...personal,
    ...ofMachines,
    ...synced,
    ...working,
    changeRequestId,
    accessRequestId,
    ...leaving,
    overrideId: overrider.override.id,
    teamId,
    honeyTokenId: decoy.id,
    name: 'NAME',
    secretId,
  }
  const ids = { orgId, appId, envId, groupId, grantId, tokenId: target.id, inviteId: invite.body.invite.id, ...own }
  return {
    tenant,
    params: { ...ids, ...others },
    branchId: branch.body.branch.id,
    custodian: custodians[0] as Actor,
    asker: member,
    overrider: overrider.person,
    vault,
  }
}

/** Creates one caller of each kind, in the order of the matrix. */
export async function makeCallers(world: World, place: OneOfEach): Promise<Caller[]> {
  return [
    ...(await unknownCallers(world, place)),
    ...(await people(world, place)),
    ...(await machines(world, place)),
    ...ofVault(place),
  ]
}

async function unknownCallers(world: World, { tenant }: OneOfEach): Promise<Caller[]> {
  const impostor = await startIssuer(world.clock.now)
  const person = await newMember(world, tenant)
  const subject = { sub: 'sub-expired', email: 'expired@example.com', email_verified: true }
  const forged = await impostor.token({ ...subject, iss: world.issuer.url, aud: world.issuer.audience })
  const expired = await world.issuer.token({ ...subject, exp: Math.floor(world.clock.now().getTime() / 1000) - 5 })
  await impostor.close()
  const cli = await newCliSession(world, person)
  await world.call(cliSessions.revoke, { as: person.as, params: { cliSessionId: cli.id } })
  const { unknown, revoked, expiredToken, deleted } = await deadTokens(world, tenant)
  const row = (name: string, as: string | undefined): Caller => ({
    name,
    as,
    from: 'unknown',
    kind: 'nobody',
    role: 'none',
    granted: false,
  })
  return [
    row('nobody', undefined),
    row('malformed header', person.as.replace('Bearer ', 'Bearer')),
    row('unknown token', unknown),
    row('revoked token', revoked),
    row('expired token', expiredToken),
    row('deleted token', deleted),
    row('session with a wrong signature', `Bearer ${forged}`),
    row('expired session', `Bearer ${expired}`),
    row('revoked CLI session', cli.as),
  ]
}

/** An unknown, a revoked, an expired and a deleted bearer. They were for admin tokens, so only their state matters. */
export async function deadTokens(world: World, tenant: Tenant) {
  const { orgId } = tenant
  const expiresAt = new Date(world.clock.now().getTime() + 60_000).toISOString()
  const expiring = await newToken(world, tenant, { role: 'admin', expiresAt })
  const [revoked, deleted] = [
    await newToken(world, tenant, { role: 'admin' }),
    await newToken(world, tenant, { role: 'admin' }),
  ]
  for (const { id } of [revoked, deleted])
    await world.call(tokens.revoke, { as: tenant.admin.as, params: { orgId, tokenId: id } })
  await world.call(tokens.delete, { as: tenant.admin.as, params: { orgId, tokenId: deleted.id } })
  world.clock.advance(61)
  const unknown = `Bearer ${newId('serviceToken')}_${bearerSecret()}`
  return { unknown, revoked: revoked.as, expiredToken: expiring.as, deleted: deleted.as }
}

async function people(world: World, place: OneOfEach): Promise<Caller[]> {
  const { tenant } = place
  const elsewhere = await signUp(world)
  const row = (name: string, { as }: Actor, role: Caller['role'], granted = false): Caller => ({
    name,
    as,
    from: role === 'none' ? 'foreign' : 'org',
    kind: 'person',
    role,
    granted,
  })
  const holder = await newMember(world, tenant)
  await grantEverywhere(world, place, holder)
  const admin = await newMember(world, tenant, 'admin')
  return [
    row('member of another organization', await newMember(world, elsewhere), 'none'),
    row('member without keys or grant', await newMember(world, tenant, 'member', { keys: false }), 'member'),
    row('member with a grant', holder, 'member', true),
    row('admin', admin, 'admin'),
    row('CLI session of that admin', await newCliSession(world, admin), 'admin'),
    row('owner', await newOwnerOf(world, place), 'admin'),
  ]
}

/** Inserts an owner by SQL: an organization that signed up has none, and no invitation can give that role. */
async function newOwnerOf(world: World, { params }: OneOfEach): Promise<Actor> {
  const person = await newPerson(world, 'owner@example.com')
  await world.server.context.db.rows(
    `insert into memberships (org_id, user_id, role, created_at) values ($1, $2, 'owner', $3)`,
    [params.orgId, person.id, world.clock.now()],
  )
  const { body } = await world.call(orgs.get, { as: person.as, params: { orgId: params.orgId as string } })
  if (body.org.role !== 'owner') throw new Error('the owner is one')
  return person
}

async function machines(world: World, place: OneOfEach): Promise<Caller[]> {
  const { tenant, params } = place
  const foreign = await signUp(world)
  const elsewhereId = (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id
  const granted = await newToken(world, tenant)
  const bound = await newToken(world, tenant, { environmentId: params.envId as string })
  for (const actor of [granted, bound]) await grantEverywhere(world, place, actor)
  const boundTo = (environmentId: string, role: 'admin' | 'member' = 'admin') =>
    newToken(world, tenant, { role, environmentId })
  const access = await world.call(oauth.token, {
    as: tenant.machine.as,
    body: { grant_type: 'client_credentials' },
  })
  const row = (
    name: string,
    { as }: Pick<Actor, 'as'>,
    kind: 'token' | 'machine',
    role: Caller['role'],
    more: Partial<Caller> = {},
  ): Caller => ({ name, as, from: 'org', kind, role, granted: false, ...more })
  return [
    row('member token', await newToken(world, tenant), 'token', 'member'),
    row('member token with a grant', granted, 'token', 'member', { granted: true }),
    row('member token bound here, with a grant', bound, 'token', 'member', { granted: true, bound: 'here' }),
    row('member token bound elsewhere', await boundTo(elsewhereId, 'member'), 'token', 'member', {
      bound: 'elsewhere',
    }),
    row('admin token bound here', await boundTo(params.envId as string), 'token', 'admin', { bound: 'here' }),
    row('admin token bound elsewhere', await boundTo(elsewhereId), 'token', 'admin', { bound: 'elsewhere' }),
    row('admin token', await newToken(world, tenant, { role: 'admin' }), 'token', 'admin'),
    row('machine client', tenant.machine, 'machine', 'admin'),
    row('machine client’s access token', { as: `Bearer ${access.body.access_token}` }, 'machine', 'admin'),
    row('admin token of another organization', foreign.admin, 'token', 'admin', { from: 'foreign' }),
    row('machine client of another organization', foreign.machine, 'machine', 'admin', { from: 'foreign' }),
  ]
}

function ofVault({ vault }: OneOfEach): Caller[] {
  const row = (name: string, as: string, surface: Surface): Caller => ({
    ...{ name, as, surface, from: 'vault', kind: 'nobody', role: 'none', granted: false },
  })
  return [
    row('vault platform key', vault.platform.as, 'platform'),
    row('vault executor', vault.executor.as, 'executor'),
    row('vault claim to connect', vault.connects, 'claim'),
    row('vault claim to manage', vault.manages, 'claim'),
  ]
}

async function grantEverywhere(world: World, { tenant, params, branchId }: OneOfEach, actor: Actor) {
  for (const id of [params.envId as string, branchId]) await grantKey(world, tenant, id, actor)
}
