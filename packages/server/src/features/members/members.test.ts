import { audit } from '@skerry/contract/audit/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { invites, members } from '@skerry/contract/members/endpoints'
import { orgs } from '@skerry/contract/orgs/endpoints'
import { resolve } from '@skerry/contract/resolve/endpoints'
import { describe, expect, test } from 'vitest'
import { engine } from '../../../test/engine.ts'
import { openTenant } from '../../../test/scene.ts'
import {
  type Actor,
  acceptInvites,
  grantKey,
  newApp,
  newEnv,
  newMember,
  newOwner,
  newPerson,
  newToken,
  signUp,
} from '../../../test/tenant.ts'
import { call, start } from '../../../test/world.ts'

const { world, tenant } = await openTenant()

const setRole = (by: Actor, userId: string, role: string, orgId = tenant.orgId) =>
  world.call(members.update, { as: by.as, params: { orgId, userId }, body: { role } })
const remove = (by: Actor, userId: string, orgId = tenant.orgId) =>
  world.call(members.remove, { as: by.as, params: { orgId, userId } })
const entries = async (action: string, resourceId: string) => {
  const answer = await world.call(audit.list, {
    as: tenant.admin.as,
    params: { orgId: tenant.orgId },
    query: { action, resourceId },
  })
  return answer.body.entries
}

/** An organization that a program signs up has no owner, so the first one is written to the table. */
async function newOwnerHere(of = tenant): Promise<Actor> {
  const person = await newMember(world, of, 'admin')
  await world.server.context.db.rows(`update memberships set role = 'owner' where org_id = $1 and user_id = $2`, [
    of.orgId,
    person.id,
  ])
  return person
}

describe('changing a role', () => {
  test('by an admin makes a member an admin, and back; the audit log has both roles', async () => {
    await newOwnerHere()
    const [admin, target] = [await newMember(world, tenant, 'admin'), await newMember(world, tenant)]
    const raised = await setRole(admin, target.id, 'admin')
    expect([raised.status, raised.body.member.role, raised.body.member.userId]).toEqual([200, 'admin', target.id])
    expect((await setRole(admin, target.id, 'member')).body.member.role).toBe('member')
    expect((await entries('member.role_changed', target.id)).map(({ metadata }) => metadata)).toEqual([
      { from: 'admin', to: 'member' },
      { from: 'member', to: 'admin' },
    ])
  })

  test('takes effect on the next request', async () => {
    const [admin, target] = [await newMember(world, tenant, 'admin'), await newMember(world, tenant, 'admin')]
    await setRole(admin, target.id, 'member')
    expect((await setRole(target, admin.id, 'member')).status).toBe(403)
  })

  test('to the current role changes nothing and leaves no audit entry', async () => {
    const target = await newMember(world, tenant)
    expect((await setRole(tenant.admin, target.id, 'member')).status).toBe(200)
    expect(await entries('member.role_changed', target.id)).toEqual([])
  })

  test('is allowed to an admin token and a machine client, between member and admin', async () => {
    const target = await newMember(world, tenant)
    expect((await setRole(tenant.admin, target.id, 'admin')).status).toBe(200)
    expect((await setRole(tenant.machine, target.id, 'member')).status).toBe(200)
  })

  test('needs the admin role', async () => {
    const target = await newMember(world, tenant)
    for (const actor of [await newMember(world, tenant), await newToken(world, tenant)])
      expect((await setRole(actor, target.id, 'admin')).status).toBe(403)
    expect((await setRole(target, target.id, 'admin')).status).toBe(403)
  })

  test('of or to an owner is allowed to owners only: not to an admin, an admin token or a machine client', async () => {
    const owner = await newOwnerHere()
    const [admin, target] = [await newMember(world, tenant, 'admin'), await newMember(world, tenant)]
    for (const actor of [admin, tenant.admin, tenant.machine])
      for (const answer of [
        await setRole(actor, target.id, 'owner'),
        await setRole(actor, owner.id, 'member'),
        await remove(actor, owner.id),
      ])
        expect([answer.status, answer.error?.code]).toEqual([403, 'forbidden'])
    expect((await setRole(owner, target.id, 'owner')).body.member.role).toBe('owner')
    expect((await setRole(target, owner.id, 'member')).body.member.role).toBe('member')
  })

  test.each(['superuser', 'Owner', '', null, 7])(
    'to the unknown role %j is refused, and the error names the field',
    async (role) => {
      const target = await newMember(world, tenant)
      const { status, error } = await setRole(tenant.admin, target.id, role as string)
      expect([status, error?.message]).toEqual([400, expect.stringMatching(/^body\.role: /)])
    },
  )

  test('of someone who is not a member answers 404', async () => {
    const stranger = await newPerson(world, 'no-member@example.com')
    for (const answer of [await setRole(tenant.admin, stranger.id, 'admin'), await remove(tenant.admin, stranger.id)])
      expect([answer.status, answer.error?.message]).toEqual([404, 'no such member'])
  })
})

describe('the last owner', () => {
  test('cannot be demoted and cannot leave', async () => {
    const owner = await newOwner(world)
    for (const answer of [
      await setRole(owner, owner.id, 'admin', owner.orgId),
      await remove(owner, owner.id, owner.orgId),
    ])
      expect([answer.status, answer.error?.code]).toEqual([409, 'conflict'])
  })

  test.each([2, 5])('remains when %i owners demote each other at once', async (count) => {
    const own = await signUp(world)
    const owners = await Promise.all(Array.from({ length: count }, () => newOwnerHere(own)))
    const answers = await Promise.all(
      owners.map((owner, index) => setRole(owner, (owners[(index + 1) % count] as Actor).id, 'member', own.orgId)),
    )
    for (const { status } of answers) expect([200, 403, 409]).toContain(status)
    const rows = await world.server.context.db.rows(`select 1 from memberships where org_id = $1 and role = 'owner'`, [
      own.orgId,
    ])
    expect(rows.length).toBeGreaterThan(0)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(count - rows.length)
  })

  test('remains when all owners leave at once', async () => {
    const own = await signUp(world)
    const owners = await Promise.all(Array.from({ length: 4 }, () => newOwnerHere(own)))
    const answers = await Promise.all(owners.map((owner) => remove(owner, owner.id, own.orgId)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 409])
  })
})

describe('removing', () => {
  test('a member ends membership and key grants, and the audit log lists the environments that they could read', async () => {
    const [target, stays] = [await newMember(world, tenant), await newMember(world, tenant)]
    const appId = (await newApp(world, tenant)).id
    const envIds = [(await newEnv(world, tenant, appId)).id, (await newEnv(world, tenant, appId, 'staging')).id]
    for (const id of envIds) for (const actor of [target, stays]) await grantKey(world, tenant, id, actor)
    expect((await remove(tenant.admin, target.id)).status).toBe(200)
    const held = await world.call(grants.list, {
      as: tenant.admin.as,
      params: { orgId: tenant.orgId, envId: envIds[0] as string },
    })
    const holders = held.body.grants.map(({ principalId }) => principalId)
    expect([holders.includes(target.id), holders.includes(stays.id)]).toEqual([false, true])
    const [entry] = await entries('member.removed', target.id)
    expect(entry?.metadata).toMatchObject({ role: 'member', environmentIds: [...envIds].sort() })
  })

  test('a member keeps the name by which the audit log knew them, whatever they are called later', async () => {
    const target = await newMember(world, tenant, 'admin', { email: 'leaving@example.com' })
    await world.call(orgs.update, { as: target.as, params: { orgId: tenant.orgId }, body: { name: 'Renamed' } })
    await remove(tenant.admin, target.id)
    await world.server.context.db.rows('update users set email = $2, name = $3 where id = $1', [
      target.id,
      'later@example.com',
      'Later',
    ])
    const list = (query: Record<string, string>) =>
      world.call(audit.list, { as: tenant.admin.as, params: { orgId: tenant.orgId }, query })
    const { body } = await list({ actorId: target.id })
    expect(body.names[target.id]).toBe('leaving@example.com')
    const found = await list({ text: 'LEAVING@' })
    expect(found.body.entries.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['member.removed', 'org.updated']),
    )
    expect((await list({ text: 'later@' })).body.entries).toEqual([])
    const plain = await newMember(world, tenant)
    const inOrg = { as: plain.as, params: { orgId: tenant.orgId } }
    expect((await world.call(audit.list, { ...inOrg, query: { actorId: target.id } })).status).toBe(403)
    const { status, body: seen } = await world.call(orgs.members, inOrg)
    expect([status, JSON.stringify(seen)]).toEqual([200, expect.not.stringMatching(/leaving@|later@/)])
    const other = await newOwner(world)
    const elsewhere = await world.call(audit.list, { as: other.as, params: { orgId: other.orgId } })
    expect(JSON.stringify(elsewhere.body)).not.toContain('leaving@example.com')
  })

  test('a member leaves them signed in elsewhere; this organization answers 404 from their next request on', async () => {
    const target = await newMember(world, tenant, 'admin')
    const own = await world.call(orgs.create, {
      as: target.as,
      body: { name: 'Own', slug: `own-${target.id.slice(-8).toLowerCase()}` },
    })
    await remove(tenant.admin, target.id)
    expect((await world.call(orgs.get, { as: target.as, params: { orgId: tenant.orgId } })).status).toBe(404)
    const { body } = await world.call(me.get, { as: target.as })
    expect(body.orgs.map(({ id }) => id)).toEqual([own.body.org.id])
  })

  test('a member takes effect on cached answers, on every server, from their next request on', async () => {
    const target = await newMember(world, tenant)
    const envId = (await newEnv(world, tenant, (await newApp(world, tenant)).id)).id
    await grantKey(world, tenant, envId, target)
    const { config } = world.server.context
    const other = engine() === 'postgres' ? await start({ ...config, port: 0 }, world.log, world.clock.now) : null
    const urls = [world.url, ...(other ? [other.url] : [])]
    const ask = (url: string) => call(url, world.answers, resolve.get, { as: target.as, query: { env: envId } })
    for (const url of urls) expect([(await ask(url)).status, (await ask(url)).status]).toEqual([200, 200])
    await remove(tenant.admin, target.id)
    for (const url of urls.reverse()) expect((await ask(url)).status).toBe(404)
    await other?.close()
  })

  test('oneself is allowed to any member', async () => {
    for (const role of ['member', 'admin'] as const) {
      const target = await newMember(world, tenant, role)
      expect((await remove(target, target.id)).status).toBe(200)
      expect((await remove(target, target.id)).status).toBe(404)
      expect((await entries('member.removed', target.id))[0]).toMatchObject({ actorId: target.id, metadata: { role } })
    }
  })

  test('another member needs the admin role', async () => {
    const target = await newMember(world, tenant)
    for (const actor of [await newMember(world, tenant), await newToken(world, tenant)])
      expect((await remove(actor, target.id)).status).toBe(403)
    for (const actor of [tenant.machine, await newMember(world, tenant, 'admin')]) {
      const another = await newMember(world, tenant, 'admin')
      expect((await remove(actor, another.id)).status).toBe(200)
    }
  })

  test('an owner is allowed to another owner', async () => {
    const [first, second] = [await newOwnerHere(), await newOwnerHere()]
    expect((await remove(first, second.id)).status).toBe(200)
  })

  test('a member is undone by a new invitation, but inviting a current member is a conflict', async () => {
    const email = 'comes-back@example.com'
    const target = await newMember(world, tenant, 'member', { email })
    const invite = () =>
      world.call(invites.create, { as: tenant.admin.as, params: { orgId: tenant.orgId }, body: { email } })
    expect((await invite()).status).toBe(409)
    await remove(tenant.admin, target.id)
    expect((await invite()).status).toBe(201)
    expect((await newPerson(world, email)).id).toBe(target.id)
    await acceptInvites(world, target)
    expect((await world.call(orgs.get, { as: target.as, params: { orgId: tenant.orgId } })).body.org.role).toBe(
      'member',
    )
  })
})
