import { me } from '@skerry/contract/me/endpoints'
import { orgs } from '@skerry/contract/orgs/endpoints'
import { signup } from '@skerry/contract/signup/endpoints'
import { describe, expect, test } from 'vitest'
import { openTenant } from '../../../test/scene.ts'
import { type Actor, newMember, newOwner, newPerson, newToken, signUp } from '../../../test/tenant.ts'

const { world, tenant } = await openTenant()

const create = (actor: Actor, slug: string) =>
  world.call(orgs.create, { as: actor.as, body: { name: 'Founded', slug } })
const rename = (actor: Actor, orgId: string, body: Record<string, unknown>) =>
  world.call(orgs.update, { as: actor.as, params: { orgId }, body })
const read = (actor: Actor, orgId: string) => world.call(orgs.get, { as: actor.as, params: { orgId } })

describe('creating', () => {
  test('makes the person its owner and first member', async () => {
    const person = await newPerson(world, 'founder@example.com')
    const { status, body } = await create(person, 'founded')
    expect([status, body.org.role, body.org.slug]).toEqual([201, 'owner', 'founded'])
    const { body: list } = await world.call(orgs.members, { as: person.as, params: { orgId: body.org.id } })
    expect(list.members.map(({ userId, role }) => [userId, role])).toEqual([[person.id, 'owner']])
  })

  test('under the slug of any organization is a conflict, and makes nothing', async () => {
    const person = await newPerson(world, 'late@example.com')
    for (const slug of [tenant.slug, 'founded']) {
      const { status, error } = await create(person, slug)
      expect([status, error?.code]).toEqual([409, 'conflict'])
    }
    expect((await world.call(orgs.list, { as: person.as })).body.orgs).toEqual([])
  })

  test('ten times at once under one slug succeeds once', async () => {
    const person = await newPerson(world, 'hasty@example.com')
    const answers = await Promise.all(Array.from({ length: 10 }, () => create(person, 'raced')))
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(9).fill(409)])
    expect((await world.call(orgs.list, { as: person.as })).body.orgs).toHaveLength(1)
  })

  test('is allowed to people, and not to a machine client or a service token', async () => {
    const answers = [await create(tenant.machine, 'by-machine'), await create(tenant.admin, 'by-token')]
    expect(answers.map((answer) => [answer.status, answer.error?.code])).toEqual(Array(2).fill([403, 'forbidden']))
  })
})

describe('renaming', () => {
  test.each(['machine', 'admin'] as const)('is allowed to the %s of the organization', async (who) => {
    const { status, body } = await rename(tenant[who], tenant.orgId, { name: `Named by ${who}` })
    expect([status, body.org.name, body.org.slug]).toEqual([200, `Named by ${who}`, tenant.slug])
    expect((await read(tenant.admin, tenant.orgId)).body.org.name).toBe(`Named by ${who}`)
  })

  test('is allowed to an owner and an admin, and not to a member or a member token', async () => {
    const owner = await newOwner(world)
    expect((await rename(owner, owner.orgId, { name: 'Mine' })).status).toBe(200)
    const admin = await newMember(world, tenant, 'admin')
    expect((await rename(admin, tenant.orgId, { name: 'Ours' })).status).toBe(200)
    for (const actor of [await newMember(world, tenant), await newToken(world, tenant)])
      expect((await rename(actor, tenant.orgId, { name: 'No' })).status).toBe(403)
    expect((await read(tenant.admin, tenant.orgId)).body.org.name).toBe('Ours')
  })

  test('never changes the slug: a body that names one is refused', async () => {
    const { status, error } = await rename(tenant.admin, tenant.orgId, { name: 'Moved', slug: 'moved' })
    expect([status, error?.message]).toEqual([400, 'body: unknown field "slug"'])
    expect((await read(tenant.admin, tenant.orgId)).body.org).toMatchObject({ name: 'Ours', slug: tenant.slug })
  })

  test('advances updatedAt and leaves createdAt', async () => {
    const before = (await read(tenant.admin, tenant.orgId)).body.org
    world.clock.advance(5)
    const { org } = (await rename(tenant.admin, tenant.orgId, { name: 'Later' })).body
    expect(org.createdAt).toBe(before.createdAt)
    expect(org.updatedAt > before.updatedAt).toBe(true)
  })

  test.each(['', 'two\nlines', 'a\u0000b', 'a\u009b2Jb', 'x'.repeat(201)])('to %j is refused', async (name) => {
    expect((await rename(tenant.admin, tenant.orgId, { name })).status).toBe(400)
  })
})

describe('reading', () => {
  test('shows each caller its own role', async () => {
    const roles = await Promise.all(
      [tenant.machine, tenant.admin, await newToken(world, tenant), await newMember(world, tenant)].map(
        async (actor) => (await read(actor, tenant.orgId)).body.org.role,
      ),
    )
    expect(roles).toEqual(['admin', 'admin', 'member', 'member'])
  })

  test('an organization that the caller is not in answers 404, exactly like one that does not exist', async () => {
    const stranger = await newOwner(world)
    const theirs = await read(stranger, tenant.orgId)
    const nobodys = await read(stranger, `org_${'0'.repeat(22)}`)
    expect(theirs.status).toBe(404)
    expect(theirs.error).toEqual(nobodys.error)
  })

  test('the list shows the organizations of the caller and no other', async () => {
    const person = await newMember(world, tenant)
    await create(person, 'own-and-invited')
    await world.call(signup.create, { body: { orgName: 'Other', orgSlug: 'someone-elses' } })
    const { body } = await world.call(orgs.list, { as: person.as })
    expect(body.orgs.map(({ slug, role }) => [slug, role]).sort()).toEqual(
      [
        [tenant.slug, 'member'],
        ['own-and-invited', 'owner'],
      ].sort(),
    )
    expect(body.orgs).toEqual((await world.call(me.get, { as: person.as })).body.orgs)
  })

  test('the members shows address, role and public key, which is null until it is uploaded', async () => {
    const fresh = await signUp(world)
    const keyed = await newMember(world, fresh, 'admin')
    const unkeyed = await newMember(world, fresh, 'member', { keys: false })
    const { body } = await world.call(orgs.members, { as: unkeyed.as, params: { orgId: fresh.orgId } })
    const jwk = (await world.call(me.getKeys, { as: keyed.as })).body.publicKeyJwk
    expect(body.members).toEqual([
      { userId: keyed.id, email: expect.stringContaining('@'), name: null, role: 'admin', publicKeyJwk: jwk },
      { userId: unkeyed.id, email: expect.stringContaining('@'), name: null, role: 'member', publicKeyJwk: null },
    ])
  })
})
