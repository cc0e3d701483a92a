import { me } from '@skerry/contract/me/endpoints'
import { invites } from '@skerry/contract/members/endpoints'
import { ownInvites } from '@skerry/contract/members/own-invites'
import { orgs } from '@skerry/contract/orgs/endpoints'
import { signIn } from '@skerry/contract/sign-in/endpoints'
import { describe, expect, test } from 'vitest'
import {
  browserOf,
  mailedToken,
  outbox,
  type SignedInBrowser,
  setUp,
  signInByLink,
  tokenOf,
} from '../../../test/people.ts'
import { openTenant } from '../../../test/scene.ts'
import { auditRows, tableDump } from '../../../test/state.ts'
import { acceptInvites, invitePerson, signUp, type Tenant } from '../../../test/tenant.ts'
import { builtIn, openWorld } from '../../../test/world.ts'
import { newSecret, sha256 } from '../../kernel/context.ts'
import { makeSetUpLink } from './set-up.ts'
import { sweepSignIn } from './sweep.ts'

const { world, tenant } = await openTenant(builtIn)
let owner: SignedInBrowser

const invite = (email: string, role = 'member') =>
  world.call(invites.create, { as: tenant.admin.as, params: { orgId: tenant.orgId }, body: { email, role } })
const redeem = (token: string) => world.call(signIn.redeemLink, { body: { token } })
/** The tables that contain a text, including those of the job queue. */
const tablesWith = async (text: string) =>
  (await tableDump(world)).filter((table) => table.text.includes(text)).map(({ where }) => where)
const invited = (email: string) => tokenOf(world, email, 'You are invited', () => invite(email))
const membersOf = async ({ orgId, machine }: Tenant) =>
  (await world.call(orgs.members, { as: machine.as, params: { orgId } })).body.members
const whoAmI = (as: string) => world.call(me.get, { as })

describe('the first person', () => {
  const body = { email: 'First@example.com', name: 'First', orgName: 'First', orgSlug: 'first' }

  test('is still missing on an empty database, even if programs have signed up', async () => {
    const answer = await world.call(signIn.get)
    expect(answer.body).toEqual({
      kind: 'built_in',
      available: true,
      setUpNeeded: true,
      signup: 'open',
      mail: 'outbox',
    })
    expect(world.server.setUpLink).toMatch(new RegExp(`^${world.url}/set-up#[\\w-]{43}$`))
  })

  test('gets a link of which the database has only the hash', async () => {
    const token = world.server.setUpLink?.split('#')[1] as string
    expect(await tablesWith(token)).toEqual([])
    expect(await tablesWith(sha256(token))).toEqual(['table public.set_up_links'])
  })

  test('cannot set the server up with another token', async () => {
    const { status, error } = await world.call(signIn.setUp, { body: { ...body, token: newSecret() } })
    expect([status, error?.code]).toEqual([401, 'unauthorized'])
  })

  test('owns the first organization with people, and is signed in', async () => {
    owner = await setUp(world)
    const { user, orgs, session } = (await whoAmI(owner.as)).body
    expect(user).toMatchObject({ email: 'first@example.com', name: 'First' })
    expect(orgs.map(({ slug, role }) => [slug, role])).toEqual([['first', 'owner']])
    expect(session).toEqual({ kind: 'browser', id: owner.sessionId, secondFactor: false, mfaAt: null })
  })

  test('is recorded in the audit log, with the organization and the session', async () => {
    const entries = await auditRows(world)
    const { user, orgs } = (await whoAmI(owner.as)).body
    const [id, orgId] = [user?.id, orgs[0]?.id]
    const mine = entries.filter(({ actorId }) => actorId === id).map((row) => [row.action, row.resourceId, row.orgId])
    expect(mine.sort()).toEqual([
      ['org.created', orgId, orgId],
      ['session.started', owner.sessionId, orgId],
      ['user.created', id, null],
    ])
  })

  test('is the only one, because the link works once', async () => {
    const token = world.server.setUpLink?.split('#')[1] as string
    const answer = await world.call(signIn.setUp, { body: { ...body, token, orgSlug: 'second' } })
    expect(answer.status).toBe(401)
    expect((await world.call(signIn.get)).body.setUpNeeded).toBe(false)
  })

  test('leaves no trace of the link in the log', () => {
    expect(world.log.join('')).not.toContain(world.server.setUpLink?.split('#')[1])
  })
})

describe('a magic link', () => {
  test('signs an invited person in and proves their address; the invitation waits for them', async () => {
    await invite('ada@example.com', 'admin')
    const { as } = await signInByLink(world, 'Ada@Example.com')
    const { user, orgs } = (await whoAmI(as)).body
    expect([user?.email, orgs]).toEqual(['ada@example.com', []])
    await acceptInvites(world, { as })
    expect((await whoAmI(as)).body.orgs.map(({ id, role }) => [id, role])).toEqual([[tenant.orgId, 'owner']])
  })

  test('in an invitation is stored as a hash, works once, and not at all after the invitation was revoked', async () => {
    const token = await invited('grace@example.com')
    expect(await tablesWith(token)).toEqual([])
    const answer = await redeem(token)
    expect(answer.status).toBe(200)
    const { orgs } = (await whoAmI(browserOf(answer).as)).body
    expect(orgs.map(({ id, role }) => [id, role])).toEqual([[tenant.orgId, 'member']])
    expect((await redeem(token)).status).toBe(401)
    const useless = await invited('edith@example.com')
    const params = { orgId: tenant.orgId }
    const waiting = (await world.call(invites.list, { as: tenant.admin.as, params })).body.invites
    const inviteId = waiting.find(({ email }) => email === 'edith@example.com')?.id as string
    await world.call(invites.delete, { as: tenant.admin.as, params: { ...params, inviteId } })
    expect((await redeem(useless)).status).toBe(401)
  })

  test('of an invitation accepts that invitation only, and none of a stranger', async () => {
    const stranger = await signUp(world)
    await tokenOf(world, 'hedy@example.com', 'You are invited', () =>
      invitePerson(world, stranger, 'hedy@example.com', 'admin'),
    )
    const { as } = browserOf(await redeem(await invited('hedy@example.com')))
    expect((await whoAmI(as)).body.orgs.map(({ id, role }) => [id, role])).toEqual([[tenant.orgId, 'member']])
    expect((await world.call(ownInvites.list, { as })).body.invites).toMatchObject([{ orgSlug: stranger.slug }])
    await signInByLink(world, 'hedy@example.com')
    expect((await whoAmI(as)).body.orgs).toHaveLength(1)
  })

  test('of an invitation accepts nothing for a person who has a second factor, because a mailbox alone does not sign them in', async () => {
    const { as } = await signInByLink(world, 'ada@example.com')
    const ada = (await whoAmI(as)).body
    const { db } = world.server.context
    await db.rows(
      `insert into totp_factors (user_id, sealed_secret, created_at, confirmed_at) values ($1, 'sealed', now(), now())`,
      [ada.user?.id],
    )
    const stranger = await signUp(world)
    const token = await tokenOf(world, 'ada@example.com', 'You are invited', () =>
      invitePerson(world, stranger, 'ada@example.com', 'admin'),
    )
    expect((await redeem(token)).status).toBe(200)
    expect(await membersOf(stranger)).toEqual([])
    await db.rows('delete from totp_factors where user_id = $1', [ada.user?.id])
    expect((await world.call(ownInvites.list, { as })).body.invites).toMatchObject([{ orgSlug: stranger.slug }])
  })

  test('signs the same person in again', async () => {
    const ids = [await signInByLink(world, 'ada@example.com'), await signInByLink(world, 'ada@example.com')]
    const people = await Promise.all(ids.map(async ({ as }) => (await whoAmI(as)).body.principal.id))
    expect(people[0]).toBe(people[1])
  })

  test('is in the database only as a hash, and not in the queue', async () => {
    const token = await mailedToken(world, 'first@example.com')
    expect(await tablesWith(token)).toEqual([])
    expect(await tablesWith(sha256(token))).toEqual(['table public.magic_links'])
  })

  test('works once, and never again', async () => {
    const token = await mailedToken(world, 'first@example.com')
    expect((await redeem(token)).status).toBe(200)
    expect((await redeem(token)).status).toBe(401)
  })

  test('works once even if it is sent fifty times at once', async () => {
    const token = await mailedToken(world, 'first@example.com')
    const answers = await Promise.all(Array.from({ length: 50 }, () => redeem(token)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('expires after 15 minutes, with the same answer as an unknown link', async () => {
    const token = await mailedToken(world, 'first@example.com')
    world.clock.advance(901)
    const [late, unknown] = [await redeem(token), await redeem(newSecret())]
    expect([late.status, unknown.status]).toEqual([401, 401])
    expect(late.error).toEqual(unknown.error)
  })

  test('returns to the page that it was requested for, on this server only', async () => {
    const token = await mailedToken(world, 'first@example.com', { returnTo: '/cli/BCDF-GHJK' })
    expect((await redeem(token)).body.returnTo).toBe('/cli/BCDF-GHJK')
    for (const returnTo of ['https://evil.example', '//evil.example', '/\\evil.example', 'evil'])
      expect((await world.call(signIn.requestLink, { body: { email: 'a@example.com', returnTo } })).status).toBe(400)
  })

  test('is mailed only to users and invited people, and the answer does not reveal who they are', async () => {
    const before = (await outbox(world)).length
    const ask = (email: string) => world.call(signIn.requestLink, { body: { email } })
    const nobody = await ask('nobody@example.com')
    await mailedToken(world, 'ada@example.com')
    const somebody = await ask('ada@example.com')
    expect([nobody.status, nobody.body]).toEqual([somebody.status, somebody.body])
    expect([...nobody.headers.keys()]).toEqual([...somebody.headers.keys()])
    expect((await outbox(world)).length).toBeGreaterThan(before)
    for (const name of await outbox(world)) expect(name).not.toContain('nobody')
  })
})

describe('a server on which strangers came first', () => {
  test('can still be set up with the console’s link, which does not sign in as an existing person', async () => {
    const own = await openWorld(builtIn)
    const stranger = await signUp(own)
    await invitePerson(own, stranger, 'mallory@example.com', 'member')
    await signInByLink(own, 'mallory@example.com')
    expect((await own.call(signIn.get)).body.setUpNeeded).toBe(false)
    const again = await makeSetUpLink(own.server.context)
    const token = again?.split('#')[1] as string
    const setUpAs = (email: string, orgSlug: string) =>
      own.call(signIn.setUp, { body: { token, email, name: 'Operator', orgName: 'Ours', orgSlug } })
    const taken = await setUpAs('Mallory@example.com', 'ours')
    expect([taken.status, taken.error?.message]).toEqual([409, expect.stringMatching(/^body\.email: /)])
    const first = await setUp(own, 'operator@example.com', 'ours')
    const { orgs } = (await own.call(me.get, { as: first.as })).body
    expect(orgs.map(({ slug, role }) => [slug, role])).toEqual([['ours', 'owner']])
    expect((await setUpAs('second@example.com', 'theirs')).status).toBe(401)
    expect(await makeSetUpLink(own.server.context)).toBeNull()
    own.clock.advance(2 * 86_400)
    await sweepSignIn(own.server.context)
    expect(await makeSetUpLink(own.server.context)).toBeNull()
    await own.close()
  })

  test('ends the console’s set-up link with its first owner, and the operator then signs up like everybody else', async () => {
    const own = await openWorld(builtIn)
    const stranger = await signUp(own)
    expect(await makeSetUpLink(own.server.context)).not.toBeNull()
    await invitePerson(own, stranger, 'mallory@example.com', 'admin')
    await acceptInvites(own, await signInByLink(own, 'mallory@example.com'))
    expect(await makeSetUpLink(own.server.context)).toBeNull()
    await expect(setUp(own)).rejects.toThrow('while no organization has an owner')
    const ours = await signUp(own)
    await invitePerson(own, ours, 'operator@example.com', 'admin')
    const { as } = await signInByLink(own, 'operator@example.com')
    await acceptInvites(own, { as })
    const { orgs } = (await own.call(me.get, { as })).body
    expect(orgs.map(({ slug, role }) => [slug, role])).toEqual([[ours.slug, 'owner']])
    await own.close()
  })
})
