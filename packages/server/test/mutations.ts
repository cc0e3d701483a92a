import type { AuditAction } from '@skerry/contract/actions'
import { apps } from '@skerry/contract/apps/endpoints'
import { branches } from '@skerry/contract/branches/endpoints'
import type { Endpoint } from '@skerry/contract/endpoint'
import { envs } from '@skerry/contract/envs/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { composition, groups } from '@skerry/contract/groups/endpoints'
import { honeyTokens } from '@skerry/contract/honey-tokens/endpoints'
import { machineClients } from '@skerry/contract/machine-clients/endpoints'
import { secretDetails } from '@skerry/contract/secret-details/endpoints'
import { deletedSecrets, secrets } from '@skerry/contract/secrets/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { newId, sha256 } from '../src/kernel/context.ts'
import { asking } from './access-steps.ts'
import { agency } from './agent-steps.ts'
import { approval, proposingRekey, rekeying } from './approval-steps.ts'
import { subscribing } from './billing-steps.ts'
import { bearerSecret, ciphertext, publicKeyJwk, sealedDetails, sealedFormerNames, wrappedKey } from './blobs.ts'
import { signing } from './directory-steps.ts'
import { exportSteps } from './export-steps.ts'
import { keeping } from './kms-steps.ts'
import { leasing, provisioning } from './lease-steps.ts'
import { sinking } from './log-sink-steps.ts'
import { leaving } from './offboarding-steps.ts'
import { identity, invitations, membership, organization, own } from './people-steps.ts'
import { recovering } from './recovery-steps.ts'
import { rotating } from './rotation-steps.ts'
import type { AppPlatform } from './services/app-platform.ts'
import { signInSteps } from './sign-in-steps.ts'
import { keeps, known, machine, only, type Step, step, token, user } from './step.ts'
import { syncing } from './sync-steps.ts'
import { teaming } from './team-steps.ts'
import { type Actor, askForCliSession, newMember, newPerson, signUp, type Tenant } from './tenant.ts'
import { vaulting } from './vault-steps.ts'
import type { World } from './world.ts'

export interface Walk {
  tenant: Tenant
  steps: Step[]
}

/** Steps for every mutation of the contract, in an order in which each finds the objects that it needs. */
export async function buildWalk(world: World, platform: Pick<AppPlatform, 'token'>): Promise<Walk> {
  const tenant = await signUp(world)
  const people = {
    admin: await newMember(world, tenant, 'admin'),
    joined: await newMember(world, tenant, 'member', { keys: false }),
    alone: await newPerson(world, 'alone@example.com', { keys: false }),
  }
  // Otherwise the first member who becomes an admin would become the owner.
  await world.server.context.db.rows(`update memberships set role = 'owner' where user_id = $1`, [people.admin.id])
  const ids: Record<string, string> = { orgId: tenant.orgId }
  const steps = [
    // First, because it moves the clock, and a later step depends on an expiry.
    ...(await provisioning(world, ids, tenant, people.admin)),
    ...identity(tenant, people),
    ...own(ids, people.joined, await askForCliSession(world), await askForCliSession(world)),
    ...(await signInSteps(world, tenant)),
    ...(await invitations(world, tenant, await signUp(world))),
    ...organization(ids, people.admin),
    ...membership(tenant, people),
    ...applications(ids, tenant, people.admin),
    ...sharing(ids, tenant, people.admin),
    ...(await asking(world, ids, tenant)),
    ...(await leaving(world, ids, tenant)),
    ...(await teaming(world, ids, tenant)),
    ...approval(ids, tenant, people.admin),
    ...(await keeping(world, ids, tenant, people.admin)),
    ...(await leasing(world, ids, tenant, people.admin)),
    ...(await recovering(world, ids, tenant, people.admin)),
    ...(await rotating(world, ids, tenant, people.admin)),
    ...(await syncing(world, ids, tenant, people.admin, platform)),
    ...(await agency(world, ids, tenant)),
    ...(await subscribing(world, ids, tenant, people.admin)),
    ...vaulting(ids, tenant, people.admin),
    ...sinking(ids, tenant, people.admin),
    ...exportSteps(ids, tenant),
    replacement(world, ids, tenant),
    ...deletions(ids, tenant),
    // Last, because every change before it is also sent with documents, which nobody may sign without a directory.
    ...(await signing(world, ids, tenant, people.admin)),
  ]
  return { tenant, steps }
}

function applications(ids: Record<string, string>, tenant: Tenant, admin: Actor): Step[] {
  const byPerson = { as: admin.as, who: user(admin) }
  const byToken = { as: tenant.admin.as, who: token(tenant.admin) }
  const byMachine = { as: tenant.machine.as, who: machine(tenant.machine) }
  const inApp = only(ids, { appId: 'appId' })
  const inEnv = only(ids, { envId: 'envId' })
  const secret = () => ({ ...inEnv(), name: 'NAME' })
  const write = { params: secret, body: () => ({ ciphertext: ciphertext() }) }
  return [
    step(apps.create, 'app.created', byMachine, {
      params: only(ids, {}),
      body: () => ({ name: 'App', slug: 'app' }),
      resource: keeps(ids, 'appId', 'app'),
    }),
    step(apps.update, 'app.updated', byPerson, {
      params: inApp,
      body: () => ({ name: 'Renamed' }),
      resource: known(ids, 'appId'),
    }),
    step(apps.createEnv, 'env.created', byToken, {
      params: inApp,
      body: () => ({ name: 'Production', slug: 'production', wrappedDek: wrappedKey() }),
      resource: keeps(ids, 'envId', 'environment'),
    }),
    step(envs.update, 'env.updated', byPerson, {
      params: inEnv,
      body: () => ({ name: 'Renamed' }),
      resource: known(ids, 'envId'),
    }),
    step(secrets.put, 'secret.written', byToken, {
      ...write,
      note: 'that is new',
      resource: keeps(ids, 'secretId', 'secret'),
    }),
    step(secrets.put, 'secret.written', byToken, {
      ...write,
      note: 'that is there',
      resource: known(ids, 'secretId'),
    }),
    step(secrets.restore, 'secret.restored', byMachine, {
      params: secret,
      body: () => ({ version: 1 }),
      resource: known(ids, 'secretId'),
    }),
    ...rekeying(ids, tenant),
    ...proposingRekey(ids, tenant, admin),
    ...renaming(ids, tenant),
    step(secrets.delete, 'secret.deleted', byMachine, { params: secret, resource: known(ids, 'secretId') }),
    ...keepingDeleted(ids, tenant),
    step(secretDetails.update, 'secret.described', byToken, {
      params: secret,
      body: () => ({ sealed: sealedDetails(), notNeeded: true }),
      resource: known(ids, 'envId'),
    }),
  ]
}

/** Steps with a secret that is renamed and deleted. */
function renaming(ids: Record<string, string>, tenant: Tenant): Step[] {
  const byToken = { as: tenant.admin.as, who: token(tenant.admin) }
  const inEnv = only(ids, { envId: 'envId' })
  const called = (name: string) => () => ({ ...inEnv(), name })
  return [
    step(secrets.put, 'secret.written', byToken, {
      params: called('OLD'),
      body: () => ({ ciphertext: ciphertext() }),
      note: 'that will be renamed',
      resource: keeps(ids, 'renamedId', 'secret'),
    }),
    step(secrets.rename, 'secret.renamed', byToken, {
      params: called('OLD'),
      body: () => ({
        newName: 'NEW',
        ciphertext: ciphertext(),
        formerNames: sealedFormerNames(),
        expectedVersion: 1,
      }),
      resource: known(ids, 'renamedId'),
    }),
    step(secrets.delete, 'secret.deleted', byToken, {
      params: called('NEW'),
      note: 'that was renamed',
      resource: known(ids, 'renamedId'),
    }),
  ]
}

/** Steps with a secret that is kept when it is deleted: it is restored, deleted again and purged. */
function keepingDeleted(ids: Record<string, string>, tenant: Tenant): Step[] {
  const byToken = { as: tenant.admin.as, who: token(tenant.admin) }
  const byMachine = { as: tenant.machine.as, who: machine(tenant.machine) }
  const inEnv = only(ids, { envId: 'envId' })
  const secret = () => ({ ...inEnv(), name: 'KEPT' })
  const kept = only(ids, { envId: 'envId', secretId: 'keptId' })
  const deletes = (note: string) =>
    step(secrets.delete, 'secret.deleted', byMachine, {
      params: secret,
      query: () => ({ keepFor: '30d' }),
      note,
      resource: known(ids, 'keptId'),
    })
  return [
    step(secrets.put, 'secret.written', byToken, {
      params: secret,
      body: () => ({ ciphertext: ciphertext() }),
      note: 'that will be kept',
      resource: keeps(ids, 'keptId', 'secret'),
    }),
    deletes('and kept'),
    step(deletedSecrets.restore, 'secret.undeleted', byToken, {
      params: kept,
      body: () => ({ ciphertext: ciphertext() }),
      resource: known(ids, 'keptId'),
    }),
    deletes('and kept again'),
    step(deletedSecrets.purge, 'secret.purged', byMachine, { params: kept, resource: known(ids, 'keptId') }),
  ]
}

function sharing(ids: Record<string, string>, tenant: Tenant, admin: Actor): Step[] {
  const byPerson = { as: admin.as, who: user(admin) }
  const byToken = { as: tenant.admin.as, who: token(tenant.admin) }
  const byMachine = { as: tenant.machine.as, who: machine(tenant.machine) }
  const inEnv = only(ids, { envId: 'envId' })
  const inGroup = only(ids, { groupId: 'groupId' })
  const ofToken = only(ids, { tokenId: 'tokenId' })
  const ofClient = only(ids, { clientId: 'clientId' })
  ids.tokenId = newId('serviceToken')
  return [
    step(groups.create, 'group.created', byPerson, {
      params: only(ids, {}),
      body: () => ({ name: 'Group', slug: 'group' }),
      resource: keeps(ids, 'groupId', 'group'),
    }),
    step(groups.update, 'group.updated', byMachine, {
      params: inGroup,
      body: () => ({ name: 'Renamed' }),
      resource: known(ids, 'groupId'),
    }),
    step(groups.createEnv, 'env.created', byToken, {
      params: inGroup,
      body: () => ({ name: 'Production', slug: 'production', wrappedDek: wrappedKey() }),
      resource: keeps(ids, 'groupEnvId', 'environment'),
    }),
    step(composition.set, 'composition.set', byPerson, {
      params: inEnv,
      body: () => ({ groupId: ids.groupId }),
      resource: known(ids, 'envId'),
    }),
    step(composition.delete, 'composition.removed', byPerson, {
      params: only(ids, { envId: 'envId', groupId: 'groupId' }),
      resource: known(ids, 'envId'),
    }),
    step(tokens.create, 'token.created', byMachine, {
      params: only(ids, {}),
      body: () => ({
        name: 'Token',
        tokenId: ids.tokenId,
        tokenHash: sha256(bearerSecret()),
        publicKeyJwk: publicKeyJwk(),
      }),
      resource: known(ids, 'tokenId'),
    }),
    step(tokens.update, 'token.updated', byPerson, {
      params: ofToken,
      body: () => ({ name: 'Renamed' }),
      resource: known(ids, 'tokenId'),
    }),
    step(machineClients.create, 'machine_client.created', byPerson, {
      params: only(ids, {}),
      body: () => ({ name: 'Deploys' }),
      resource: keeps(ids, 'clientId', 'client'),
    }),
    step(machineClients.renewSecret, 'machine_client.secret_renewed', byPerson, {
      params: ofClient,
      resource: known(ids, 'clientId'),
    }),
    step(machineClients.revoke, 'machine_client.revoked', byPerson, {
      params: ofClient,
      resource: known(ids, 'clientId'),
    }),
    step(grants.create, 'key.granted', byToken, {
      params: inEnv,
      body: () => ({ principalType: 'service_token', principalId: ids.tokenId, wrappedDek: wrappedKey() }),
      resource: keeps(ids, 'grantId', 'grant'),
    }),
    step(grants.delete, 'key.revoked', byPerson, {
      params: only(ids, { envId: 'envId', grantId: 'grantId' }),
      resource: known(ids, 'grantId'),
    }),
    step(honeyTokens.create, 'honey_token.created', byMachine, {
      params: only(ids, {}),
      body: () => ({ tokenId: newId('serviceToken'), tokenHash: sha256(bearerSecret()), placement: 'a wiki' }),
      resource: keeps(ids, 'honeyTokenId', 'honeyToken'),
    }),
    step(branches.create, 'branch.created', byToken, {
      params: inEnv,
      body: () => ({ slug: 'branch', wrappedDek: wrappedKey(), ttlSeconds: 60 }),
      resource: keeps(ids, 'expiredId', 'branch'),
    }),
  ]
}

/** The step that replaces an expired branch by a new one of the same name, which writes two entries. */
function replacement(world: World, ids: Record<string, string>, { admin }: Tenant): Step {
  return {
    endpoint: branches.create,
    note: 'in place of one that has expired',
    as: () => {
      world.clock.advance(61)
      return admin.as
    },
    params: only(ids, { envId: 'envId' }),
    body: () => ({ slug: 'branch', wrappedDek: wrappedKey() }),
    entries: (seen) => [
      { action: 'branch.expired', resourceId: ids.expiredId as string, actor: token(admin) },
      { action: 'branch.created', resourceId: keeps(ids, 'branchId', 'branch')(seen), actor: token(admin) },
    ],
  }
}

function deletions(ids: Record<string, string>, tenant: Tenant): Step[] {
  const by = { as: tenant.admin.as, who: token(tenant.admin) }
  const remove = (endpoint: Endpoint, action: AuditAction, param: string, key = param, note?: string) =>
    step(endpoint, action, by, {
      params: only(ids, { [param]: key }),
      resource: known(ids, key),
      ...(note === undefined ? {} : { note }),
    })
  return [
    remove(tokens.revoke, 'token.revoked', 'tokenId'),
    remove(tokens.delete, 'token.deleted', 'tokenId'),
    remove(honeyTokens.delete, 'honey_token.deleted', 'honeyTokenId'),
    remove(envs.delete, 'branch.deleted', 'envId', 'branchId', 'that is a branch'),
    remove(envs.delete, 'env.deleted', 'envId', 'groupEnvId', 'of a group'),
    remove(envs.delete, 'env.deleted', 'envId', 'envId', 'of an application'),
    remove(groups.delete, 'group.deleted', 'groupId'),
    remove(apps.delete, 'app.deleted', 'appId'),
  ]
}
