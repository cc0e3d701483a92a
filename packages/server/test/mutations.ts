import { apps } from '@skerry/contract/apps'
import type { AuditAction } from '@skerry/contract/audit-actions'
import { changes, protection } from '@skerry/contract/changes'
import { cliLogin, cliSessions } from '@skerry/contract/cli-login'
import type { Endpoint } from '@skerry/contract/endpoint'
import { branches, envs, rekey } from '@skerry/contract/envs'
import { grants } from '@skerry/contract/grants'
import { composition, groups } from '@skerry/contract/groups'
import { honeyTokens } from '@skerry/contract/honey-tokens'
import { me } from '@skerry/contract/me'
import { notifications } from '@skerry/contract/notifications'
import { invites, members, mfaPolicy, orgs } from '@skerry/contract/orgs'
import { passkeys } from '@skerry/contract/passkeys'
import { secrets } from '@skerry/contract/secrets'
import { oauth, signup } from '@skerry/contract/signup'
import { tokens } from '@skerry/contract/tokens'
import { newId, sha256 } from '../src/http/context.ts'
import { bearerSecret, ciphertext, newPasskeyBody, publicKeyJwk, sealedPrivateKey, wrappedKey } from './blobs.ts'
import { signInSteps } from './sign-in-steps.ts'
import { idOf, keeps, known, only, type Step, step } from './step.ts'
import { type Actor, askForCliSession, newMember, newPerson, signUp, type Tenant } from './tenant.ts'
import type { World } from './world.ts'

export interface Walk {
  tenant: Tenant
  steps: Step[]
}

/** Every mutation of the contract, in an order in which each has what it needs. */
export async function buildWalk(world: World): Promise<Walk> {
  const tenant = await signUp(world)
  const people = {
    admin: await newMember(world, tenant, 'admin'),
    joined: await newMember(world, tenant, 'member', { keys: false }),
    alone: await newPerson(world, 'alone@example.com', { keys: false }),
  }
  const ids: Record<string, string> = { orgId: tenant.orgId }
  const steps = [
    ...identity(tenant, people),
    ...own(ids, people.joined, await askForCliSession(world), await askForCliSession(world)),
    ...(await signInSteps(world, tenant)),
    ...organization(ids, people.admin),
    ...membership(tenant, people),
    ...applications(ids, tenant, people.admin),
    ...sharing(ids, tenant, people.admin),
    ...approval(ids, tenant, people.admin),
    replacement(world, ids, tenant),
    ...deletions(ids, tenant),
  ]
  return { tenant, steps }
}

const user = ({ id }: Actor) => ({ type: 'user', id })
const machine = ({ id }: Actor) => ({ type: 'm2m', id })
const token = ({ id }: Actor) => ({ type: 'service_token', id })
function identity(tenant: Tenant, { joined, alone }: Record<'joined' | 'alone', Actor>): Step[] {
  const keys = () => ({ publicKeyJwk: publicKeyJwk(), encryptedPrivateKey: sealedPrivateKey() })
  return [
    {
      endpoint: signup.create,
      body: () => ({ orgName: 'Signed up', orgSlug: 'signed-up' }),
      entries: (seen) => {
        const orgId = idOf(seen, 'org')
        const id = seen.m2m?.clientId as string
        const actor = { type: 'm2m', id }
        return [
          { action: 'org.created', resourceId: orgId, orgId, actor },
          { action: 'machine_client.created', resourceId: id, orgId, actor },
        ]
      },
    },
    {
      endpoint: oauth.token,
      as: () => tenant.machine.as,
      body: () => ({ grant_type: 'client_credentials' }),
      entries: () => [
        { action: 'machine_client.token_issued', resourceId: tenant.machine.id, actor: machine(tenant.machine) },
      ],
    },
    {
      endpoint: me.putKeys,
      note: 'of a member',
      as: () => joined.as,
      body: keys,
      entries: () => [{ action: 'user.keys_uploaded', resourceId: joined.id, actor: user(joined) }],
    },
    {
      endpoint: me.putKeys,
      note: 'of a person in no organization',
      as: () => alone.as,
      body: keys,
      entries: () => [{ action: 'user.keys_uploaded', resourceId: alone.id, orgId: null, actor: user(alone) }],
    },
    {
      endpoint: orgs.create,
      as: () => alone.as,
      body: () => ({ name: 'Own', slug: 'own' }),
      entries: (seen) => {
        const orgId = idOf(seen, 'org')
        return [{ action: 'org.created', resourceId: orgId, orgId, actor: user(alone) }]
      },
    },
  ]
}

/** What a person has. */
function own(
  ids: Record<string, string>,
  person: Actor,
  wanted: { id: string; code: string },
  unwanted: { id: string; code: string },
): Step[] {
  const by = { as: person.as, who: user(person) }
  return [
    step(cliLogin.approve, 'cli_session.approved', by, {
      params: () => ({ code: wanted.code }),
      resource: () => wanted.id,
    }),
    step(cliLogin.deny, 'cli_session.denied', by, {
      params: () => ({ code: unwanted.code }),
      resource: () => unwanted.id,
    }),
    step(cliSessions.revoke, 'cli_session.revoked', by, {
      params: () => ({ cliSessionId: wanted.id }),
      resource: () => wanted.id,
    }),
    step(passkeys.create, 'user.passkey_enrolled', by, {
      params: () => ({}),
      body: newPasskeyBody,
      resource: keeps(ids, 'passkeyId', 'passkey'),
    }),
    step(passkeys.delete, 'user.passkey_removed', by, {
      params: () => ({ passkeyId: ids.passkeyId as string }),
      resource: known(ids, 'passkeyId'),
    }),
    step(notifications.put, 'user.notifications_updated', by, {
      params: () => ({}),
      body: () => ({ prefs: { invitation: false } }),
      resource: () => person.id,
    }),
  ]
}

function membership(tenant: Tenant, { admin, joined }: Record<'admin' | 'joined', Actor>): Step[] {
  const byPerson = { as: admin.as, who: user(admin) }
  const byToken = { as: tenant.admin.as, who: token(tenant.admin) }
  const { orgId } = tenant
  const aboutJoined = { params: () => ({ orgId, userId: joined.id }), resource: () => joined.id }
  const policy = (required: boolean) =>
    step(mfaPolicy.update, 'org.mfa_policy_updated', byToken, {
      note: required ? 'on' : 'off',
      params: () => ({ orgId }),
      body: () => ({ required }),
      resource: () => orgId,
    })
  return [
    policy(true),
    policy(false),
    step(members.update, 'member.role_changed', byToken, { ...aboutJoined, body: () => ({ role: 'admin' }) }),
    step(members.remove, 'member.removed', byPerson, aboutJoined),
  ]
}

function organization(ids: Record<string, string>, admin: Actor): Step[] {
  const by = { as: admin.as, who: user(admin) }
  const params = only(ids, {})
  return [
    step(orgs.update, 'org.updated', by, { params, body: () => ({ name: 'Renamed' }), resource: known(ids, 'orgId') }),
    step(invites.create, 'invite.created', by, {
      params,
      body: () => ({ email: 'Invited.Person@example.com', role: 'admin' }),
      resource: keeps(ids, 'inviteId', 'invite'),
    }),
    step(invites.delete, 'invite.revoked', by, {
      params: only(ids, { inviteId: 'inviteId' }),
      resource: known(ids, 'inviteId'),
    }),
  ]
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
    step(secrets.delete, 'secret.deleted', byMachine, { params: secret, resource: known(ids, 'secretId') }),
  ]
}

/** Another key, while a change waits that was sealed under the old one. */
function rekeying(ids: Record<string, string>, { admin }: Tenant): Step[] {
  const by = { as: admin.as, who: token(admin) }
  const params = only(ids, { envId: 'envId' })
  const [note, resource] = ['before another key', known(ids, 'envId')]
  return [
    step(protection.put, 'env.protection_enabled', by, { params, note, resource }),
    step(secrets.put, 'change_request.opened', by, {
      params: () => ({ ...params(), name: 'WAITS' }),
      body: () => ({ ciphertext: ciphertext() }),
      note,
      resource: keeps(ids, 'waitsId', 'changeRequest'),
    }),
    {
      endpoint: rekey.run,
      as: () => admin.as,
      params,
      body: () => ({
        expectedVersions: { NAME: 3 },
        grants: [{ principalType: 'service_token', principalId: admin.id, wrappedDek: wrappedKey() }],
        secrets: [{ name: 'NAME', ciphertext: ciphertext() }],
      }),
      entries: () => [
        { action: 'env.rekeyed', resourceId: ids.envId as string, actor: token(admin) },
        { action: 'change_request.superseded', resourceId: ids.waitsId as string, actor: token(admin) },
      ],
    },
    step(protection.delete, 'env.protection_disabled', by, { params, note: 'after another key', resource }),
  ]
}

function sharing(ids: Record<string, string>, tenant: Tenant, admin: Actor): Step[] {
  const byPerson = { as: admin.as, who: user(admin) }
  const byToken = { as: tenant.admin.as, who: token(tenant.admin) }
  const byMachine = { as: tenant.machine.as, who: machine(tenant.machine) }
  const inEnv = only(ids, { envId: 'envId' })
  const inGroup = only(ids, { groupId: 'groupId' })
  const ofToken = only(ids, { tokenId: 'tokenId' })
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

/** Each kind of change proposed by a token, and decided in each way by a person. */
function approval(ids: Record<string, string>, { admin: proposer }: Tenant, reviewer: Actor): Step[] {
  const byToken = { as: proposer.as, who: token(proposer) }
  const byPerson = { as: reviewer.as, who: user(reviewer) }
  const inEnv = only(ids, { envId: 'envId' })
  const params = () => ({ ...inEnv(), name: 'GUARDED' })
  const write = { params, body: () => ({ ciphertext: ciphertext() }) }
  const proposes = (endpoint: Endpoint, id: string, body?: () => Record<string, unknown>) => {
    const parts = { params, resource: keeps(ids, id, 'changeRequest'), note: `queued, ${id}` }
    return step(endpoint, 'change_request.opened', byToken, body ? { ...parts, body } : parts)
  }
  const approves = (id: string, ...actions: AuditAction[]): Step => ({
    endpoint: changes.approve,
    note: id,
    as: () => reviewer.as,
    params: only(ids, { changeRequestId: id }),
    entries: () =>
      (['change_request.approved', ...actions] as const).map((action) => ({
        action,
        resourceId: ids[action.startsWith('secret.') ? 'guardedId' : id] as string,
        actor: user(reviewer),
      })),
  })
  const closes = (endpoint: Endpoint, id: string, action: AuditAction) =>
    step(endpoint, action, byPerson, { params: only(ids, { changeRequestId: id }), resource: known(ids, id) })
  const protects = (endpoint: Endpoint, action: AuditAction) =>
    step(endpoint, action, byPerson, { params: inEnv, resource: known(ids, 'envId'), note: action })
  return [
    step(secrets.put, 'secret.written', byToken, {
      ...write,
      note: 'not yet guarded',
      resource: keeps(ids, 'guardedId', 'secret'),
    }),
    protects(protection.put, 'env.protection_enabled'),
    protects(protection.put, 'env.protection_updated'),
    proposes(secrets.put, 'putId', write.body),
    proposes(secrets.put, 'lateId', write.body),
    approves('putId', 'change_request.applied', 'secret.written'),
    approves('lateId', 'change_request.superseded'),
    proposes(secrets.restore, 'rejectedId', () => ({ version: 1 })),
    closes(changes.reject, 'rejectedId', 'change_request.rejected'),
    proposes(secrets.restore, 'restoreId', () => ({ version: 1 })),
    approves('restoreId', 'change_request.applied', 'secret.restored'),
    proposes(secrets.delete, 'withdrawnId'),
    closes(changes.withdraw, 'withdrawnId', 'change_request.withdrawn'),
    proposes(secrets.delete, 'deleteId'),
    approves('deleteId', 'change_request.applied', 'secret.deleted'),
    protects(protection.delete, 'env.protection_disabled'),
  ]
}

/** A branch whose time is up makes way for one of the same name: two entries. */
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
