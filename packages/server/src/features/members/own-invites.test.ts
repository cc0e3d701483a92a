import { audit } from '@skerry/contract/audit/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { invites, members } from '@skerry/contract/members/endpoints'
import { ownInvites } from '@skerry/contract/members/own-invites'
import { orgs } from '@skerry/contract/orgs/endpoints'
import { describe, expect, test } from 'vitest'
import { openTenant } from '../../../test/scene.ts'
import { newEntries } from '../../../test/state.ts'
import { type Actor, newMember, newOwner, newPerson, signUp, type Tenant } from '../../../test/tenant.ts'

const { world, tenant } = await openTenant()

let count = 0
const newAddress = () => `invited-${++count}@example.com`
const invite = async (email: string, role: 'admin' | 'member' = 'member', by: Tenant = tenant) => {
  const params = { orgId: by.orgId }
  const { body } = await world.call(invites.create, { as: by.machine.as, params, body: { email, role } })
  return body.invite.id
}
const waiting = async ({ as }: Actor) => (await world.call(ownInvites.list, { as })).body.invites
const accept = ({ as }: Actor, inviteId: string) => world.call(ownInvites.accept, { as, params: { inviteId } })
const decline = ({ as }: Actor, inviteId: string) => world.call(ownInvites.decline, { as, params: { inviteId } })
const roles = async ({ as }: Actor) => (await world.call(me.get, { as })).body.orgs.map(({ id, role }) => [id, role])
const membersOf = async ({ orgId, machine }: Tenant) =>
  (await world.call(orgs.members, { as: machine.as, params: { orgId } })).body.members

describe('an invitation', () => {
  test('is listed with the inviter, the role and the expiry, and can be accepted once', async () => {
    const owner = await newOwner(world)
    const email = newAddress()
    const person = await newPerson(world, email)
    const body = { email, role: 'admin' }
    const made = await world.call(invites.create, { as: owner.as, params: { orgId: owner.orgId }, body })
    const { id, createdAt, expiresAt } = made.body.invite
    const invitedBy = (await world.call(me.get, { as: owner.as })).body.user?.email
    const shown = { id, orgName: 'Own', role: 'admin', invitedBy, createdAt, expiresAt }
    expect(await waiting(person)).toMatchObject([shown])
    expect(await roles(person)).toEqual([])
    const entries = await newEntries(world, async () => {
      expect((await accept(person, id)).body.org).toMatchObject({ id: owner.orgId, role: 'admin' })
    })
    expect(entries).toMatchObject([
      { action: 'member.joined', resourceId: person.id, actorId: person.id, metadata: { inviteId: id, role: 'admin' } },
    ])
    expect(await roles(person)).toEqual([[owner.orgId, 'admin']])
    expect(await waiting(person)).toEqual([])
    expect((await accept(person, id)).status).toBe(404)
  })

  test('passes on the texts under its joining code, and replaces them when it is sent or made again', async () => {
    const owner = await newOwner(world)
    const email = newAddress()
    const person = await newPerson(world, email)
    const params = { orgId: owner.orgId }
    const [first, second] = ['ji1.first.code', 'ji1.second.code']
    const make = (joining?: string) =>
      world.call(invites.create, { as: owner.as, params, body: { email, ...(joining && { joining }) } })
    const { id } = (await make(first)).body.invite
    const resend = (body: object) =>
      world.call(invites.resend, { as: owner.as, params: { ...params, inviteId: id }, body })
    expect(await waiting(person)).toMatchObject([{ joining: first }])
    await resend({})
    expect(await waiting(person)).toMatchObject([{ joining: first }])
    await resend({ joining: second })
    expect(await waiting(person)).toMatchObject([{ joining: second }])
    const body = { joiningAnswer: 'ja1.answer.code' }
    expect((await world.call(ownInvites.accept, { as: person.as, params: { inviteId: id }, body })).status).toBe(200)
    const answers = async () => {
      const query = { status: 'all' } as const
      const { invites: all } = (await world.call(invites.list, { as: owner.as, params, query })).body
      return all.map(({ joiningAnswer }) => joiningAnswer)
    }
    expect(await answers()).toEqual([body.joiningAnswer])
    await world.call(members.remove, { as: owner.as, params: { ...params, userId: person.id } })
    expect((await make()).status).toBe(201)
    expect([await answers(), await waiting(person)]).toMatchObject([[null], [{ joining: null }]])
    for (const joining of ['ji1.x', 'ja1.first.code', `ji1.${'x'.repeat(2000)}.y`])
      expect((await make(joining)).status, joining.slice(0, 20)).toBe(400)
  })

  test('of a stranger is not accepted by an ordinary sign-in, and is gone after it was declined', async () => {
    const email = newAddress()
    const person = await newMember(world, tenant, 'member', { email })
    const stranger = await signUp(world)
    const id = await invite(email, 'admin', stranger)
    expect(await newPerson(world, email, { keys: false })).toMatchObject({ id: person.id })
    expect(await roles(person)).toEqual([[tenant.orgId, 'member']])
    expect(await membersOf(stranger)).toEqual([])
    expect((await decline(person, id)).body).toEqual({ ok: true })
    expect([(await decline(person, id)).status, (await accept(person, id)).status]).toEqual([404, 404])
    const query = { action: 'invite.declined', resourceId: id }
    const trail = await world.call(audit.list, { as: stranger.machine.as, params: { orgId: stranger.orgId }, query })
    expect(trail.body.entries).toMatchObject([{ actorType: 'user', actorId: person.id }])
    expect(await membersOf(stranger)).toEqual([])
  })

  test('of somebody else, or one that was revoked or has expired, cannot be found', async () => {
    const [email, other] = [newAddress(), await newPerson(world, newAddress())]
    const person = await newPerson(world, email)
    const theirs = await invite(email)
    for (const act of [accept, decline]) expect((await act(other, theirs)).status).toBe(404)
    expect(await waiting(person)).toHaveLength(1)
    await world.call(invites.delete, { as: tenant.admin.as, params: { orgId: tenant.orgId, inviteId: theirs } })
    expect((await accept(person, theirs)).status).toBe(404)
    const late = await invite(email)
    world.clock.advance(7 * 86_400 + 1)
    const again = await newPerson(world, email, { keys: false })
    expect([(await waiting(again)).length, (await accept(again, late)).status]).toEqual([0, 404])
  })

  test('cannot be listed or accepted by a token or a machine client', async () => {
    for (const actor of [tenant.admin, tenant.machine]) {
      const { status } = await world.call(ownInvites.list, { as: actor.as })
      expect([status, (await accept(actor, `inv_${'0'.repeat(22)}`)).status]).toEqual([403, 403])
    }
  })

  test('that is accepted and declined ten times at once is used once', async () => {
    const email = newAddress()
    const person = await newPerson(world, email)
    const id = await invite(email)
    const entries = await newEntries(world, async () => {
      const acts = Array.from({ length: 10 }, (_, turn) => (turn % 2 ? accept : decline)(person, id))
      const statuses = (await Promise.all(acts)).map(({ status }) => status)
      expect(statuses.sort()).toEqual([200, ...Array(9).fill(404)])
    })
    expect(entries).toHaveLength(1)
  })
})

describe('accepting', () => {
  test('never lowers a role, but may raise it', async () => {
    const owner = await newOwner(world)
    const email = (await world.call(me.get, { as: owner.as })).body.user?.email as string
    const { db } = world.server.context
    // Simulates an address that the owner got after it was invited.
    const inviteAs = async (role: string) => {
      const id = await invite(newAddress(), role as 'member', { ...tenant, ...owner, machine: owner, admin: owner })
      await db.rows('delete from invitations where email = $1', [email])
      await db.rows('update invitations set email = $2 where id = $1', [id, email])
      return id
    }
    await accept(owner, await inviteAs('member'))
    expect(await roles(owner)).toEqual([[owner.orgId, 'owner']])
    await accept(owner, await inviteAs('admin'))
    expect(await roles(owner)).toEqual([[owner.orgId, 'owner']])
    await db.rows(`update memberships set role = 'member' where user_id = $1`, [owner.id])
    await newPromoted(owner.orgId)
    const id = `inv_${'1'.repeat(22)}`
    await db.rows('delete from invitations where email = $1', [email])
    await db.rows(
      `insert into invitations (org_id, id, email, role, invited_by_id, created_at, expires_at)
       values ($1, $2, $3, 'admin', $4, now(), now() + interval '100 days')`,
      [owner.orgId, id, email, owner.id],
    )
    await accept(owner, id)
    expect(await roles(owner)).toEqual([[owner.orgId, 'admin']])
  })

  const newPromoted = async (orgId: string) => {
    const { id } = await newPerson(world, newAddress())
    const { db } = world.server.context
    await db.rows(`insert into memberships (org_id, user_id, role, created_at) values ($1, $2, 'owner', now())`, [
      orgId,
      id,
    ])
  }
})

describe('an organization that a program signed up', () => {
  const joins = async (of: Tenant, role: 'admin' | 'member') => {
    const email = newAddress()
    const person = await newPerson(world, email)
    const { body } = await accept(person, await invite(email, role, of))
    return { person, role: body.org.role }
  }

  test('gets the first admin who joins as its owner, and nobody after that', async () => {
    const own = await signUp(world)
    expect((await joins(own, 'member')).role).toBe('member')
    expect((await joins(own, 'admin')).role).toBe('owner')
    expect((await joins(own, 'admin')).role).toBe('admin')
  })

  test('records the first admin as its owner in the entry of the join', async () => {
    const own = await signUp(world)
    const email = newAddress()
    const person = await newPerson(world, email)
    const inviteId = await invite(email, 'admin', own)
    const entries = await newEntries(world, () => accept(person, inviteId))
    expect(entries).toMatchObject([
      { action: 'member.joined', resourceId: person.id, actorId: person.id, metadata: { inviteId, role: 'owner' } },
    ])
  })

  test('keeps its owner, and an admin who was removed and joins again is an admin', async () => {
    const own = await signUp(world)
    const { person: owner } = await joins(own, 'admin')
    const email = newAddress()
    const again = await newPerson(world, email)
    expect((await accept(again, await invite(email, 'admin', own))).body.org.role).toBe('admin')
    const remove = (userId: string) =>
      world.call(members.remove, { as: owner.as, params: { orgId: own.orgId, userId } })
    expect((await remove(again.id)).status).toBe(200)
    expect((await accept(again, await invite(email, 'admin', own))).body.org.role).toBe('admin')
    // The last owner cannot leave, so an organization that had an owner has one.
    expect((await remove(owner.id)).status).toBe(409)
  })

  test('gets one owner if several admins join at once', async () => {
    const own = await signUp(world)
    const people = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const email = newAddress()
        return { person: await newPerson(world, email), id: await invite(email, 'admin', own) }
      }),
    )
    await Promise.all(people.map(({ person, id }) => accept(person, id)))
    expect((await membersOf(own)).map(({ role }) => role).sort()).toEqual([...Array(5).fill('admin'), 'owner'])
  })

  test('also gets its owner when a member is made an admin', async () => {
    const own = await signUp(world)
    const { person } = await joins(own, 'member')
    const params = { orgId: own.orgId, userId: person.id }
    const { body } = await world.call(members.update, { as: own.machine.as, params, body: { role: 'admin' } })
    expect(body.member.role).toBe('owner')
  })
})
