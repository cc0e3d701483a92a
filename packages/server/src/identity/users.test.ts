import { audit } from '@skerry/contract/audit'
import { me } from '@skerry/contract/me'
import { invites, orgs } from '@skerry/contract/orgs'
import { describe, expect, test } from 'vitest'
import { openTenant } from '../../test/scene.ts'
import { newOwner, signUp, type Tenant } from '../../test/tenant.ts'

const { world, tenant } = await openTenant()

const invite = (email: string, role: 'admin' | 'member' = 'member', by: Tenant = tenant) =>
  world.call(invites.create, { as: by.machine.as, params: { orgId: by.orgId }, body: { email, role } })
const bearer = async (sub: string, claims: object = {}) => `Bearer ${await world.issuer.token({ sub, ...claims })}`
const signIn = async (sub: string, claims: object = {}) =>
  (await world.call(me.get, { as: await bearer(sub, claims) })).body
const verified = (email: string) => ({ email, email_verified: true })
const roles = (body: Awaited<ReturnType<typeof signIn>>) => body.orgs.map(({ id, role }) => [id, role])
const entries = async (query: object) =>
  (await world.call(audit.list, { as: tenant.admin.as, params: { orgId: tenant.orgId }, query: { ...query } })).body
    .entries

describe('a person', () => {
  test('is made known on first sight and is the same ever after', async () => {
    const first = await signIn('known', { ...verified('known@example.com'), name: 'Ada' })
    expect(first.user).toMatchObject({ email: 'known@example.com', name: 'Ada' })
    expect((await signIn('known')).user).toEqual(first.user)
    expect((await signIn('another')).user?.id).not.toBe(first.user?.id)
  })

  test('who sends ten first requests at once is one user', async () => {
    const bodies = await Promise.all(Array.from({ length: 10 }, () => signIn('eager', verified('eager@example.com'))))
    expect(new Set(bodies.map((body) => body.user?.id)).size).toBe(1)
    const rows = await world.server.context.db.rows(`select 1 from users where subject = 'eager'`)
    expect(rows).toHaveLength(1)
  })

  test('is known to others by the address that the issuer verified last, and by no other', async () => {
    const address = async (claims: object) => (await signIn('moving', claims)).user?.email
    expect(await address({ email: 'claimed@example.com' })).toBe('claimed@example.com')
    expect(await address(verified('one@example.com'))).toBe('one@example.com')
    expect(await address({ email: 'boss@example.com', email_verified: false })).toBe('one@example.com')
    expect(await address({})).toBe('one@example.com')
    expect(await address(verified('Two@example.com'))).toBe('two@example.com')
  })

  test.each([
    ['name', 'two\nlines\0and a NUL', { name: 'two lines and a NUL' }],
    ['name', ` ${'é'.repeat(300)}`, { name: 'é'.repeat(200) }],
    ['name', `${'x'.repeat(199)}😀`, { name: `${'x'.repeat(199)}\ufffd` }],
    ['name', 'one\u009b2Jtwo', { name: 'one 2Jtwo' }],
    ['name', 7, { name: null }],
    ['name', '\n', { name: null }],
    ['email', 'nul\0@example.com', { email: null }],
    ['email', 'line\n@example.com', { email: null }],
    ['email', `${'x'.repeat(250)}@example.com`, { email: null }],
    ['email', 'nonsense', { email: null }],
    ['email', ['a@example.com'], { email: null }],
  ])('whose issuer claims an odd %s (%j) gets in, and what is odd is not kept', async (claim, value, kept) => {
    const body = await signIn(`odd-${Buffer.from(JSON.stringify(value)).toString('base64url').slice(0, 60)}`, {
      email_verified: true,
      [claim]: value,
    })
    expect(body.user).toMatchObject(kept)
  })
})

describe('an invitation', () => {
  test('is taken by the first sign-in with its address, and is then gone', async () => {
    await invite('guest@example.com', 'admin')
    const body = await signIn('guest', verified('guest@example.com'))
    expect(roles(body)).toEqual([[tenant.orgId, 'admin']])
    const { body: list } = await world.call(invites.list, { as: tenant.admin.as, params: { orgId: tenant.orgId } })
    expect(list.invites.map(({ email }) => email)).not.toContain('guest@example.com')
    const [entry] = await entries({ action: 'member.joined', resourceId: body.user?.id })
    expect(entry).toMatchObject({ actorType: 'user', actorId: body.user?.id, metadata: { role: 'admin' } })
  })

  test('opens the organization in that very request', async () => {
    await invite('prompt@example.com')
    const as = await bearer('prompt', verified('prompt@example.com'))
    expect((await world.call(orgs.members, { as, params: { orgId: tenant.orgId } })).status).toBe(200)
  })

  test('is taken whatever the case of the address', async () => {
    await invite('Case@Example.com')
    expect(roles(await signIn('case', verified('cASE@eXAMPLE.COM')))).toEqual([[tenant.orgId, 'member']])
  })

  test.each([
    ['is not verified', { email_verified: false }],
    ['nobody says is verified', {}],
    ['is said to be verified in words', { email_verified: 'true' }],
  ])('waits when the address %s, until it is', async (what, claim) => {
    const email = `unverified-${what.length}@example.com`
    await invite(email)
    expect(roles(await signIn(email, { email, ...claim }))).toEqual([])
    expect(roles(await signIn(email, verified(email)))).toEqual([[tenant.orgId, 'member']])
  })

  test('is not taken with another address', async () => {
    await invite('right@example.com')
    expect(roles(await signIn('wrong', verified('right@example.com.evil.example')))).toEqual([])
    expect(roles(await signIn('wrong', verified('aright@example.com')))).toEqual([])
  })

  test('is taken by a person who was known before it, on the next request', async () => {
    expect(roles(await signIn('early', verified('early@example.com')))).toEqual([])
    await invite('early@example.com')
    expect(roles(await signIn('early', verified('early@example.com')))).toEqual([[tenant.orgId, 'member']])
  })

  test('into each of several organizations is taken at once', async () => {
    const other = await signUp(world)
    await invite('both@example.com', 'admin')
    await invite('both@example.com', 'member', other)
    const body = await signIn('both', verified('both@example.com'))
    expect(roles(body).sort()).toEqual(
      [
        [tenant.orgId, 'admin'],
        [other.orgId, 'member'],
      ].sort(),
    )
  })

  test('is taken once by ten requests at once', async () => {
    await invite('flood@example.com')
    const bodies = await Promise.all(Array.from({ length: 10 }, () => signIn('flood', verified('flood@example.com'))))
    expect(new Set(bodies.map((body) => body.user?.id)).size).toBe(1)
    expect(await entries({ action: 'member.joined', resourceId: bodies[0]?.user?.id })).toHaveLength(1)
  })
})

describe('an invitation to someone who is in already', () => {
  test('never lowers the role: an admin invited as a member stays admin', async () => {
    await invite('boss@example.com', 'admin')
    await signIn('boss', verified('boss@example.com'))
    await invite('boss-two@example.com', 'member')
    const body = await signIn('boss', verified('boss-two@example.com'))
    expect(roles(body)).toEqual([[tenant.orgId, 'admin']])
    const [entry] = await entries({ action: 'member.joined', resourceId: body.user?.id })
    expect(entry?.metadata).toMatchObject({ role: 'admin' })
  })

  test('never lowers the role: an owner stays owner', async () => {
    const owner = await newOwner(world)
    const body = { email: 'owner-two@example.com', role: 'admin' }
    await world.call(invites.create, { as: owner.as, params: { orgId: owner.orgId }, body })
    const { email } = (await world.call(me.get, { as: owner.as })).body.user as { email: string }
    expect(roles(await signIn(`sub-${email}`, verified('owner-two@example.com')))).toEqual([[owner.orgId, 'owner']])
  })

  test('raises it: a member invited as an admin becomes one', async () => {
    await invite('rising@example.com')
    await signIn('rising', verified('rising@example.com'))
    await invite('risen@example.com', 'admin')
    expect(roles(await signIn('rising', verified('risen@example.com')))).toEqual([[tenant.orgId, 'admin']])
  })
})
