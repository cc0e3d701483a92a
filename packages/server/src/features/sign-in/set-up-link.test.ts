import { members } from '@skerry/contract/members/endpoints'
import { orgs } from '@skerry/contract/orgs/endpoints'
import { signIn } from '@skerry/contract/sign-in/endpoints'
import { beforeEach, expect, test } from 'vitest'
import { archiveOf } from '../../../test/archives.ts'
import { signInByLink } from '../../../test/people.ts'
import { openTenant } from '../../../test/scene.ts'
import { acceptInvites, invitePerson, newMember, newPerson, signUp, type Tenant } from '../../../test/tenant.ts'
import { builtIn, openWorld, type World } from '../../../test/world.ts'
import { newId } from '../../kernel/context.ts'
import { restore } from '../export/restoring.ts'
import { linkPeople, makeOwner } from '../people/operating.ts'
import { makeSetUpLink } from './set-up.ts'

// The set-up link makes a first owner without proof of a mailbox. It must stop working once there is an owner, in
// whichever way that owner came.

const { world } = await openTenant(builtIn)
const { context } = world.server
const { db, archiveSections } = context
const operator = { db, now: () => new Date(), archiveSections }

/** Two links, as two starts of the server print them. */
let links: (string | null)[]
let tenant: Tenant
beforeEach(async () => {
  await db.rows('delete from memberships')
  await db.rows('delete from set_up_links')
  links = [await makeSetUpLink(context), await makeSetUpLink(context)]
  tenant = await signUp(world)
})

const use = async (link: string | null) => {
  const body = {
    email: `${newId('user')}@example.com`,
    name: 'Late',
    orgName: 'Late',
    orgSlug: newId('user').slice(-9),
  }
  const token = link?.split('#')[1] as string
  return world.call(signIn.setUp, { body: { ...body, orgSlug: body.orgSlug.toLowerCase(), token } })
}
const member = () => newMember(world, tenant)
/** The first admin in person, who owns the organization. */
async function firstAdmin(at: World, of: Tenant) {
  const email = `${newId('user')}@example.com`
  await invitePerson(at, of, email, 'admin')
  const person = await newPerson(at, email)
  await acceptInvites(at, person)
  return person
}
const roleOf = async (id: string) =>
  (await db.row<{ role: string }>('select role from memberships where user_id = $1', [id]))?.role

/** The ways in which an owner can come to exist. Each returns the new owner’s id. */
const paths: [title: string, walk: () => Promise<string>][] = [
  [
    'an organization that a person makes',
    async () => {
      const { as, id } = await newPerson(world, 'maker@example.com')
      const slug = newId('organization').slice(-9).toLowerCase()
      expect((await world.call(orgs.create, { as, body: { name: 'Made', slug } })).status).toBe(201)
      return id
    },
  ],
  ['an invitation that the first admin accepts', async () => (await firstAdmin(world, tenant)).id],
  [
    'an invitation that is accepted by its own link',
    async () => {
      await invitePerson(world, tenant, 'linked@example.com', 'admin')
      const { as } = await signInByLink(world, 'linked@example.com')
      await acceptInvites(world, { as })
      const found = await db.row<{ id: string }>(`select id from users where subject = 'linked@example.com'`)
      return found?.id as string
    },
  ],
  [
    'a member who is made the first admin',
    async () => {
      const { id: userId } = await member()
      const params = { orgId: tenant.orgId, userId }
      const answer = await world.call(members.update, { as: tenant.machine.as, params, body: { role: 'admin' } })
      expect(answer.status).toBe(200)
      return userId
    },
  ],
  [
    'an organization that is restored',
    async () => {
      const other = await openWorld(builtIn)
      const source = await signUp(other)
      const { as, id } = await firstAdmin(other, source)
      const archive = await archiveOf(other, { ...source, admin: { as, id } })
      await other.close()
      const read = async function* () {
        yield archive
      }
      await restore(operator, read, undefined)
      return id
    },
  ],
  [
    'a person whom the operator makes an owner',
    async () => {
      const person = await member()
      await makeOwner(operator, person, tenant.orgId)
      return person.id
    },
  ],
  [
    'a person to whom the operator links an owner',
    async () => {
      const [person, owner] = [await newPerson(world, 'kept@example.com'), await newPerson(world, 'merged@example.com')]
      await db.rows(`insert into memberships (org_id, user_id, role, created_at) values ($1, $2, 'member', now())`, [
        tenant.orgId,
        owner.id,
      ])
      await db.rows(`update memberships set role = 'owner' where user_id = $1`, [owner.id])
      await linkPeople(operator, person, owner)
      return person.id
    },
  ],
]

test.each(paths)('%s ends the set-up link', async (_, walk) => {
  expect(links).toEqual([expect.any(String), expect.any(String)])
  expect(await roleOf(await walk())).toBe('owner')
  expect(await db.rows('select 1 from set_up_links where used_at is null')).toEqual([])
  for (const link of links) {
    const { status, error } = await use(link)
    expect([status, error?.message]).toEqual([401, expect.stringContaining('while no organization has an owner')])
  }
  expect(await makeSetUpLink(context)).toBeNull()
})

test('a link that a server stores just after there is an owner does not work', async () => {
  const rows = await db.rows<{ tokenHash: string; expiresAt: string }>(
    'select token_hash, expires_at from set_up_links',
  )
  await firstAdmin(world, tenant)
  for (const { tokenHash, expiresAt } of rows)
    await db.rows('insert into set_up_links (token_hash, expires_at) values ($1, $2)', [tokenHash, expiresAt])
  expect((await use(links[0] as string)).status).toBe(401)
})

test('an owner whose transaction is rolled back does not retire the link, and neither does a member', async () => {
  const { id } = await member()
  const undone = db.transaction(async (tx) => {
    await tx.rows(`update memberships set role = 'owner' where user_id = $1`, [id])
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  expect((await use(links[1] as string)).status).toBe(201)
})
