import { me } from '@skerry/contract/me/endpoints'
import { invites } from '@skerry/contract/members/endpoints'
import { ownInvites } from '@skerry/contract/members/own-invites'
import { describe, expect, test } from 'vitest'
import { openTenant } from '../../test/scene.ts'
import { acceptInvites, type Tenant } from '../../test/tenant.ts'

const { world, tenant } = await openTenant()

const invite = (email: string, role: 'admin' | 'member' = 'member', by: Tenant = tenant) =>
  world.call(invites.create, { as: by.machine.as, params: { orgId: by.orgId }, body: { email, role } })
const bearer = async (sub: string, claims: object = {}) => `Bearer ${await world.issuer.token({ sub, ...claims })}`
const signIn = async (sub: string, claims: object = {}) =>
  (await world.call(me.get, { as: await bearer(sub, claims) })).body
const verified = (email: string) => ({ email, email_verified: true })
const roles = (body: Awaited<ReturnType<typeof signIn>>) => body.orgs.map(({ id, role }) => [id, role])

describe('a person', () => {
  test('is created at the first request and stays the same', async () => {
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

  test('is shown with the address that the identity provider verified last', async () => {
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
  ])('whose token has an invalid %s (%j) can sign in, and invalid parts are not stored', async (claim, value, kept) => {
    const body = await signIn(`odd-${Buffer.from(JSON.stringify(value)).toString('base64url').slice(0, 60)}`, {
      email_verified: true,
      [claim]: value,
    })
    expect(body.user).toMatchObject(kept)
  })
})

describe('an invitation', () => {
  const waiting = async (sub: string, claims: object) =>
    (await world.call(ownInvites.list, { as: await bearer(sub, claims) })).body.invites
  const join = async (sub: string, claims: object) => {
    await acceptInvites(world, { as: await bearer(sub, claims) })
    return signIn(sub, claims)
  }

  test('is not accepted by a sign-in, but waits until the person accepts it', async () => {
    expect(roles(await signIn('early', verified('early@example.com')))).toEqual([])
    for (const email of ['early@example.com', 'first-seen@example.com']) {
      await invite(email, 'admin')
      for (let times = 0; times < 2; times++)
        expect(roles(await signIn(email.split('@')[0] as string, verified(email)))).toEqual([])
      const sub = email.split('@')[0] as string
      expect(await waiting(sub, verified(email))).toMatchObject([
        { orgSlug: tenant.slug, role: 'admin', invitedBy: null },
      ])
    }
    const { body: list } = await world.call(invites.list, { as: tenant.admin.as, params: { orgId: tenant.orgId } })
    expect(list.invites.map(({ email }) => email)).toEqual(expect.arrayContaining(['early@example.com']))
  })

  test('matches its address regardless of case', async () => {
    await invite('Case@Example.com')
    expect(roles(await join('case', verified('cASE@eXAMPLE.COM')))).toEqual([[tenant.orgId, 'member']])
  })

  test.each([
    ['is not verified', { email_verified: false }],
    ['has no verified status', {}],
    ['has email_verified set to a text', { email_verified: 'true' }],
  ])('is hidden when the address %s, until it is verified', async (what, claim) => {
    const email = `unverified-${what.length}@example.com`
    await invite(email)
    expect(await waiting(email, { email, ...claim })).toEqual([])
    expect(roles(await join(email, { email, ...claim }))).toEqual([])
    expect(roles(await join(email, verified(email)))).toEqual([[tenant.orgId, 'member']])
  })

  test('is hidden again once the identity provider no longer confirms the address', async () => {
    const email = 'withdrawn@example.com'
    await signIn('withdrawn', verified(email))
    await invite(email)
    expect(await waiting('withdrawn', {})).toHaveLength(1)
    expect(await waiting('withdrawn', { email, email_verified: false })).toEqual([])
    expect(await waiting('withdrawn', {})).toEqual([])
    expect(await waiting('withdrawn', verified(email))).toHaveLength(1)
  })

  test('is not shown for another address', async () => {
    await invite('right@example.com')
    for (const email of ['right@example.com.evil.example', 'aright@example.com'])
      expect(await waiting('wrong', verified(email))).toEqual([])
  })
})
