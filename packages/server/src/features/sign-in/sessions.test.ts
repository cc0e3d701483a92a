import { audit } from '@skerry/contract/audit/endpoints'
import { limits } from '@skerry/contract/limits'
import { me } from '@skerry/contract/me/endpoints'
import { sessions } from '@skerry/contract/sessions/endpoints'
import { signIn } from '@skerry/contract/sign-in/endpoints'
import { afterAll, describe, expect, test } from 'vitest'
import { browserOf, cookieOf, fromOwnPage, type SignedInBrowser, setUp, signInByLink } from '../../../test/people.ts'
import { invitePerson, signUp } from '../../../test/tenant.ts'
import { builtIn, openWorld } from '../../../test/world.ts'
import { sweepSignIn } from './sweep.ts'

const world = await openWorld(builtIn)
afterAll(() => world.close())
const first = await setUp(world)
const orgId = (await world.call(me.get, { as: first.as })).body.orgs[0]?.id as string

/**
 * The browser that signed in last. The clock moves on each time, because a mailbox gets only five links in 15 minutes.
 */
let turn: SignedInBrowser
async function newBrowser(): Promise<SignedInBrowser> {
  world.clock.advance(901)
  turn = await signInByLink(world, 'first@example.com')
  return turn
}

const refresh = (cookie: string, headers: Record<string, string> = fromOwnPage) =>
  world.call(signIn.refresh, { headers: { cookie, ...headers } })
const signOut = (cookie: string, headers: Record<string, string> = fromOwnPage) =>
  world.call(signIn.signOut, { headers: { cookie, ...headers } })
const statusOf = async (as: string) => (await world.call(me.get, { as })).status
const endings = async (resourceId: string) => {
  const { body } = await world.call(audit.list, {
    as: (await newBrowser()).as,
    params: { orgId },
    query: { action: 'session.ended', resourceId },
  })
  return body.entries.map(({ metadata }) => metadata.reason)
}

describe('the refresh cookie', () => {
  test('is sent to this server only, and no script can read it', async () => {
    const answer = await refresh((await newBrowser()).cookie)
    const [line] = answer.headers.getSetCookie()
    expect(line).toMatch(/^skerry=[\w-]{43}; Max-Age=1209600; Path=\/; HttpOnly; SameSite=Strict$/)
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  test('returns a new token and is replaced', async () => {
    const browser = await newBrowser()
    world.clock.advance(601)
    expect(await statusOf(browser.as)).toBe(401)
    const answer = await refresh(browser.cookie)
    expect(cookieOf(answer.headers)).not.toBe(browser.cookie)
    expect(answer.body.session.id).toBe(browser.sessionId)
    expect(await statusOf(browserOf(answer).as)).toBe(200)
  })

  test('sent twenty times at once returns one and the same successor', async () => {
    const browser = await newBrowser()
    const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(browser.cookie)))
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect(new Set(answers.map(({ headers }) => cookieOf(headers))).size).toBe(1)
    expect((await refresh(cookieOf((answers[0] as (typeof answers)[0]).headers))).status).toBe(200)
  })

  test('that was used before ends the session, for the holder of the next cookie too', async () => {
    const stolen = await newBrowser()
    const answer = await refresh(stolen.cookie)
    world.clock.advance(11)
    expect((await refresh(stolen.cookie)).status).toBe(401)
    expect(await statusOf(browserOf(answer).as)).toBe(401)
    expect((await refresh(cookieOf(answer.headers))).status).toBe(401)
    expect(await endings(stolen.sessionId)).toEqual(['a spent refresh token came back'])
  })

  test('ends the session at once if its successor has been used as well', async () => {
    const stolen = await newBrowser()
    const next = await refresh(stolen.cookie)
    await refresh(cookieOf(next.headers))
    expect((await refresh(stolen.cookie)).status).toBe(401)
    expect(await statusOf(stolen.as)).toBe(401)
  })

  test('from many renewals ago still ends the session', async () => {
    const browser = await newBrowser()
    let { cookie } = browser
    for (let round = 0; round < 5; round++) cookie = cookieOf((await refresh(cookie)).headers)
    world.clock.advance(86_400)
    await sweepSignIn(world.server.context)
    expect((await refresh(browser.cookie)).status).toBe(401)
    expect((await refresh(cookie)).status).toBe(401)
    expect(await endings(browser.sessionId)).toHaveLength(1)
  })

  test('is stored as a hash', async () => {
    const { cookie } = await newBrowser()
    const rows = JSON.stringify(await world.server.context.db.rows('select * from refresh_tokens'))
    expect(rows).not.toContain(cookie.split('=')[1])
  })

  test.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another origin of the same site', { 'sec-fetch-site': 'same-site' }],
    ['an address that somebody typed', { 'sec-fetch-site': 'none' }],
    ['another origin, in an older browser', { origin: 'https://evil.example' }],
    ['an opaque origin', { origin: 'null' }],
    ['a browser that names no origin', {}],
    ['another site that claims our origin', { 'sec-fetch-site': 'cross-site', origin: 'own' }],
  ])('is refused from %s', async (_, given: Record<string, string>) => {
    const headers = given.origin === 'own' ? { ...given, origin: world.url } : given
    const { cookie, as } = turn
    for (const send of [refresh, signOut]) {
      const { status, error } = await send(cookie, headers)
      expect([status, error?.code]).toEqual([403, 'forbidden'])
    }
    expect(await statusOf(as)).toBe(200)
  })

  test('works from our own page in a browser that sends the origin alone', async () => {
    expect((await refresh((await newBrowser()).cookie, { origin: world.url })).status).toBe(200)
  })

  test('is refused if it is wrong or missing', async () => {
    for (const cookie of ['', 'skerry=', `skerry=${'A'.repeat(43)}`, `other=${turn.cookie}`, 'skerry=%'])
      expect((await refresh(cookie)).status).toBe(401)
  })
})

describe('a session', () => {
  test('ends at sign-out, token and cookie, on the next request', async () => {
    const { as, cookie, sessionId } = await newBrowser()
    const answer = await signOut(cookie)
    expect([answer.status, answer.headers.getSetCookie()[0]]).toEqual([
      200,
      expect.stringMatching(/^skerry=; Max-Age=0/),
    ])
    expect([await statusOf(as), (await refresh(cookie)).status]).toEqual([401, 401])
    expect(await endings(sessionId)).toEqual(['signed out'])
    expect((await signOut(cookie)).status).toBe(200)
  })

  test('is listed for its person, newest first, and can be ended from another one', async () => {
    const old = await newBrowser()
    const current = await newBrowser()
    // The token of the first sign-in has expired meanwhile, but its session has not.
    const { body } = await world.call(sessions.list, { as: current.as })
    expect(body.currentSessionId).toBe(current.sessionId)
    const ids = body.sessions.map(({ id }) => id)
    expect(ids.indexOf(current.sessionId)).toBeLessThan(ids.indexOf(old.sessionId))
    const params = { webSessionId: old.sessionId }
    const end = () => world.call(sessions.end, { as: current.as, params })
    expect([(await end()).status, (await end()).status]).toEqual([200, 404])
    expect((await refresh(old.cookie)).status).toBe(401)
  })

  test('of someone else cannot be found', async () => {
    const browser = await newBrowser()
    const tenant = await signUp(world)
    await invitePerson(world, tenant, 'eve@example.com')
    const eve = await signInByLink(world, 'eve@example.com')
    const params = { webSessionId: browser.sessionId }
    expect((await world.call(sessions.end, { as: eve.as, params })).status).toBe(404)
    expect(await statusOf(browser.as)).toBe(200)
  })

  test('ends after two weeks without use', async () => {
    let { cookie } = await newBrowser()
    world.clock.advance(limits.sessionIdleSeconds - 60)
    const answer = await refresh(cookie)
    expect(answer.status).toBe(200)
    cookie = cookieOf(answer.headers)
    world.clock.advance(limits.sessionIdleSeconds + 1)
    expect((await refresh(cookie)).status).toBe(401)
  })

  test('ends after ninety days, however much it is used, and no token outlives it', async () => {
    let { cookie } = await newBrowser()
    const endsAt = world.clock.now().getTime() + limits.sessionMaxSeconds * 1000
    for (let day = 0; day < 90; day += 10) {
      const answer = await refresh(cookie)
      expect(answer.status).toBe(200)
      cookie = cookieOf(answer.headers)
      world.clock.advance(10 * 86_400 - (day === 80 ? 60 : 0))
    }
    const last = await refresh(cookie)
    expect(last.status).toBe(200)
    expect(Date.parse(last.body.session.expiresAt)).toBeLessThanOrEqual(endsAt + 5000)
    world.clock.advance(70)
    expect((await refresh(cookieOf(last.headers))).status).toBe(401)
    expect(await statusOf(browserOf(last).as)).toBe(401)
  })

  test('ends when its person is deleted', async () => {
    const tenant = await signUp(world)
    await invitePerson(world, tenant, 'gone@example.com')
    const { as } = await signInByLink(world, 'gone@example.com')
    const { db } = world.server.context
    await db.rows(`delete from memberships where user_id in (select id from users where email = 'gone@example.com')`)
    await db.rows(`delete from users where email = 'gone@example.com'`)
    expect(await statusOf(as)).toBe(401)
  })
})

test('over TLS the cookie is bound to the host and never sent unencrypted', async () => {
  const secure = await openWorld({ ...builtIn, SKERRY_BASE_URL: 'https://skerry.example' })
  const token = secure.server.setUpLink?.split('#')[1] as string
  const body = { token, email: 'a@example.com', name: 'A', orgName: 'A', orgSlug: 'a' }
  const answer = await secure.call(signIn.setUp, { body })
  expect(answer.headers.getSetCookie()[0]).toMatch(
    /^__Host-skerry=[\w-]{43}; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
  )
  await secure.close()
})
