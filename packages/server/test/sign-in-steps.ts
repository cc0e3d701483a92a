import { secondFactor } from '@skerry/contract/second-factor/endpoints'
import { sessions } from '@skerry/contract/sessions/endpoints'
import { signIn } from '@skerry/contract/sign-in/endpoints'
import { signInPasskeys } from '@skerry/contract/sign-in-passkeys/endpoints'
import { decodeJwt } from 'jose'
import { Secret, TOTP } from 'otpauth'
import { assert, newPasskey, register } from './authenticator.ts'
import { fromOwnPage, signInByLink, tokenOf } from './people.ts'
import type { Seen, Step } from './step.ts'
import { type Actor, acceptInvites, invitePerson, newMember, signUp, type Tenant } from './tenant.ts'
import type { World } from './world.ts'

/** Steps for every mutation about signing in, in a world with the built-in sign-in. */
export async function signInSteps(world: World, tenant: Tenant): Promise<Step[]> {
  const person = await newMember(world, tenant)
  const second = await signUp(world)
  return [
    ...(await awaitingSecondFactor(world, tenant)),
    ...(await passkeys(world, second, person)),
    ...(await factors(world, tenant)),
    ...(await leaving(world, tenant)),
  ]
}

const subOf = (seen: Seen) => decodeJwt((seen.session as Record<string, string>).token as string).sub as string
const sessionOf = (seen: Seen) => (seen.session as Record<string, string>).id as string
const user = (id: string) => ({ type: 'user', id })

async function awaitingSecondFactor(world: World, tenant: Tenant): Promise<Step[]> {
  const invite = () => invitePerson(world, tenant, 'linked@example.com')
  const token = await tokenOf(world, 'linked@example.com', 'You are invited', invite)
  return [
    {
      endpoint: signIn.redeemLink,
      body: () => ({ token }),
      entries: (seen) => {
        const id = subOf(seen)
        const actor = user(id)
        return [
          { action: 'user.created', resourceId: id, orgId: null, actor },
          { action: 'member.joined', resourceId: id, actor },
          { action: 'session.started', resourceId: sessionOf(seen), actor },
        ]
      },
    },
  ]
}

/** Steps in which a member of two organizations enrolls a passkey, signs in with it and removes it. */
async function passkeys(world: World, second: Tenant, { as, id }: Actor): Promise<Step[]> {
  const { port } = new URL(world.url)
  const here = { origin: `http://localhost:${port}`, rpId: 'localhost' }
  const made = newPasskey()
  const enrolling = (await world.call(signInPasskeys.options, { as })).body
  const entering = (await world.call(signIn.passkeyOptions)).body
  await invitePerson(world, second, await emailOf(world, id))
  await acceptInvites(world, { as })
  const actor = user(id)
  let passkeyId = ''
  return [
    {
      endpoint: signInPasskeys.create,
      as: () => as,
      body: () => ({
        challengeId: enrolling.challengeId,
        label: 'Label',
        response: register(made, enrolling.options, here),
      }),
      entries: (seen) => {
        passkeyId = (seen.passkey as Record<string, string>).id as string
        const enrolled = { action: 'user.sign_in_passkey_enrolled', resourceId: passkeyId, actor } as const
        return [enrolled, { ...enrolled, orgId: second.orgId }]
      },
    },
    {
      endpoint: signIn.passkey,
      body: () => ({ challengeId: entering.challengeId, response: assert(made, entering.options, here) }),
      entries: (seen) => [
        { action: 'session.started', resourceId: sessionOf(seen), orgId: second.orgId, actor },
        { action: 'session.started', resourceId: sessionOf(seen), actor },
      ],
    },
    {
      endpoint: signInPasskeys.delete,
      as: () => as,
      params: () => ({ signInPasskeyId: passkeyId }),
      entries: () => [
        { action: 'user.sign_in_passkey_removed', resourceId: passkeyId, orgId: second.orgId, actor },
        { action: 'user.sign_in_passkey_removed', resourceId: passkeyId, actor },
      ],
    },
  ]
}

async function factors(world: World, tenant: Tenant): Promise<Step[]> {
  const { as, id } = await newMember(world, tenant)
  const { secret } = (await world.call(secondFactor.enrollTotp, { as })).body
  const code = () =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: world.clock.now().getTime() })
  const actor = user(id)
  let codes: string[] = []
  const keep = (seen: Seen) => {
    codes = (seen as unknown as { recoveryCodes: string[] }).recoveryCodes
  }
  return [
    {
      endpoint: secondFactor.confirmTotp,
      as: () => as,
      body: () => ({ code: code() }),
      entries: (seen) => {
        keep(seen)
        return [{ action: 'user.totp_enrolled', resourceId: id, actor }]
      },
    },
    {
      endpoint: secondFactor.renewRecoveryCodes,
      as: () => as,
      entries: (seen) => {
        keep(seen)
        return [{ action: 'user.recovery_codes_renewed', resourceId: id, actor }]
      },
    },
    {
      endpoint: secondFactor.stepUp,
      as: () => as,
      body: () => ({ recoveryCode: codes[0] }),
      entries: (seen) => [
        { action: 'user.recovery_code_used', resourceId: id, actor },
        { action: 'session.second_factor_entered', resourceId: sessionOf(seen), actor },
      ],
    },
    {
      endpoint: secondFactor.removeTotp,
      as: () => as,
      entries: () => [{ action: 'user.totp_removed', resourceId: id, actor }],
    },
  ]
}

async function leaving(world: World, tenant: Tenant): Promise<Step[]> {
  const { id } = await newMember(world, tenant)
  const email = await emailOf(world, id)
  const [one, other] = [await signInByLink(world, email), await signInByLink(world, email)]
  const actor = user(id)
  return [
    {
      endpoint: sessions.end,
      as: () => one.as,
      params: () => ({ webSessionId: other.sessionId }),
      entries: () => [{ action: 'session.ended', resourceId: other.sessionId, actor }],
    },
    {
      endpoint: signIn.signOut,
      headers: { cookie: one.cookie, ...fromOwnPage },
      entries: () => [{ action: 'session.ended', resourceId: one.sessionId, actor }],
    },
  ]
}

async function emailOf(world: World, userId: string): Promise<string> {
  const row = await world.server.context.db.row<{ email: string }>('select email from users where id = $1', [userId])
  return row?.email as string
}
