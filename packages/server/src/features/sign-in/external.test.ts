import { me } from '@skerry/contract/me/endpoints'
import { secondFactor } from '@skerry/contract/second-factor/endpoints'
import { sessions } from '@skerry/contract/sessions/endpoints'
import { signIn } from '@skerry/contract/sign-in/endpoints'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { cookieOf, fromOwnPage } from '../../../test/people.ts'
import { Browser } from '../../../test/services/browser.ts'
import { freePort } from '../../../test/services/free-port.ts'
import { client, type IdentityProvider, ownBaseUrl, startProvider } from '../../../test/services/provider.ts'
import { acceptInvites, invitePerson, signUp, type Tenant } from '../../../test/tenant.ts'
import { openWorld, type World } from '../../../test/world.ts'

// This is a real provider with its pages. It warns that the pages are for development, which is their use here.
for (const level of ['info', 'warn'] as const) vi.spyOn(console, level).mockImplementation(() => {})

const callback = `${ownBaseUrl}/sign-in/external/callback`
let provider: IdentityProvider
let world: World
let tenant: Tenant
beforeAll(async () => {
  provider = await startProvider('ES256')
  world = await openWorld({
    SKERRY_OIDC_ISSUER: provider.url,
    SKERRY_OIDC_AUDIENCE: client.id,
    SKERRY_BASE_URL: ownBaseUrl,
  })
  tenant = await signUp(world)
})
afterAll(async () => {
  await world.close()
  await provider.close()
})

const go = (path: string, cookie = '') => fetch(`${world.url}${path}`, { redirect: 'manual', headers: { cookie } })

/** Starts a sign-in here, signs in at the issuer, and stops before the return. */
async function there(login: string, query = '', cookie = '') {
  const begun = await go(`/sign-in/external${query}`, cookie)
  expect(begun.status).toBe(302)
  const location = begun.headers.get('location') as string
  const browser = new Browser()
  const page = await browser.open(location, callback)
  const consent = await browser.submit(page, { login, password: 'any' }, callback)
  const back = consent.url.startsWith(callback) ? consent : await browser.submit(consent, {}, callback)
  return { asked: new URL(location), waiting: cookieOf(begun.headers), back: new URL(back.url) }
}

const comeBack = (back: URL, cookie: string) => go(back.pathname + back.search, cookie)
const sessionCookie = (answer: Response) =>
  answer.headers
    .getSetCookie()
    .map((line) => line.split(';')[0] as string)
    .find((line) => line.startsWith('skerry='))
const refresh = (cookie: string) => world.call(signIn.refresh, { headers: { cookie, ...fromOwnPage } })
const failedTo = '/sign-in?error=external'

async function signedIn(login: string, query = '', cookie = '') {
  const { waiting, back } = await there(login, query, cookie)
  const answer = await comeBack(back, waiting)
  const set = sessionCookie(answer)
  if (!set) throw new Error(`not signed in: ${answer.headers.get('location')}`)
  return { answer, cookie: set }
}

describe('signing in at an external issuer', () => {
  test('is announced by the server', async () => {
    expect((await world.call(signIn.get)).body).toMatchObject({ kind: 'external', available: true, setUpNeeded: false })
    expect(world.server.setUpLink).toBeNull()
  })

  test('returns the person to the page where they began, with a session that can be renewed; invitations wait', async () => {
    await invitePerson(world, tenant, 'ada@example.com', 'admin')
    const { answer, cookie } = await signedIn('ada@example.com', '?returnTo=/cli/BCDF-GHJK')
    expect(answer.headers.get('location')).toBe('/cli/BCDF-GHJK')
    const { status, body } = await refresh(cookie)
    expect(status).toBe(200)
    const as = `Bearer ${body.session.token}`
    const { user, orgs } = (await world.call(me.get, { as })).body
    expect([user?.email, orgs]).toEqual(['ada@example.com', []])
    await acceptInvites(world, { as })
    const joined = (await world.call(me.get, { as })).body.orgs
    expect(joined.map(({ id, role }) => [id, role])).toEqual([[tenant.orgId, 'owner']])
  })

  test('with an unverified address does not change the stored one', async () => {
    const sub = 'unverified-boss@example.com'
    const whoIs = async ({ cookie }: { cookie: string }) => {
      const { token } = (await refresh(cookie)).body.session
      return (await world.call(me.get, { as: `Bearer ${token}` })).body.user?.email
    }
    expect(await whoIs(await signedIn(sub))).toBe(sub)
    await world.server.context.db.rows(`update users set email = 'clerk@example.com' where subject = $1`, [sub])
    expect(await whoIs(await signedIn(sub))).toBe('clerk@example.com')
  })

  test('sends state, nonce and PKCE', async () => {
    const { asked } = await there('ada@example.com')
    const query = Object.fromEntries(asked.searchParams)
    expect(query).toMatchObject({ response_type: 'code', client_id: client.id, code_challenge_method: 'S256' })
    for (const name of ['state', 'nonce', 'code_challenge']) expect(query[name]?.length).toBeGreaterThan(30)
  })

  test('can be finished only by the browser that began it, and only once', async () => {
    const one = await there('ada@example.com')
    const other = await there('ada@example.com')
    const attempts = [
      await comeBack(one.back, ''),
      await comeBack(one.back, other.waiting),
      await comeBack(one.back, `${one.waiting.slice(0, -4)}AAAA`),
    ]
    for (const answer of attempts) {
      expect([answer.status, answer.headers.get('location')]).toEqual([302, failedTo])
      expect(sessionCookie(answer)).toBeUndefined()
    }
    expect(sessionCookie(await comeBack(one.back, one.waiting))).toBeDefined()
    expect(sessionCookie(await comeBack(one.back, one.waiting))).toBeUndefined()
  })

  test('redirects only to pages of this server', async () => {
    for (const returnTo of ['https://evil.example', '//evil.example', '/%5Cevil.example', 'evil'])
      expect((await go(`/sign-in/external?returnTo=${returnTo}`)).status).toBe(400)
  })

  test('as a step-up replaces the session, and makes the issuer ask for a fresh sign-in', async () => {
    const { cookie } = await signedIn('bob@example.com')
    const before = (await refresh(cookie)).body.session
    const held = cookieOf((await refresh(cookie)).headers)
    const { waiting, back, asked } = await there('bob@example.com', '?stepUp=1', held)
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({ prompt: 'login', max_age: '0' })
    const answer = await comeBack(back, waiting)
    const { body } = await refresh(sessionCookie(answer) as string)
    expect((await world.call(me.get, { as: `Bearer ${before.token}` })).status).toBe(401)
    const list = await world.call(sessions.list, { as: `Bearer ${body.session.token}` })
    expect(list.body.sessions.map(({ id }) => id)).toEqual([body.session.id])
    expect((await world.call(secondFactor.get, { as: `Bearer ${body.session.token}` })).body.managed).toBe(false)
  })

  test('must be finished within ten minutes', async () => {
    const { back, waiting } = await there('ada@example.com')
    world.clock.advance(601)
    expect((await comeBack(back, waiting)).headers.get('location')).toBe(failedTo)
  })

  test('is logged with the provider’s error and description if the provider refuses', async () => {
    const reasonAfter = async (change: (query: URLSearchParams) => void) => {
      const { back, waiting } = await there('ada@example.com')
      change(back.searchParams)
      expect((await comeBack(back, waiting)).headers.get('location')).toBe(failedTo)
      return JSON.parse(world.log.findLast((line) => line.includes('signing in at the issuer failed')) ?? '{}').reason
    }
    expect(await reasonAfter((query) => query.set('code', 'another'))).toBe(
      'the identity provider refused: invalid_grant: grant request is invalid: 400',
    )
    const denied = await reasonAfter((query) => {
      query.delete('code')
      query.set('error', 'access_denied')
      query.set('error_description', 'ada@example.com is blocked, see ticket Ab12Cd34Ef56Gh78Ij90')
    })
    expect(denied).toBe('the identity provider refused: access_denied: [address] is blocked, see ticket [redacted]')
  })

  test('writes no code or token to the log', () => {
    expect(world.log.join('')).not.toMatch(/code=|\beyJ|sk1\./)
  })
})

test('a browser goes back to the sign-in page if the issuer cannot be reached', async () => {
  const away = await openWorld({
    SKERRY_OIDC_ISSUER: `http://127.0.0.1:${await freePort()}`,
    SKERRY_OIDC_AUDIENCE: client.id,
  })
  const answer = await fetch(`${away.url}/sign-in/external`, { redirect: 'manual' })
  expect([answer.status, answer.headers.get('location')]).toEqual([302, failedTo])
  const line = away.log.find((one) => one.includes('signing in at the issuer failed'))
  expect(JSON.parse(line ?? '{}').reason).toMatch(/^the sign-in at the identity provider failed: .*ECONNREFUSED/)
  await away.close()
})
