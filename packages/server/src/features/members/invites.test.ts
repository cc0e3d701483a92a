import { audit } from '@skerry/contract/audit/endpoints'
import { invites } from '@skerry/contract/members/endpoints'
import { describe, expect, test } from 'vitest'
import { openTenant } from '../../../test/scene.ts'
import { type Actor, newMember, newPerson, newToken, signUp } from '../../../test/tenant.ts'

const { world, tenant } = await openTenant()

const params = () => ({ orgId: tenant.orgId })
const invite = (email: string, more: object = {}, actor: Actor = tenant.admin) =>
  world.call(invites.create, { as: actor.as, params: params(), body: { email, ...more } })
const pending = async () =>
  (await world.call(invites.list, { as: tenant.admin.as, params: params() })).body.invites.map(({ email }) => email)
const revoke = (inviteId: string) =>
  world.call(invites.delete, { as: tenant.admin.as, params: { ...params(), inviteId } })
const day = 86_400

describe('inviting', () => {
  test('stores the address, the role, the inviter and the expiry', async () => {
    const { status, body } = await invite('first@example.com', { role: 'admin' })
    expect(status).toBe(201)
    expect(body.invite).toMatchObject({ email: 'first@example.com', role: 'admin', invitedById: tenant.admin.id })
    expect(Date.parse(body.invite.expiresAt) - Date.parse(body.invite.createdAt)).toBe(7 * day * 1000)
    expect(await pending()).toContain('first@example.com')
  })

  test('makes a member unless another role is named; the role owner is refused', async () => {
    expect((await invite('plain@example.com')).body.invite.role).toBe('member')
    expect((await invite('owner@example.com', { role: 'owner' })).status).toBe(400)
    expect(await pending()).not.toContain('owner@example.com')
  })

  test('treats an address in any case as the same address', async () => {
    expect((await invite('MiXed@Example.COM')).body.invite.email).toBe('mixed@example.com')
    expect((await invite('mixed@example.com')).status).toBe(409)
  })

  test('an address that is invited already, or that belongs to a member, is a conflict', async () => {
    await newMember(world, tenant, 'member', { email: 'joined@example.com' })
    await invite('waiting@example.com')
    const answers = [await invite('waiting@example.com', { role: 'admin' }), await invite('Joined@example.com')]
    expect(answers.map((answer) => [answer.status, answer.error?.code])).toEqual(Array(2).fill([409, 'conflict']))
  })

  test('one address ten times at once makes one invitation', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => invite('popular@example.com')))
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(9).fill(409)])
  })

  test('one address to several organizations is allowed', async () => {
    const other = await signUp(world)
    await invite('everywhere@example.com')
    const body = { email: 'everywhere@example.com' }
    const answer = await world.call(invites.create, { as: other.admin.as, params: { orgId: other.orgId }, body })
    expect(answer.status).toBe(201)
  })

  test.each(['nobody', 'a@b', '@example.com', 'a b@example.com', 'a@example.com\r\nBcc: b@example.com', ''])(
    'an invalid address is refused: %j',
    async (email) => {
      const { status, error } = await invite(email)
      expect(status).toBe(400)
      expect(error?.message).toContain('body.email')
    },
  )

  test('needs the admin role', async () => {
    for (const actor of [await newMember(world, tenant), await newToken(world, tenant)]) {
      expect((await invite('by-member@example.com', {}, actor)).status).toBe(403)
      expect((await world.call(invites.list, { as: actor.as, params: params() })).status).toBe(403)
    }
    expect((await invite('by-machine@example.com', {}, tenant.machine)).status).toBe(201)
    expect((await invite('by-person@example.com', {}, await newMember(world, tenant, 'admin'))).status).toBe(201)
  })

  test('is recorded in the audit log with address and role, and so is a revocation', async () => {
    const { body } = await invite('Told@example.com')
    await revoke(body.invite.id)
    const query = { resourceId: body.invite.id }
    const { entries } = (await world.call(audit.list, { as: tenant.admin.as, params: params(), query })).body
    const metadata = { email: 'told@example.com', role: 'member' }
    expect(entries).toMatchObject([
      { action: 'invite.revoked', metadata },
      { action: 'invite.created', metadata },
    ])
  })
})

describe('an invitation', () => {
  test('that is revoked is no longer listed, admits nobody, and can be made again', async () => {
    const { body } = await invite('unwanted@example.com')
    expect((await revoke(body.invite.id)).status).toBe(200)
    expect(await pending()).not.toContain('unwanted@example.com')
    const person = await newPerson(world, 'unwanted@example.com')
    expect((await world.call(invites.list, { as: person.as, params: params() })).status).toBe(404)
    expect((await invite('unwanted@example.com')).status).toBe(201)
    expect((await revoke(body.invite.id)).status).toBe(404)
  })

  test('cannot be revoked by another organization', async () => {
    const other = await signUp(world)
    const { body } = await invite('theirs@example.com')
    const answer = await world.call(invites.delete, {
      as: other.admin.as,
      params: { orgId: other.orgId, inviteId: body.invite.id },
    })
    expect(answer.status).toBe(404)
    expect(await pending()).toContain('theirs@example.com')
  })

  test('expires after seven days: it is not listed, cannot be revoked, admits nobody, and can be made again', async () => {
    const first = (await invite('slow@example.com', { role: 'admin' })).body.invite
    world.clock.advance(7 * day - 60)
    expect(await pending()).toContain('slow@example.com')
    expect((await invite('slow@example.com')).status).toBe(409)
    world.clock.advance(61)
    expect(await pending()).not.toContain('slow@example.com')
    expect((await revoke(first.id)).status).toBe(404)
    const person = await newPerson(world, 'slow@example.com')
    expect((await world.call(invites.list, { as: person.as, params: params() })).status).toBe(404)
    const again = await invite('slow@example.com')
    expect([again.status, again.body.invite.role]).toEqual([201, 'member'])
    expect(again.body.invite.id).not.toBe(first.id)
  })
})
