import { apps } from '@skerry/contract/apps/endpoints'
import { cliLogin } from '@skerry/contract/cli-login/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { groups } from '@skerry/contract/groups/endpoints'
import { honeyTokens } from '@skerry/contract/honey-tokens/endpoints'
import { machineClients } from '@skerry/contract/machine-clients/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { invites } from '@skerry/contract/members/endpoints'
import { ownInvites } from '@skerry/contract/members/own-invites'
import { orgs } from '@skerry/contract/orgs/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { signup } from '@skerry/contract/signup/endpoints'
import { teams } from '@skerry/contract/teams/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { newId, sha256 } from '../src/kernel/context.ts'
import { bearerSecret, ciphertext, publicKeyJwk, sealedPrivateKey, wrappedKey } from './blobs.ts'
import { signInAs } from './people.ts'
import type { World } from './world.ts'

/** A caller: the Authorization header and the id. */
export interface Actor {
  as: string
  id: string
}

/** An organization that has just signed up, with its machine client and an admin service token. */
export interface Tenant {
  orgId: string
  slug: string
  machine: Actor
  admin: Actor
}

let count = 0

export async function signUp(
  world: World,
  slug = `acme-${++count}-${newId('audit').slice(4, 10).toLowerCase()}`,
): Promise<Tenant> {
  const { body } = await world.call(signup.create, { body: { orgName: 'Acme', orgSlug: slug } })
  const { clientId, clientSecret } = body.m2m
  const machine = { as: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`, id: clientId }
  const tenant = { orgId: body.org.id, slug: body.org.slug, machine, admin: machine }
  return { ...tenant, admin: await newToken(world, tenant, { role: 'admin' }) }
}

/** Registers a service token with the tenant's machine client. */
export async function newToken(
  world: World,
  tenant: Pick<Tenant, 'orgId' | 'machine'>,
  more: { role?: 'admin' | 'member'; environmentId?: string; expiresAt?: string } = {},
): Promise<Actor> {
  const id = newId('serviceToken')
  const bearer = `${id}_${bearerSecret()}`
  const body = { name: 'a token', tokenId: id, tokenHash: sha256(bearer), publicKeyJwk: publicKeyJwk(), ...more }
  const answer = await world.call(tokens.create, { as: tenant.machine.as, params: { orgId: tenant.orgId }, body })
  if (answer.status !== 201) throw new Error(answer.error?.message)
  return { as: `Bearer ${bearer}`, id }
}

/** Creates a second machine client of the organization, as an admin who is a person. */
export async function newMachineClient(world: World, tenant: Tenant): Promise<Actor> {
  const { as } = await newMember(world, tenant, 'admin')
  const answer = await world.call(machineClients.create, {
    as,
    params: { orgId: tenant.orgId },
    body: { name: 'more' },
  })
  const { client, clientSecret } = answer.body
  return { as: `Basic ${Buffer.from(`${client.id}:${clientSecret}`).toString('base64')}`, id: client.id }
}

export async function newApp(world: World, tenant: Tenant, slug = `app-${++count}`) {
  const params = { orgId: tenant.orgId }
  const { body } = await world.call(apps.create, { as: tenant.admin.as, params, body: { name: slug, slug } })
  return body.app
}

export async function newEnv(world: World, tenant: Tenant, appId: string, slug = 'production') {
  const params = { orgId: tenant.orgId, appId }
  const body = { name: slug, slug, wrappedDek: wrappedKey() }
  const answer = await world.call(apps.createEnv, { as: tenant.admin.as, params, body })
  if (answer.status !== 201) throw new Error(answer.error?.message)
  return answer.body.environment
}

export async function newGroup(world: World, tenant: Tenant, slug = `group-${++count}`) {
  const params = { orgId: tenant.orgId }
  const { body } = await world.call(groups.create, { as: tenant.admin.as, params, body: { name: slug, slug } })
  return body.group
}

export async function newGroupEnv(world: World, tenant: Tenant, groupId: string, slug = 'production') {
  const params = { orgId: tenant.orgId, groupId }
  const body = { name: slug, slug, wrappedDek: wrappedKey() }
  const answer = await world.call(groups.createEnv, { as: tenant.admin.as, params, body })
  if (answer.status !== 201) throw new Error(answer.error?.message)
  return answer.body.environment
}

/** Creates a team with these people and environments. */
export async function newTeam(
  world: World,
  { orgId, admin: { as } }: Tenant,
  userIds: string[] = [],
  environmentIds: string[] = [],
) {
  const created = await world.call(teams.create, { as, params: { orgId }, body: { name: `Team ${++count}` } })
  if (created.status !== 201) throw new Error(created.error?.message)
  const params = { orgId, teamId: created.body.team.id }
  const joined = userIds.length > 0 ? await world.call(teams.addMembers, { as, params, body: { userIds } }) : created
  const body = { environmentIds }
  const given = environmentIds.length > 0 ? await world.call(teams.addEnvironments, { as, params, body }) : created
  for (const { error } of [joined, given]) if (error) throw new Error(error.message)
  return created.body.team
}

/** Grants the key of an environment. `more` can limit the time: `{ seconds }`. */
export async function grantKey(world: World, tenant: Tenant, envId: string, actor: Actor, more: object = {}) {
  const principalType = actor.id.startsWith('usr_') ? ('user' as const) : ('service_token' as const)
  const answer = await world.call(grants.create, {
    as: tenant.admin.as,
    params: { orgId: tenant.orgId, envId },
    body: { principalType, principalId: actor.id, wrappedDek: wrappedKey(), ...more },
  })
  if (answer.status !== 201) throw new Error(answer.error?.message)
  return answer.body.grant
}

export async function putSecret(world: World, tenant: Tenant, envId: string, name: string, text = ciphertext()) {
  const answer = await world.call(secrets.put, {
    as: tenant.admin.as,
    params: { orgId: tenant.orgId, envId, name },
    body: { ciphertext: text },
  })
  if (answer.status >= 300) throw new Error(answer.error?.message)
  return written(answer.body).secret
}

/** Writes a secret and deletes it so that it can be restored. */
export async function deletedSecret(world: World, tenant: Tenant, envId: string, name: string, keepFor = '30d') {
  await putSecret(world, tenant, envId, name)
  const params = { orgId: tenant.orgId, envId, name }
  const answer = await world.call(secrets.delete, { as: tenant.admin.as, params, query: { keepFor } })
  const { deletedSecret } = written(answer.body)
  if (!deletedSecret) throw new Error(answer.error?.message ?? 'nothing is kept')
  return deletedSecret
}

/** Creates a decoy. `as` is the header that presents it. */
export async function newDecoy(world: World, tenant: Tenant, placement = 'a wiki'): Promise<Actor> {
  const tokenId = newId('serviceToken')
  const bearer = `${tokenId}_${bearerSecret()}`
  const answer = await world.call(honeyTokens.create, {
    as: tenant.admin.as,
    params: { orgId: tenant.orgId },
    body: { tokenId, tokenHash: sha256(bearer), placement },
  })
  if (answer.status !== 201) throw new Error(answer.error?.message)
  return { as: `Bearer ${bearer}`, id: answer.body.honeyToken.id }
}

/** Returns the result of a write, which must not be queued. In an unprotected environment no write is. */
export function written<B extends object>(body: B): Exclude<B, { queued: true }> {
  if ('queued' in body) throw new Error('queued for approval')
  return body as Exclude<B, { queued: true }>
}

/** Returns the header of a session of the person with that address. `claims` are added, for example `withFactor`. */
export const sessionOf = async (world: World, email: string, claims = {}): Promise<string> =>
  `Bearer ${await world.issuer.token({ sub: `sub-${email}`, email, email_verified: true, ...claims })}`

/** Claims of a session in which a second factor was entered this long ago. */
export const withFactor = (world: World, agoSeconds = 0) => ({
  amr: ['pwd', 'otp'],
  auth_time: Math.floor(world.clock.now().getTime() / 1000) - agoSeconds,
})

/**
 * Signs in a person with the sign-in of this world. `claims` need a world with the test issuer. Uploads keys unless
 * `keys` is false.
 */
export async function newPerson(
  world: World,
  email: string,
  { keys = true, claims }: { keys?: boolean; claims?: object } = {},
): Promise<Actor> {
  const as = claims ? await sessionOf(world, email, claims) : await signInAs(world, email)
  const { body } = await world.call(me.get, { as })
  if (keys)
    await world.call(me.putKeys, {
      as,
      body: { publicKeyJwk: publicKeyJwk(), encryptedPrivateKey: sealedPrivateKey() },
    })
  return { as, id: body.principal.id }
}

export const invitePerson = (world: World, tenant: Tenant, email: string, role: 'admin' | 'member' = 'member') =>
  world.call(invites.create, { as: tenant.machine.as, params: { orgId: tenant.orgId }, body: { email, role } })

/** Accepts all invitations of this person. */
export async function acceptInvites(world: World, { as }: Pick<Actor, 'as'>): Promise<void> {
  for (const { id: inviteId } of (await world.call(ownInvites.list, { as })).body.invites) {
    const { error } = await world.call(ownInvites.accept, { as, params: { inviteId } })
    if (error) throw new Error(error.message)
  }
}

/** Creates a person who is invited to the tenant and has accepted. */
export async function newMember(
  world: World,
  tenant: Tenant,
  role: 'admin' | 'member' = 'member',
  { email = `person-${++count}@example.com`, ...more }: { email?: string; keys?: boolean; claims?: object } = {},
): Promise<Actor> {
  await invitePerson(world, tenant, email, role)
  const person = await newPerson(world, email, more)
  await acceptInvites(world, person)
  // The first admin who is a person becomes the owner. A suite that asks for an admin wants none, so this undoes it.
  await world.server.context.db.rows(
    `update memberships set role = $3 where org_id = $1 and user_id = $2 and role = 'owner'`,
    [tenant.orgId, person.id, role],
  )
  return person
}

/** Creates a person who owns an organization, because they created it. */
export async function newOwner(world: World): Promise<Actor & { orgId: string }> {
  const person = await newPerson(world, `owner-${++count}@example.com`)
  const { body } = await world.call(orgs.create, { as: person.as, body: { name: 'Own', slug: `own-${++count}` } })
  return { ...person, orgId: body.org.id }
}

/** Asks for a CLI session, as a device does. */
export async function askForCliSession(world: World, more: Record<string, unknown> = {}) {
  const id = newId('cliSession')
  const bearer = `${id}_${bearerSecret()}`
  const body = { sessionId: id, tokenHash: sha256(bearer), deviceLabel: 'laptop', client: 'skerry/1.0', ...more }
  const answer = await world.call(cliLogin.create, { body })
  if (answer.status !== 201) throw new Error(answer.error?.message)
  return { id, as: `Bearer ${bearer}`, ...answer.body }
}

/** Creates a CLI session that this person has approved. */
export async function newCliSession(world: World, person: Pick<Actor, 'as'>): Promise<Actor & { code: string }> {
  const asked = await askForCliSession(world)
  const answer = await world.call(cliLogin.approve, { as: person.as, params: { code: asked.code } })
  if (answer.status !== 200) throw new Error(answer.error?.message)
  return asked
}
