import { cliLogin } from '@skerry/contract/cli-login/endpoints'
import { cliSessions } from '@skerry/contract/me/cli-sessions'
import { me } from '@skerry/contract/me/endpoints'
import { recoveryKit } from '@skerry/contract/me/recovery-kit'
import { invites, members } from '@skerry/contract/members/endpoints'
import { ownInvites } from '@skerry/contract/members/own-invites'
import { notifications } from '@skerry/contract/notifications/endpoints'
import { oauth } from '@skerry/contract/oauth/endpoints'
import { mfaPolicy, orgs } from '@skerry/contract/orgs/endpoints'
import { passkeys } from '@skerry/contract/passkeys/endpoints'
import { signup } from '@skerry/contract/signup/endpoints'
import { kitSealedKey, newPasskeyBody, publicKeyJwk, sealedPrivateKey } from './blobs.ts'
import { idOf, keeps, known, machine, only, type Step, step, token, user } from './step.ts'
import { type Actor, invitePerson, newPerson, type Tenant } from './tenant.ts'
import type { World } from './world.ts'

export function identity(tenant: Tenant, { joined, alone }: Record<'joined' | 'alone', Actor>): Step[] {
  const keys = () => ({ publicKeyJwk: publicKeyJwk(), encryptedPrivateKey: sealedPrivateKey() })
  const latest = keys()
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
      endpoint: me.patchKeys,
      as: () => joined.as,
      body: () => ({ encryptedPrivateKey: sealedPrivateKey() }),
      entries: () => [{ action: 'user.keys_resealed', resourceId: joined.id, actor: user(joined) }],
    },
    {
      endpoint: me.replaceKeys,
      note: 'of a member',
      as: () => joined.as,
      body: () => latest,
      entries: () => [{ action: 'user.keys_replaced', resourceId: joined.id, actor: user(joined) }],
    },
    {
      endpoint: recoveryKit.put,
      as: () => joined.as,
      body: () => ({ ...latest, encryptedPrivateKey: kitSealedKey() }),
      entries: () => [{ action: 'user.recovery_kit_made', resourceId: joined.id, actor: user(joined) }],
    },
    {
      endpoint: recoveryKit.delete,
      as: () => joined.as,
      entries: () => [{ action: 'user.recovery_kit_removed', resourceId: joined.id, actor: user(joined) }],
    },
    {
      endpoint: me.replaceKeys,
      note: 'of a person in no organization',
      as: () => alone.as,
      body: keys,
      entries: () => [{ action: 'user.keys_replaced', resourceId: alone.id, orgId: null, actor: user(alone) }],
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

/** Steps with a person's own objects: CLI sessions, a passkey and notification settings. */
export function own(
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

/** Steps in which a person accepts one invitation and declines another. */
export async function invitations(world: World, one: Tenant, other: Tenant): Promise<Step[]> {
  const email = 'asked@example.com'
  const person = await newPerson(world, email)
  const [wanted, unwanted] = [await invitePerson(world, one, email), await invitePerson(world, other, email)]
  const by = { as: person.as, who: user(person) }
  return [
    {
      endpoint: ownInvites.accept,
      as: () => person.as,
      params: () => ({ inviteId: wanted.body.invite.id }),
      entries: () => [{ action: 'member.joined', resourceId: person.id, orgId: one.orgId, actor: by.who }],
    },
    {
      endpoint: ownInvites.decline,
      as: () => person.as,
      params: () => ({ inviteId: unwanted.body.invite.id }),
      entries: () => [
        { action: 'invite.declined', resourceId: unwanted.body.invite.id, orgId: other.orgId, actor: by.who },
      ],
    },
  ]
}

export function membership(tenant: Tenant, { admin, joined }: Record<'admin' | 'joined', Actor>): Step[] {
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

export function organization(ids: Record<string, string>, admin: Actor): Step[] {
  const by = { as: admin.as, who: user(admin) }
  const params = only(ids, {})
  return [
    step(orgs.update, 'org.updated', by, { params, body: () => ({ name: 'Renamed' }), resource: known(ids, 'orgId') }),
    step(invites.create, 'invite.created', by, {
      params,
      body: () => ({ email: 'Invited.Person@example.com', role: 'admin' }),
      resource: keeps(ids, 'inviteId', 'invite'),
    }),
    step(invites.resend, 'invite.resent', by, {
      params: only(ids, { inviteId: 'inviteId' }),
      resource: known(ids, 'inviteId'),
    }),
    step(invites.delete, 'invite.revoked', by, {
      params: only(ids, { inviteId: 'inviteId' }),
      resource: known(ids, 'inviteId'),
    }),
  ]
}
