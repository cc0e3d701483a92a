import { me } from '@skerry/contract/me/endpoints'
import { invites } from '@skerry/contract/members/endpoints'
import { orgs } from '@skerry/contract/orgs/endpoints'
import { signIn } from '@skerry/contract/sign-in/endpoints'
import { describe, expect, test } from 'vitest'
import { browserOf, mailedToken, outbox, readMail, signInByLink, tokenOf } from '../../../test/people.ts'
import { openTenant } from '../../../test/scene.ts'
import { stopSchedules, tableDump } from '../../../test/state.ts'
import { newMember, signUp, type Tenant } from '../../../test/tenant.ts'
import { until } from '../../../test/until.ts'
import { builtIn } from '../../../test/world.ts'
import { newSecret, sha256 } from '../../kernel/context.ts'
import { sweepSignIn } from './sweep.ts'

const { world, tenant } = await openTenant(builtIn)

const day = 86_400
const create = (email: string, { orgId, admin }: Tenant, role = 'member') =>
  world.call(invites.create, { as: admin.as, params: { orgId }, body: { email, role } })
const list = async (query: Record<string, string> = {}) =>
  (await world.call(invites.list, { as: tenant.admin.as, params: { orgId: tenant.orgId }, query })).body.invites
const inviteTo = async (email: string) => (await list({ status: 'all' })).find((one) => one.email === email)
const resend = (inviteId: string, { orgId, admin } = tenant) =>
  world.call(invites.resend, { as: admin.as, params: { orgId, inviteId } })
/** Invites, and returns the token in the mail. */
const invited = (email: string, by = tenant, role = 'member') =>
  tokenOf(world, email, 'You are invited', () => create(email, by, role))
const resent = async (email: string) =>
  tokenOf(world, email, 'You are invited', async () => resend((await inviteTo(email))?.id as string))
const show = (token: string) => world.call(signIn.showInvitation, { body: { token } })
const redeem = (token: string) => world.call(signIn.redeemLink, { body: { token } })
const orgsOf = async (as: string) => (await world.call(me.get, { as })).body.orgs.map(({ id }) => id)
const membersOf = async ({ orgId, machine }: Tenant) =>
  (await world.call(orgs.members, { as: machine.as, params: { orgId } })).body.members

describe('the link of an invitation', () => {
  test('signs a new person in and lets them join, for as long as the invitation', async () => {
    const token = await invited('slow@example.com')
    const late = await invited('late@example.com')
    world.clock.advance(7 * day - 60)
    const answer = await redeem(token)
    expect(answer.status).toBe(200)
    expect(await orgsOf(browserOf(answer).as)).toEqual([tenant.orgId])
    world.clock.advance(61)
    expect((await redeem(late)).status).toBe(401)
    expect((await show(late)).status).toBe(401)
  })

  test('signs in nobody who has an account once it is older than 15 minutes, and is not used up by the attempt', async () => {
    const email = 'known@example.com'
    await invited(email)
    const first = await redeem(await resent(email))
    expect(first.status).toBe(200)
    const stranger = await signUp(world)
    const token = await invited(email, stranger)
    world.clock.advance(901)
    expect((await show(token)).body.invitation).toMatchObject({ signsIn: false, usedAt: null, acceptedAt: null })
    expect((await redeem(token)).status).toBe(401)
    expect(await membersOf(stranger)).toEqual([])
    const again = await tokenOf(world, email, 'You are invited', async () => {
      const { invites: waiting } = (
        await world.call(invites.list, { as: stranger.admin.as, params: { orgId: stranger.orgId } })
      ).body
      await resend(waiting[0]?.id as string, stranger)
    })
    expect((await show(again)).body.invitation.signsIn).toBe(true)
    expect((await redeem(again)).status).toBe(200)
    expect(await membersOf(stranger)).toHaveLength(1)
  })

  test('is stored as a hash, works once, and afterwards shows when it was used', async () => {
    const email = 'once@example.com'
    const token = await invited(email)
    const tables = (await tableDump(world)).filter(({ text }) => text.includes(token) || text.includes(sha256(token)))
    expect(tables.map(({ where }) => where)).toEqual(['table public.magic_links'])
    const answers = await Promise.all(Array.from({ length: 20 }, () => redeem(token)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const { invitation } = (await show(token)).body
    expect(invitation).toMatchObject({ usedAt: expect.any(String), acceptedAt: expect.any(String), signsIn: false })
    expect((await inviteTo(email))?.linkUsedAt).toBe(invitation.usedAt)
    world.clock.advance(8 * day)
    await sweepSignIn(world.server.context)
    expect((await inviteTo(email))?.linkUsedAt).toBeNull()
  })
})

describe('the name that a person gives with a link', () => {
  const nameOf = async (as: string) => (await world.call(me.get, { as })).body.user?.name
  const redeemAs = async (token: string, name: string) =>
    browserOf(await world.call(signIn.redeemLink, { body: { token, name } })).as

  test('is that of a new person, or of one without a name, and replaces no other', async () => {
    const email = 'kenji@example.com'
    expect(await nameOf(await redeemAs(await invited(email), 'Kenji Sato'))).toBe('Kenji Sato')
    const stranger = await signUp(world)
    expect(await nameOf(await redeemAs(await invited(email, stranger), 'Somebody else'))).toBe('Kenji Sato')
    const { as } = browserOf(await redeem(await invited('nameless@example.com')))
    expect(await nameOf(as)).toBeNull()
    await invited('nameless@example.com', stranger)
    const token = await tokenOf(world, 'nameless@example.com', 'Sign in to Skerry', () =>
      world.call(signIn.requestLink, { body: { email: 'nameless@example.com' } }),
    )
    expect(await nameOf(await redeemAs(token, 'Noor'))).toBe('Noor')
  })

  test.each(['', 'a\nb'])('is refused as %j, and the link is not used up', async (name) => {
    const token = await invited(`refused-${name.length}-${name.charCodeAt(0)}@example.com`)
    expect((await world.call(signIn.redeemLink, { body: { token, name } })).status).toBe(400)
    expect((await redeem(token)).status).toBe(200)
  })
})

test('with a joining code, the mail and the page of the link say that the link joins without the code', async () => {
  const joining = 'ji1.abc.def'
  const token = await tokenOf(world, 'coded@example.com', 'You are invited', () =>
    world.call(invites.create, {
      as: tenant.admin.as,
      params: { orgId: tenant.orgId },
      body: { email: 'coded@example.com', joining },
    }),
  )
  const mailTo = async (email: string) => {
    const mails = await Promise.all((await outbox(world)).map((name) => readMail(world, name)))
    return mails.find((mail) => mail.includes(`To: ${email}\n`))
  }
  const mail = await mailTo('coded@example.com')
  expect(mail).toMatch(/skerry login --url http[\s\S]*skerry invite accept --code/)
  expect(mail).toContain('accepts the invitation without the joining code')
  expect((await show(token)).body.invitation.hasJoiningCode).toBe(true)
  await invited('uncoded@example.com')
  expect(await mailTo('uncoded@example.com')).not.toContain('joining code')
})

describe('showing the invitation of a link', () => {
  test('names organization, inviter, role and address, and joins nothing', async () => {
    const admin = await newMember(world, tenant, 'admin', { keys: false, email: 'ingrid@example.com' })
    const token = await tokenOf(world, 'hana@example.com', 'You are invited', () =>
      create('hana@example.com', { ...tenant, admin }, 'admin'),
    )
    await stopSchedules(world)
    const before = await tableDump(world)
    const { status, body } = await show(token)
    expect(status).toBe(200)
    expect(body.invitation).toEqual({
      id: (await inviteTo('hana@example.com'))?.id,
      orgName: expect.any(String),
      orgSlug: tenant.slug,
      role: 'admin',
      email: 'hana@example.com',
      hasJoiningCode: false,
      becomesOwner: true,
      invitedBy: 'ingrid@example.com',
      invitedByName: null,
      createdAt: expect.any(String),
      expiresAt: expect.any(String),
      usedAt: null,
      acceptedAt: null,
      signsIn: true,
    })
    const changed = async () =>
      (await tableDump(world)).filter(
        ({ where, text }) => before.find((table) => table.where === where)?.text !== text && !/jobs/.test(where),
      )
    expect(await changed()).toEqual([])
    expect((await membersOf(tenant)).map(({ email }) => email)).not.toContain('hana@example.com')
  })

  test('tells the first admin of an organization without an owner that they become its owner', async () => {
    const stranger = await signUp(world)
    const becomesOwner = async (email: string, role: string) =>
      (await show(await invited(email, stranger, role))).body.invitation.becomesOwner
    expect(await becomesOwner('nina@example.com', 'member')).toBe(false)
    const token = await invited('first@example.com', stranger, 'admin')
    expect((await show(token)).body.invitation).toMatchObject({ becomesOwner: true, role: 'admin', invitedBy: null })
    expect((await redeem(token)).status).toBe(200)
    expect(await becomesOwner('second@example.com', 'admin')).toBe(false)
  })

  test('answers the same for an unknown link, an ordinary link and the link of a revoked invitation', async () => {
    const email = 'revoked@example.com'
    const token = await invited(email)
    const params = { orgId: tenant.orgId, inviteId: (await inviteTo(email))?.id as string }
    await world.call(invites.delete, { as: tenant.admin.as, params })
    await newMember(world, tenant, 'member', { keys: false, email: 'here@example.com' })
    const answers = [
      await show(newSecret()),
      await show(await mailedToken(world, 'here@example.com')),
      await show(token),
    ]
    for (const { status, error } of answers) expect([status, error]).toEqual([401, answers[0]?.error])
  })

  test('of a revoked invitation signs nobody in, although another invitation waits for the address', async () => {
    const email = 'twice@example.com'
    const revoked = await invited(email)
    const params = { orgId: tenant.orgId, inviteId: (await inviteTo(email))?.id as string }
    await world.call(invites.delete, { as: tenant.admin.as, params })
    const waiting = await invited(email)
    expect((await redeem(revoked)).status).toBe(401)
    expect((await redeem(waiting)).status).toBe(200)
  })
})

describe('sending an invitation again', () => {
  test('mails a new link for seven days, and ends the earlier one', async () => {
    const email = 'again@example.com'
    const first = await invited(email)
    const before = await inviteTo(email)
    world.clock.advance(5 * day)
    const second = await resent(email)
    const after = await inviteTo(email)
    expect(after).toMatchObject({ id: before?.id, role: before?.role, createdAt: before?.createdAt })
    expect(Date.parse(after?.expiresAt as string) - Date.parse(after?.sentAt as string)).toBe(7 * day * 1000)
    expect([(await show(first)).status, (await redeem(first)).status]).toEqual([401, 401])
    world.clock.advance(3 * day)
    expect((await redeem(second)).status).toBe(200)
  })

  test('is possible for pending invitations of one’s own organization only', async () => {
    const stranger = await signUp(world)
    const theirs = (await create('theirs@example.com', stranger)).body.invite.id
    expect((await resend(theirs)).status).toBe(404)
    await redeem(await invited('joined@example.com'))
    expect((await resend((await inviteTo('joined@example.com'))?.id as string)).status).toBe(404)
    const member = await newMember(world, tenant, 'member', { keys: false })
    const { id } = (await create('waits@example.com', tenant)).body.invite
    expect((await resend(id, { ...tenant, admin: member })).status).toBe(403)
    world.clock.advance(7 * day + 1)
    expect((await resend(id)).status).toBe(404)
  })
})

describe('an accepted invitation', () => {
  test('is listed with its time on request, is pending no longer, and takes no seat of its own', async () => {
    const email = 'accepted@example.com'
    await redeem(await invited(email))
    expect((await list()).map((one) => one.email)).not.toContain(email)
    const accepted = (await list({ status: 'accepted' })).find((one) => one.email === email)
    expect(accepted).toMatchObject({ acceptedAt: expect.any(String), linkUsedAt: expect.any(String) })
    const params = { orgId: tenant.orgId, inviteId: accepted?.id as string }
    expect((await world.call(invites.delete, { as: tenant.admin.as, params })).status).toBe(404)
  })

  test('allows another invitation after the member was removed', async () => {
    const email = 'returns@example.com'
    const { as } = browserOf(await redeem(await invited(email)))
    const userId = (await world.call(me.get, { as })).body.principal.id
    const { db } = world.server.context
    await db.rows('delete from memberships where user_id = $1', [userId])
    const again = await create(email, tenant)
    expect([again.status, again.body.invite.acceptedAt]).toEqual([201, null])
    await until('the mail', async () => (await outbox(world)).length > 0)
    await signInByLink(world, email)
  })
})
