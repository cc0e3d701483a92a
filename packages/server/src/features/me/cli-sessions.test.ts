import { audit } from '@skerry/contract/audit/endpoints'
import { cliSessions } from '@skerry/contract/me/cli-sessions'
import { me } from '@skerry/contract/me/endpoints'
import { describe, expect, test } from 'vitest'
import { readPages } from '../../../test/read-pages.ts'
import { openTenant } from '../../../test/scene.ts'
import { newCliSession, newMember, newPerson } from '../../../test/tenant.ts'
import { until } from '../../../test/until.ts'
import { newId } from '../../kernel/context.ts'

const { world, tenant } = await openTenant()
const person = await newMember(world, tenant)

const list = async (as = person.as) => (await world.call(cliSessions.list, { as })).body
const revoke = (cliSessionId: string, as = person.as) =>
  world.call(cliSessions.revoke, { as, params: { cliSessionId } })
const works = async (as: string) => (await world.call(me.get, { as })).status === 200

describe('the list', () => {
  test('contains the sessions of the person, newest first, revoked ones too, and marks the current one', async () => {
    const someone = await newPerson(world, 'lists@example.com')
    const first = await newCliSession(world, someone)
    const second = await newCliSession(world, someone)
    await newCliSession(world, person)
    await revoke(first.id, someone.as)
    const { sessions, currentSessionId } = await list(second.as)
    expect(sessions.map(({ id, revokedAt }) => [id, revokedAt !== null])).toEqual([
      [second.id, false],
      [first.id, true],
    ])
    expect(sessions[0]).toMatchObject({ deviceLabel: 'laptop', client: 'skerry/1.0', ipAddress: '127.0.0.1' })
    expect(currentSessionId).toBe(second.id)
    expect((await list(someone.as)).currentSessionId).toBeNull()
  })

  test('can be paged through, because ended sessions stay in it', async () => {
    const someone = await newPerson(world, 'pages@example.com')
    for (let n = 0; n < 4; n++) await newCliSession(world, someone)
    const all = await list(someone.as)
    expect(all.nextCursor).toBeNull()
    const pages = await readPages(async (cursor) => {
      const { body } = await world.call(cliSessions.list, { as: someone.as, query: { limit: 3, ...cursor } })
      return { rows: body.sessions.map(({ id }) => id), nextCursor: body.nextCursor }
    })
    expect(pages.map((page) => page.length)).toEqual([3, 1])
    expect(pages.flat()).toEqual(all.sessions.map(({ id }) => id))
  })

  test('shows when a session was last used, to the minute', async () => {
    const someone = await newPerson(world, 'uses@example.com')
    const session = await newCliSession(world, someone)
    const lastUsed = async () => (await list(someone.as)).sessions[0]?.lastUsedAt ?? undefined
    expect(await lastUsed()).toBeUndefined()
    await works(session.as)
    const first = await until('the note of use', lastUsed)
    world.clock.advance(30)
    await works(session.as)
    expect(await lastUsed()).toBe(first)
    world.clock.advance(31)
    await works(session.as)
    await until('a later note', async () => (await lastUsed()) !== first)
  })

  test('is refused to a service token and a machine client', async () => {
    for (const { as } of [tenant.admin, tenant.machine])
      expect((await world.call(cliSessions.list, { as })).status).toBe(403)
  })
})

describe('revoking', () => {
  test('ends a session on its next request, and a second time succeeds', async () => {
    const session = await newCliSession(world, person)
    expect(await works(session.as)).toBe(true)
    expect((await revoke(session.id)).status).toBe(200)
    expect(await works(session.as)).toBe(false)
    const revokedAt = async () => (await list()).sessions.find(({ id }) => id === session.id)?.revokedAt
    const first = await revokedAt()
    world.clock.advance(1)
    expect((await revoke(session.id)).status).toBe(200)
    expect(await revokedAt()).toBe(first)
    const query = { action: 'cli_session.revoked', resourceId: session.id }
    const trail = await world.call(audit.list, { as: tenant.admin.as, params: { orgId: tenant.orgId }, query })
    expect(trail.body.entries).toHaveLength(1)
  })

  test('is allowed to the session itself', async () => {
    const session = await newCliSession(world, person)
    expect((await revoke(session.id, session.as)).status).toBe(200)
    expect((await revoke(session.id, session.as)).status).toBe(401)
  })

  test('another person’s session answers 404, exactly like an unknown one, and ends nothing', async () => {
    const other = await newMember(world, tenant, 'admin')
    const session = await newCliSession(world, other)
    const own = await newCliSession(world, person)
    const nobodys = await revoke(newId('cliSession'))
    for (const answer of [await revoke(session.id), await revoke(session.id, own.as)])
      expect([answer.status, answer.error]).toEqual([404, nobodys.error])
    expect(await works(session.as)).toBe(true)
  })
})

test('a session of a person of a former issuer is as unknown as that person', async () => {
  const former = await newMember(world, tenant)
  const session = await newCliSession(world, former)
  expect(await works(session.as)).toBe(true)
  await world.server.context.db.rows(`update users set issuer = 'https://before.example' where id = $1`, [former.id])
  const { status, error } = await world.call(me.get, { as: session.as })
  expect([status, error?.message]).toEqual([401, 'unknown CLI session'])
})
