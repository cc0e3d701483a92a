import { randomBytes } from 'node:crypto'
import type { accessRequests } from '@skerry/contract/access-requests/endpoints'
import type { Answer } from '@skerry/contract/endpoint'
import type { grants } from '@skerry/contract/grants/endpoints'
import type { invites } from '@skerry/contract/members/endpoints'
import type { offboardings } from '@skerry/contract/offboardings/endpoints'
import type { teams } from '@skerry/contract/teams/endpoints'
import type { Bytes } from '@skerry/crypto/base64url'
import type { DirectorySigner } from '@skerry/crypto/directory/signing'
import type { PrivateKey } from '@skerry/crypto/keys'
import type { Client } from '@skerry/sdk/client'
import { createBranch, createEnvironment } from '@skerry/sdk/environments'
import { createManagedKey, openManagedKey, rotateManagedKey } from '@skerry/sdk/internal/kms'
import { setOverride } from '@skerry/sdk/overrides'
import { newRecoveryKey } from '@skerry/sdk/recovery'
import { proposeRekey } from '@skerry/sdk/rekey-changes'
import { describeSecret } from '@skerry/sdk/secret-details'
import { renameSecret } from '@skerry/sdk/secret-history'
import { deleteSecret, type EnvironmentKey, putSecret } from '@skerry/sdk/secrets'
import { newWorkingAgent } from './agent-steps.ts'
import { wrappedKey } from './blobs.ts'
import { type Chain, startDirectory } from './directory-steps.ts'
import { newSshLease, newSshTarget } from './lease-steps.ts'
import { sinkBody } from './log-sink-steps.ts'
import { rotationBody } from './rotation-steps.ts'
import { bindingBody, connect } from './sync-scene.ts'
import { newMember, type Tenant } from './tenant.ts'
import type { World } from './world.ts'

// An organization with objects of many kinds and real keys, so that a test can decrypt what was restored.

/** A person with a keyring, and a client with their credential. */
export interface Keyed {
  id: string
  client: Client
  keys: { privateKey: PrivateKey; publicKeyJwk: string }
}

export interface Filled {
  /** The plaintexts of an environment's own secrets, by environment id. */
  values: Map<string, Record<string, string>>
  /** A branch of an environment with groups, and the values that its resolve returns. */
  branched: { envId: string; branch: string; values: Record<string, string> }
  /** A pending change in a protected environment. */
  pending: { envId: string; changeRequestId: string; name: string; value: string }
  /** A pending re-key of another protected environment. */
  pendingRekey: { envId: string; changeRequestId: string }
  /** A name with a description, in that environment too. */
  described: { envId: string; name: string; description: string; tags: string[] }
  /** A value that the admin stored for themselves, in that environment too. */
  own: { envId: string; name: string; value: string }
  /** A deleted secret that can be restored. */
  deleted: { envId: string; name: string; value: string }
  /** A managed key that was rotated, with data that its version 1 encrypted. */
  kms: { kmsKeyId: string; context: string; blob: string; plaintext: Bytes }
  recoveryPublicKeyJwk: string
  agent: { agentId: string; bundle: string }
  /** An open request of the second custodian for access. */
  access: Answer<typeof accessRequests.get>['request']
  /** A running offboarding of a former member, with its rows. */
  leaving: { offboardingId: string; rows: Answer<typeof offboardings.rows>['rows'] }
  /** A team, its keys that the third custodian lacks, and an invitation into it. */
  team: TeamFacts
  /** The signed directory, and a key that signs it. */
  directory: { signer: DirectorySigner; chain: Chain }
  /** The labels of objects that cannot be restored, as the operator sees them. */
  left: string[]
}

export interface TeamFacts {
  detail: Answer<typeof teams.get>
  missing: Answer<typeof grants.missing>['missing']
  invite: Answer<typeof invites.list>['invites'][number]
}

/** Reads the facts of the only team that the organization has. A restored one must have the same. */
export async function readTeam({ teams, grants, invites }: Client, orgId: string, userId: string): Promise<TeamFacts> {
  const params = { orgId }
  const [team] = (await teams.list({ params })).teams
  const [invite] = (await invites.list({ params })).invites.filter(({ teamIds = [] }) => teamIds.length > 0)
  if (!team || !invite) throw new Error('the organization has a team and an invitation into it')
  const detail = await teams.get({ params: { orgId, teamId: team.id } })
  return { detail, missing: (await grants.missing({ params, query: { userId } })).missing, invite }
}

/** @param custodians any two of them can open the covered environments; the first one is the admin */
export async function fillTenant(world: World, tenant: Tenant, custodians: [Keyed, ...Keyed[]]): Promise<Filled> {
  const { orgId } = tenant
  const [admin] = custodians
  const scene: Scene = { orgId, admin, opened: new Map(), values: new Map(), composed: [] }
  const app = await newApp(scene)
  const branched = await layered(scene, app)
  const deleted = await keptDeleted(scene, branched.envId)
  const described = await describedOne(scene, branched.envId)
  const own = { envId: branched.envId, name: 'OWN', value: 'of the admin alone' }
  await setOverride(admin.client, { orgId, envId: own.envId, userId: admin.id }, own, admin.keys.privateKey)
  const pending = await protectedOne(scene, app)
  const kms = await rotatedKey(scene)
  const toRekey = await newEnv(scene, { appId: app }, 'canary')
  const environments = [...scene.opened].map(([environmentId, { bytes: key }]) => ({ environmentId, key }))
  const people = custodians.map(({ id, keys }) => ({ userId: id, publicKeyJwk: keys.publicKeyJwk }))
  const body = await newRecoveryKey({ orgId, threshold: 2, custodians: people, environments })
  await admin.client.recovery.enable({ params: { orgId }, body })
  const pendingRekey = await rekeyedOne(scene, toRekey, body.recoveryPublicKeyJwk)
  const asked = { environmentIds: [branched.envId], reason: 'to fix the checkout' }
  const { request: access } = await (custodians[1] as Keyed).client.accessRequests.create({
    params: { orgId },
    body: asked,
  })
  const { agent, bundle } = await newWorkingAgent(world, tenant, { environmentId: branched.envId })
  const team = await fullTeam(scene, custodians[2] as Keyed, [branched.envId, pending.envId])
  const leaving = await runningOne(scene, (await newMember(world, tenant)).id, branched.envId)
  const left = await serverReaders(world, tenant, scene, branched.envId)
  const directory = await startDirectory(world, tenant)
  const { recoveryPublicKeyJwk } = body
  const { values } = scene
  return {
    values,
    branched,
    described,
    own,
    deleted,
    pending,
    pendingRekey,
    kms,
    recoveryPublicKeyJwk,
    agent: { agentId: agent.id, bundle },
    access,
    leaving,
    team,
    directory,
    left,
  }
}

/** Offboards a member who could read an environment. */
async function runningOne({ orgId, admin }: Scene, userId: string, envId: string): Promise<Filled['leaving']> {
  const grant = { principalType: 'user' as const, principalId: userId, wrappedDek: wrappedKey() }
  await admin.client.grants.create({ params: { orgId, envId }, body: grant })
  const { offboarding } = await admin.client.offboardings.start({ params: { orgId }, body: { userId } })
  const offboardingId = offboarding.id
  const { rows } = await admin.client.offboardings.rows({ params: { orgId, offboardingId } })
  return { offboardingId, rows }
}

/**
 * Creates a team with two environments. The person has the key of the second one because of the team, is locked out of
 * the first one, and is to get the key of a third one without a team.
 */
async function fullTeam(scene: Scene, person: Keyed, environmentIds: [string, string]): Promise<TeamFacts> {
  const { client } = scene.admin
  const [first, second] = environmentIds
  const params = { orgId: scene.orgId }
  const { team } = await client.teams.create({ params, body: { name: 'Payments' } })
  const ofTeam = { ...params, teamId: team.id }
  await client.teams.addMembers({ params: ofTeam, body: { userIds: [person.id] } })
  await client.teams.addEnvironments({ params: ofTeam, body: { environmentIds } })
  const holder = { principalType: 'user' as const, principalId: person.id, wrappedDek: wrappedKey() }
  const { wrappedDek: ownWrappedDek } = await client.grants.own({ params: { ...params, envId: second } })
  const { publicKeyJwk } = person.keys
  const row = { ...holder, environmentId: second, publicKeyJwk, ownWrappedDek, direct: false }
  const { results } = await client.grants.createMany({ params, body: { grants: [row] } })
  if (results[0]?.result !== 'done') throw new Error('the team gives the key')
  const { grant } = await client.grants.create({ params: { ...params, envId: first }, body: holder })
  await client.grants.delete({ params: { ...params, envId: first, grantId: grant.id } })
  const third = [...scene.opened.keys()].filter((id) => !environmentIds.includes(id)).slice(0, 1)
  await client.grants.plan({ params: { ...params, userId: person.id }, body: { environmentIds: third } })
  const gifts = { teamIds: [team.id], environmentIds: [first] }
  await client.invites.create({ params, body: { email: 'invited@example.com', ...gifts } })
  return readTeam(client, scene.orgId, person.id)
}

interface Scene {
  orgId: string
  admin: Keyed
  /** Keys of the environments that were made. */
  opened: Map<string, EnvironmentKey>
  values: Filled['values']
  /** The ids of group environments that are composed into an environment. */
  composed: string[]
}

async function newApp({ orgId, admin }: Scene): Promise<string> {
  const { app } = await admin.client.apps.create({ params: { orgId }, body: { name: 'Api', slug: 'api' } })
  return app.id
}

async function newEnv(scene: Scene, parent: { appId: string } | { groupId: string }, slug: string): Promise<string> {
  const { admin, orgId, opened } = scene
  const wish = { orgId, name: slug, slug, ...parent }
  const { environment, key } = await createEnvironment(admin.client, wish, admin.keys.publicKeyJwk)
  opened.set(environment.id, key)
  return environment.id
}

async function write({ orgId, admin, opened, values }: Scene, envId: string, secrets: Record<string, string>) {
  const { dek } = opened.get(envId) as EnvironmentKey
  for (const [name, value] of Object.entries(secrets)) await putSecret(admin.client, { orgId, envId, name }, value, dek)
  values.set(envId, { ...values.get(envId), ...secrets })
}

/** Creates an environment with two composed groups, and a branch of it. */
async function layered(scene: Scene, appId: string): Promise<Filled['branched']> {
  const { orgId, admin, opened } = scene
  const envId = await newEnv(scene, { appId }, 'development')
  for (const [slug, secrets] of [
    ['base', { SHARED: 'base', FROM_BASE: 'base', BRANCHED: 'base' }],
    ['team', { SHARED: 'team', FROM_TEAM: 'für ${SHARED}' }],
  ] as const) {
    const { group } = await admin.client.groups.create({ params: { orgId }, body: { name: slug, slug } })
    const ofGroup = await newEnv(scene, { groupId: group.id }, 'development')
    await write(scene, ofGroup, secrets)
    scene.composed.push(ofGroup)
    await write(scene, await newEnv(scene, { groupId: group.id }, 'production'), { SHARED: `${slug} in production` })
    await admin.client.composition.set({ params: { orgId, envId }, body: { groupId: group.id } })
  }
  await write(scene, envId, { OWN: 'first' })
  await write(scene, envId, { OWN: 'second' })
  const place = { orgId, envId, slug: 'pr-1', ttlSeconds: null, reads: () => true }
  const { branch, key } = await createBranch(admin.client, place, admin.keys.publicKeyJwk)
  opened.set(branch.id, key)
  await write(scene, branch.id, { BRANCHED: 'branch' })
  const values = { SHARED: 'team', FROM_BASE: 'base', FROM_TEAM: 'für team', OWN: 'second', BRANCHED: 'branch' }
  return { envId, branch: 'pr-1', values }
}

/** Keeps a deleted secret that was renamed between its two values. */
async function keptDeleted({ orgId, admin, opened }: Scene, envId: string): Promise<Filled['deleted']> {
  const place = { orgId, envId, name: 'DELETED' }
  const { dek } = opened.get(envId) as EnvironmentKey
  const first = await putSecret(admin.client, { ...place, name: 'RENAMED' }, 'first', dek)
  if ('queued' in first) throw new Error('the environment is protected')
  await renameSecret(admin.client, orgId, first.secret, place.name, dek)
  await putSecret(admin.client, place, 'last', dek)
  await deleteSecret(admin.client, place, { keepFor: '30d' })
  return { envId, name: place.name, value: 'last' }
}

async function describedOne({ orgId, admin, opened }: Scene, envId: string): Promise<Filled['described']> {
  const { dek } = opened.get(envId) as EnvironmentKey
  const [name, text] = ['OWN', { description: 'is the environment’s own', tags: ['own'] }]
  const details = { ...text, ownerId: admin.id, expiresAt: '2090-01-01T00:00:00Z', notNeeded: true }
  await describeSecret(admin.client, { orgId, envId, name }, details, dek)
  return { envId, name, ...text }
}

async function rekeyedOne(scene: Scene, envId: string, recoveryPublicKeyJwk: string): Promise<Filled['pendingRekey']> {
  const { orgId, admin } = scene
  await write(scene, envId, { KEPT: 'under both keys' })
  await admin.client.protection.put({ params: { orgId, envId }, body: { requiredApprovals: 1 } })
  const place = { orgId, envId, recoveryPublicKeyJwk, keeps: () => true }
  const { changeRequest } = await proposeRekey(admin.client, place, admin.keys, { note: 'waits' })
  return { envId, changeRequestId: changeRequest.id }
}

async function protectedOne(scene: Scene, appId: string): Promise<Filled['pending']> {
  const { orgId, admin, opened } = scene
  const envId = await newEnv(scene, { appId }, 'production')
  await write(scene, envId, { GUARDED: 'before', OTHER: 'stays' })
  await admin.client.protection.put({ params: { orgId, envId }, body: { requiredApprovals: 1 } })
  const [name, value] = ['GUARDED', 'after approval']
  const { dek } = opened.get(envId) as EnvironmentKey
  const answer = await putSecret(admin.client, { orgId, envId, name }, value, dek, { note: 'waits' })
  if (!('queued' in answer)) throw new Error('the environment is not protected')
  return { envId, changeRequestId: answer.changeRequest.id, name, value }
}

async function rotatedKey({ orgId, admin }: Scene): Promise<Filled['kms']> {
  const { client, id: principalId, keys } = admin
  const grantees = [{ principalType: 'user' as const, principalId, publicKeyJwk: keys.publicKeyJwk }]
  const { key } = await createManagedKey(client, { orgId, name: 'billing', spec: 'aes-256-gcm', grantees })
  const [context, plaintext] = ['customer/17', Uint8Array.from(randomBytes(100))]
  const place = { orgId, kmsKeyId: key.id }
  const blob = await (await openManagedKey(client, place, keys.privateKey)).encrypt(plaintext, context)
  await rotateManagedKey(client, { orgId, key, grantees })
  return { kmsKeyId: key.id, context, blob, plaintext }
}

/** Creates objects with credentials that this server itself can decrypt. An archive does not contain them. */
async function serverReaders(world: World, tenant: Tenant, scene: Scene, envId: string): Promise<string[]> {
  const { admin, orgId, opened, composed } = scene
  const { bytes } = opened.get(envId) as EnvironmentKey
  const target = await newSshTarget(world, tenant)
  await newSshLease(world, tenant, target.id)
  const rotation = await rotationBody(world, tenant, { envId, bytes })
  await admin.client.rotation.create({ params: { orgId }, body: rotation })
  const connection = await connect(world, tenant, { token: 'a token' })
  const groups = composed.map((id) => ({ id, dek: (opened.get(id) as EnvironmentKey).bytes }))
  const body = await bindingBody(connection, [{ id: envId, dek: bytes }, ...groups], 'bound')
  const { binding } = await admin.client.sync.createBinding({ params: { orgId }, body })
  await admin.client.logSink.set({ params: { orgId }, body: sinkBody() })
  return [target.name, 'ROTATED', connection.id, binding.id, sinkBody().endpoint]
}
