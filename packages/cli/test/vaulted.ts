import { vaultExecutor } from '@skerry/contract/vault/executor'
import { vaultProjects } from '@skerry/contract/vault/projects'
import { expect } from 'vitest'
import { acceptInvites, invitePerson, newPerson, signUp } from '../../server/test/tenant.ts'
import {
  newCode,
  newConnection,
  newExecutor,
  newPlatformKey,
  newProject,
  sent,
  type Vault,
} from '../../server/test/vault-scene.ts'
import { call, type World } from '../../server/test/world.ts'
import type { PeopleServer } from './people.ts'

let count = 0

/**
 * Makes a signed-in admin of an organization whose product has a platform key, an executor and a person's account.
 * Returns the admin's token.
 */
export async function newVaultAdmin({ issuer, url }: PeopleServer): Promise<string> {
  // The part of a `World` that the helpers use, for a server in another process.
  const world = {
    issuer,
    call: (endpoint: never, input: never) => call(url, [], endpoint, input),
  } as unknown as World
  const tenant = await signUp(world)
  const email = `vault-admin-${++count}@example.com`
  await invitePerson(world, tenant, email, 'admin')
  const person = await newPerson(world, email, { claims: {} })
  await acceptInvites(world, person)
  const projectId = (await newProject(world, tenant)).id
  const platform = await newPlatformKey(world, tenant, projectId, person)
  const executor = await newExecutor(world, await newCode(world, tenant, projectId, person))
  const vault: Vault = { tenant, person, projectId, platform, executor }
  await newConnection(world, vault)
  await sent(world, vaultExecutor.me, { as: executor.as })
  await usesNoted(world, vault)
  return person.as.slice('Bearer '.length)
}

/**
 * Waits until the server has recorded the uses. It does so after the requests, so the output would otherwise differ
 * from run to run.
 */
async function usesNoted(world: World, { tenant: { orgId, admin }, projectId }: Vault): Promise<void> {
  const noted = async () => {
    const { keys, executor } = await sent(world, vaultProjects.get, { as: admin.as, params: { orgId, projectId } })
    return [keys[0]?.lastUsedAt, executor?.lastSeenAt]
  }
  await expect.poll(noted).toEqual([expect.any(String), expect.any(String)])
}
