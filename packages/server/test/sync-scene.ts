import { branches } from '@skerry/contract/branches/endpoints'
import { composition } from '@skerry/contract/groups/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { sync } from '@skerry/contract/sync/endpoints'
import { importDek, newDek, sealSecret } from '@skerry/crypto/secret'
import { wrapKey } from '@skerry/crypto/wrap'
import { newId } from '../src/kernel/context.ts'
import { wrappedKey } from './blobs.ts'
import type { AppPlatform } from './services/app-platform.ts'
import { newApp, newEnv, newGroup, newGroupEnv, type Tenant } from './tenant.ts'
import type { World } from './world.ts'

// Environments with real keys, so that the server can decrypt secrets. These functions do in few lines what clients do.

type Caller = Pick<World, 'call'>

/** An environment whose key the test knows. The tenant’s admin token has a key grant. */
export interface Vaulted {
  id: string
  dek: Uint8Array
}

const known = (id: string): Vaulted => ({ id, dek: newDek() })

export const vaultedEnv = async (world: World, tenant: Tenant, slug = 'production'): Promise<Vaulted> =>
  known((await newEnv(world, tenant, (await newApp(world, tenant)).id, slug)).id)

/** Creates a group with an environment of that slug, and composes it into `into`. */
export async function composedGroup(world: World, tenant: Tenant, into: Vaulted, slug = 'production') {
  const { id: groupId } = await newGroup(world, tenant)
  const env = known((await newGroupEnv(world, tenant, groupId, slug)).id)
  const params = { orgId: tenant.orgId, envId: into.id }
  await world.call(composition.set, { as: tenant.admin.as, params, body: { groupId } })
  return { groupId, ...env }
}

export async function vaultedBranch(world: World, tenant: Tenant, { id: envId }: Vaulted): Promise<Vaulted> {
  const params = { orgId: tenant.orgId, envId }
  const body = { slug: `branch-${newId('audit').slice(4, 10).toLowerCase()}`, wrappedDek: wrappedKey() }
  const answer = await world.call(branches.create, { as: tenant.admin.as, params, body })
  return known(answer.body.branch.id)
}

export async function write(world: Caller, tenant: Tenant, env: Vaulted, name: string, value: string): Promise<void> {
  const ciphertext = await sealSecret(value, await importDek(env.dek as Uint8Array<ArrayBuffer>), env.id, name)
  const params = { orgId: tenant.orgId, envId: env.id, name }
  const answer = await world.call(secrets.put, { as: tenant.admin.as, params, body: { ciphertext } })
  if (answer.status >= 300) throw new Error(answer.error?.message)
}

export async function erase(world: Caller, tenant: Tenant, env: Vaulted, name: string): Promise<void> {
  const params = { orgId: tenant.orgId, envId: env.id, name }
  const answer = await world.call(secrets.delete, { as: tenant.admin.as, params })
  if (answer.status !== 200) throw new Error(answer.error?.message)
}

export interface Connected {
  id: string
  publicKeyJwk: string
}

export async function keyOf(world: Caller, tenant: Tenant, connectionId = newId('syncConnection')): Promise<Connected> {
  const params = { orgId: tenant.orgId, connectionId }
  const { body } = await world.call(sync.publicKey, { as: tenant.admin.as, params })
  return { id: connectionId, publicKeyJwk: body.publicKeyJwk }
}

export const wrapped = (text: string, { publicKeyJwk }: Connected) =>
  wrapKey(new TextEncoder().encode(text), publicKeyJwk)

/** The body that creates a connection, and the key of that connection. */
export async function connectionBody(world: Caller, tenant: Tenant, token: string, name?: string) {
  const key = await keyOf(world, tenant)
  const wrappedCredential = await wrapped(token, key)
  const config = { provider: 'app-platform-c' as const }
  return { key, body: { id: key.id, name: name ?? key.id, config, wrappedCredential } }
}

export async function connect(
  world: Caller,
  tenant: Tenant,
  { token }: Pick<AppPlatform, 'token'>,
): Promise<Connected> {
  const { key, body } = await connectionBody(world, tenant, token)
  const params = { orgId: tenant.orgId }
  const answer = await world.call(sync.createConnection, { as: tenant.admin.as, params, body })
  if (answer.status !== 201) throw new Error(answer.error?.message)
  return key
}

export const deksFor = (envs: readonly Vaulted[], { publicKeyJwk }: Connected) =>
  Promise.all(
    envs.map(async ({ id, dek }) => ({
      environmentId: id,
      wrappedDek: await wrapKey(dek as Uint8Array<ArrayBuffer>, publicKeyJwk),
    })),
  )

/** The body that binds an environment, with its groups, to an app. The mode is `manual` unless `more` has another. */
export async function bindingBody(
  connection: Connected,
  [env, ...groups]: readonly [Vaulted, ...Vaulted[]],
  appName: string,
  more: object = {},
) {
  return {
    connectionId: connection.id,
    environmentId: env.id,
    destination: { provider: 'app-platform-c' as const, appName },
    mode: 'manual' as const,
    wrappedDeks: await deksFor([env, ...groups], connection),
    acknowledgedDecryption: true,
    ...more,
  }
}

export async function bind(
  world: Caller,
  tenant: Tenant,
  ...given: Parameters<typeof bindingBody>
): Promise<{ id: string }> {
  const body = await bindingBody(...given)
  const answer = await world.call(sync.createBinding, { as: tenant.admin.as, params: { orgId: tenant.orgId }, body })
  if (answer.status !== 201) throw new Error(answer.error?.message)
  return answer.body.binding
}

export async function runNow(world: Caller, tenant: Tenant, { id }: { id: string }, body: { adopt?: string[] } = {}) {
  const params = { orgId: tenant.orgId, bindingId: id }
  const answer = await world.call(sync.run, { as: tenant.admin.as, params, body })
  if (answer.status !== 200) throw new Error(answer.error?.message)
  return answer.body.run
}
