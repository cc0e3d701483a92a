import { apps } from '@skerry/contract/apps/endpoints'
import { branches } from '@skerry/contract/branches/endpoints'
import { envs } from '@skerry/contract/envs/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { groups } from '@skerry/contract/groups/endpoints'
import { invites } from '@skerry/contract/members/endpoints'
import { ownInvites } from '@skerry/contract/members/own-invites'
import { orgs } from '@skerry/contract/orgs/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { beforeAll, describe, expect, test } from 'vitest'
import { wrappedKey } from '../../test/blobs.ts'
import { readPages } from '../../test/read-pages.ts'
import { openEnv } from '../../test/scene.ts'
import {
  grantKey,
  invitePerson,
  newApp,
  newEnv,
  newGroup,
  newGroupEnv,
  newMember,
  newPerson,
  newToken,
  putSecret,
  signUp,
} from '../../test/tenant.ts'

// All lists with the common paging rules. Versions and the audit log have their own limits and their own tests.

const { world, tenant, appId, envId } = await openEnv()
const groupId = (await newGroup(world, tenant)).id
const person = await newPerson(world, 'lists@example.com')

let count = 0
const next = (word: string) => `${word}-${++count}`
const as = () => ({ as: tenant.admin.as })
const org = () => ({ orgId: tenant.orgId })
const inEnv = () => ({ ...org(), envId })
const inApp = () => ({ ...org(), appId })
const inGroup = () => ({ ...org(), groupId })
const fork = () =>
  world.call(branches.create, { ...as(), params: inEnv(), body: { slug: next('branch'), wrappedDek: wrappedKey() } })
const hold = async () => grantKey(world, tenant, envId, await newToken(world, tenant))

type Query = { cursor?: string; limit?: number }
/** A list: `read` returns the ids of its rows, and `add` adds one row. */
interface List {
  name: string
  read: (query: Query) => Promise<{ status: number; rows: string[]; nextCursor: string | null; message?: string }>
  add: () => Promise<unknown>
}

type Answered<Body> = { status: number; body: Body; error: { message: string } | undefined }
function seen<Body extends { nextCursor: string | null }>(answer: Answered<Body>, rows: (body: Body) => string[]) {
  if (answer.error) return { status: answer.status, rows: [], nextCursor: null, message: answer.error.message }
  return { status: answer.status, rows: rows(answer.body), nextCursor: answer.body.nextCursor }
}
const ids = (rows: { id: string }[]) => rows.map(({ id }) => id)

const lists: List[] = [
  {
    name: 'organizations of a person',
    read: async (query) => seen(await world.call(orgs.list, { as: person.as, query }), (body) => ids(body.orgs)),
    add: () => world.call(orgs.create, { as: person.as, body: { name: 'Own', slug: next('own') } }),
  },
  {
    name: 'members',
    read: async (query) =>
      seen(await world.call(orgs.members, { ...as(), params: org(), query }), (body) =>
        body.members.map(({ userId }) => userId),
      ),
    add: () => newMember(world, tenant),
  },
  {
    name: 'invitations',
    read: async (query) =>
      seen(await world.call(invites.list, { ...as(), params: org(), query }), (body) => ids(body.invites)),
    add: () => world.call(invites.create, { ...as(), params: org(), body: { email: `${next('guest')}@example.com` } }),
  },
  {
    name: 'invitations of one’s own',
    read: async (query) =>
      seen(await world.call(ownInvites.list, { as: person.as, query }), (body) => ids(body.invites)),
    add: async () => invitePerson(world, await signUp(world), 'lists@example.com'),
  },
  {
    name: 'applications',
    read: async (query) =>
      seen(await world.call(apps.list, { ...as(), params: org(), query }), (body) => ids(body.apps)),
    add: () => newApp(world, tenant),
  },
  {
    name: 'environments of an application',
    read: async (query) =>
      seen(await world.call(apps.envs, { ...as(), params: inApp(), query }), (body) => ids(body.environments)),
    add: () => newEnv(world, tenant, appId, next('env')),
  },
  {
    name: 'branches of an application',
    read: async (query) =>
      seen(await world.call(apps.branches, { ...as(), params: inApp(), query }), (body) => ids(body.branches)),
    add: fork,
  },
  {
    name: 'branches of an environment',
    read: async (query) =>
      seen(await world.call(branches.list, { ...as(), params: inEnv(), query }), (body) => ids(body.branches)),
    add: fork,
  },
  {
    name: 'groups',
    read: async (query) =>
      seen(await world.call(groups.list, { ...as(), params: org(), query }), (body) => ids(body.groups)),
    add: () => newGroup(world, tenant),
  },
  {
    name: 'environments of a group',
    read: async (query) =>
      seen(await world.call(groups.envs, { ...as(), params: inGroup(), query }), (body) => ids(body.environments)),
    add: () => newGroupEnv(world, tenant, groupId, next('env')),
  },
  {
    name: 'grantees',
    read: async (query) =>
      seen(await world.call(envs.grantees, { ...as(), params: inEnv(), query }), (body) =>
        body.grantees.map(({ principalId }) => principalId),
      ),
    add: hold,
  },
  {
    name: 'key grants',
    read: async (query) =>
      seen(await world.call(grants.list, { ...as(), params: inEnv(), query }), (body) => ids(body.grants)),
    add: hold,
  },
  {
    name: 'service tokens',
    read: async (query) =>
      seen(await world.call(tokens.list, { ...as(), params: org(), query }), (body) => ids(body.tokens)),
    add: () => newToken(world, tenant),
  },
  {
    name: 'secrets',
    read: async (query) =>
      seen(await world.call(secrets.list, { ...as(), params: inEnv(), query }), (body) => ids(body.secrets)),
    add: () => putSecret(world, tenant, envId, next('SECRET').replace('-', '_')),
  },
]

describe.each(lists)('the list of $name', ({ read, add }) => {
  /** Adds a row with a later time than all others, so that it comes last. */
  const addLater = async () => {
    world.clock.advance(1)
    await add()
  }
  beforeAll(async () => {
    for (let n = 0; n < 5; n++) await add()
  })

  test('without a limit has every row, oldest first, and no cursor', async () => {
    const before = await read({})
    await addLater()
    const after = await read({})
    expect(before.nextCursor).toBeNull()
    expect(after.rows.slice(0, -1)).toEqual(before.rows)
    expect(new Set(after.rows).size).toBe(after.rows.length)
  })

  test('can be paged by cursor: each row comes once and in order, and new rows come at the end', async () => {
    const before = (await read({})).rows
    const pages = await readPages((cursor) => read({ limit: 2, ...cursor }), addLater)
    const after = (await read({})).rows
    expect(after.length).toBe(before.length + 1)
    expect(pages.flat()).toEqual(after)
    for (const page of pages.slice(0, -1)) expect(page).toHaveLength(2)
  })

  test('ends with a null cursor if the last page is exactly full', async () => {
    const { rows } = await read({})
    expect(await read({ limit: rows.length })).toMatchObject({ rows, nextCursor: null })
    const short = await read({ limit: rows.length - 1 })
    expect(await read({ limit: 1, cursor: short.nextCursor as string })).toMatchObject({
      rows: rows.slice(-1),
      nextCursor: null,
    })
  })

  test('shows each row with the same instant exactly once', async () => {
    await Promise.all(Array.from({ length: 6 }, add))
    const pages = await readPages((cursor) => read({ limit: 1, ...cursor }))
    expect(pages.flat()).toEqual((await read({})).rows)
  })

  test('refuses a limit out of range and a cursor of another list', async () => {
    for (const limit of [0, -1, 1001, 1.5]) expect((await read({ limit })).status).toBe(400)
    const place = (text: string) => Buffer.from(text).toString('base64url')
    const now = new Date().toISOString()
    const made = [
      'x',
      '0000-01-01T00:00:00.000Z x',
      '2026-02-30T00:00:00.000Z x',
      `${now} x y`,
      `${now} '`,
      `${now} \0`,
    ]
    for (const cursor of made.map(place)) {
      const { status, message } = await read({ cursor })
      expect([status, message]).toEqual([400, 'query.cursor: not a cursor of this list'])
    }
    expect((await read({ cursor: 'ä' })).status).toBe(400)
  })
})
