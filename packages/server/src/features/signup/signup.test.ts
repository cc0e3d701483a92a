import { apps } from '@skerry/contract/apps/endpoints'
import { audit } from '@skerry/contract/audit/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { invites } from '@skerry/contract/members/endpoints'
import { orgs } from '@skerry/contract/orgs/endpoints'
import { signup } from '@skerry/contract/signup/endpoints'
import { afterAll, describe, expect, test } from 'vitest'
import { tokenOf } from '../../../test/people.ts'
import { newOwner } from '../../../test/tenant.ts'
import { builtIn, openWorld } from '../../../test/world.ts'

const world = await openWorld()
afterAll(() => world.close())

const slugForm = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const signUp = (orgSlug: string, more = {}) =>
  world.call(signup.create, { body: { orgName: 'Acme', orgSlug, ...more } })
const basic = ({ clientId, clientSecret }: { clientId: string; clientSecret: string }) =>
  `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`

describe('signing up', () => {
  test('makes an organization under the wanted slug, without members', async () => {
    const { status, body } = await signUp('memberless')
    expect(status).toBe(201)
    expect(body.org).toMatchObject({ name: 'Acme', slug: 'memberless', role: 'admin' })
    const { body: list } = await world.call(orgs.members, { as: basic(body.m2m), params: { orgId: body.org.id } })
    expect(list.members).toEqual([])
  })

  test('makes a machine client with the admin role in that organization and in no other', async () => {
    const own = (await signUp('reach-one')).body
    const other = (await signUp('reach-two')).body
    const body = { name: 'App', slug: 'app' }
    const as = basic(own.m2m)
    expect((await world.call(apps.create, { as, params: { orgId: own.org.id }, body })).status).toBe(201)
    expect((await world.call(apps.create, { as, params: { orgId: other.org.id }, body })).status).toBe(404)
  })

  test('returns a client secret that no later answer shows', async () => {
    const { body } = await signUp('shown-once')
    const as = basic(body.m2m)
    const params = { orgId: body.org.id }
    await world.call(me.get, { as })
    await world.call(orgs.get, { as, params })
    await world.call(audit.list, { as, params })
    expect(world.answers.filter((text) => text.includes(body.m2m.clientSecret))).toHaveLength(1)
  })

  test('yields no session of a person, and no invitation tells its link', async () => {
    const own = await openWorld(builtIn)
    const { body, headers } = await own.call(signup.create, { body: { orgName: 'Acme', orgSlug: 'acme' } })
    expect(Object.keys(body).sort()).toEqual(['m2m', 'org'])
    expect(headers.getSetCookie()).toEqual([])
    const token = await tokenOf(own, 'ada@example.com', 'You are invited', () =>
      own.call(invites.create, {
        as: basic(body.m2m),
        params: { orgId: body.org.id },
        body: { email: 'ada@example.com', role: 'admin' },
      }),
    )
    expect(own.answers.filter((text) => text.includes(token) || text.includes('/sign-in/link'))).toEqual([])
    await own.close()
  })

  test('names the client as requested, or else bootstrap', async () => {
    const named = (await signUp('named', { clientName: 'terraform' })).body
    const unnamed = (await signUp('unnamed')).body
    const names = await Promise.all(
      [named, unnamed].map(async ({ org, m2m }) => {
        const query = { action: 'machine_client.created' }
        const { body } = await world.call(audit.list, { as: basic(m2m), params: { orgId: org.id }, query })
        return body.entries.map(({ metadata, actorId, actorType }) => [
          metadata.name,
          actorType,
          actorId === m2m.clientId,
        ])
      }),
    )
    expect(names).toEqual([[['terraform', 'm2m', true]], [['bootstrap', 'm2m', true]]])
  })
})

test('POST /signup works like /v1/signup', async () => {
  const answer = await fetch(`${world.url}/signup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ orgName: 'Alias', orgSlug: 'alias' }),
  })
  expect([answer.status, await answer.json()]).toEqual([
    201,
    { org: expect.objectContaining({ slug: 'alias' }), m2m: expect.objectContaining({ clientId: expect.any(String) }) },
  ])
})

describe('a slug that is in use', () => {
  test('gets a number, and after a few more organizations random characters', async () => {
    const slugs: string[] = []
    for (let round = 0; round < 24; round++) {
      const { status, body } = await signUp('crowded')
      expect(status).toBe(201)
      slugs.push(body.org.slug)
    }
    expect(slugs.slice(0, 3)).toEqual(['crowded', 'crowded-2', 'crowded-3'])
    expect(new Set(slugs).size).toBe(24)
    for (const slug of slugs) expect(slug).toMatch(/^crowded(-[a-z0-9]+)?$/)
  })

  test('of 63 characters is shortened for the suffix, and stays valid if the cut falls on a hyphen', async () => {
    const wanted = `${'a'.repeat(60)}-bc`
    const slugs = [await signUp(wanted), await signUp(wanted), await signUp(wanted)].map(({ body }) => body.org.slug)
    expect(slugs).toEqual([wanted, `${'a'.repeat(60)}-2`, `${'a'.repeat(60)}-3`])
    for (const slug of slugs) expect(slug).toMatch(slugForm)
  })

  test('of one character works too', async () => {
    const slugs = [await signUp('q'), await signUp('q')].map(({ body }) => body.org.slug)
    expect(slugs).toEqual(['q', 'q-2'])
  })

  test('can also be the slug of a person’s organization', async () => {
    const owner = await newOwner(world)
    const { body } = await world.call(orgs.get, { as: owner.as, params: { orgId: owner.orgId } })
    expect((await signUp(body.org.slug)).body.org.slug).toBe(`${body.org.slug}-2`)
  })

  test('requested by thirty at once gives thirty organizations with thirty slugs', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, () => signUp('stampede')))
    expect(answers.map((answer) => answer.status)).toEqual(Array(30).fill(201))
    expect(new Set(answers.map((answer) => answer.body.org.slug)).size).toBe(30)
  })
})

test('a server that is closed for signing up makes no organization, and the refusal names the setting', async () => {
  const closed = await openWorld({ SKERRY_SIGNUP: 'closed' })
  const { status, error } = await closed.call(signup.create, { body: { orgName: 'Acme', orgSlug: 'acme' } })
  expect([status, error?.code]).toEqual([403, 'forbidden'])
  expect(error?.message).toContain('SKERRY_SIGNUP=open')
  expect(await closed.server.context.db.rows('select 1 from organizations')).toEqual([])
  await closed.close()
})

test.each(['Acme', '-acme', 'acme-', 'ac_me', 'a b', '', 'a'.repeat(64)])(
  'the slug %j is refused, and the error names the field',
  async (slug) => {
    const { status, error } = await signUp(slug)
    expect([status, error?.code]).toEqual([400, 'invalid_request'])
    expect(error?.message).toContain('body.orgSlug')
  },
)
