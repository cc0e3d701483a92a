import { vaultPlatform } from '@skerry/contract/vault/platform'
import { clientError } from '@skerry/sdk/errors'
import { beforeEach, expect, test } from 'vitest'
import { findings, needle } from '../../server/test/needles.ts'
import { auditRows, tableDump } from '../../server/test/state.ts'
import { consented, newLink, open, sent } from '../../server/test/vault-scene.ts'
import { openJournal } from '../src/oauth/journal.ts'
import { openMailScene } from './mail-scene.ts'
import { signIn } from './provider.ts'
import { type Relay, startRelay } from './relay.ts'
import { connectionOf, page } from './scene.ts'

let relay!: Relay
const { scene, provider, upstream, call } = await openMailScene(undefined, async (url) => {
  relay = await startRelay(url)
  return relay.url
})
const running = await scene.start()
beforeEach(() => {
  provider.grants = {}
  provider.losesAnswer = () => false
  provider.before = async () => {}
})

/** Opens a link and sends its person to the provider -> the claim token, and the address at which the browser ends. */
async function visit(options?: { refuse?: boolean }) {
  const { claimToken, connectionId } = await consented(scene.world, scene, { providerId: 'mail' })
  const { body } = await page(scene, '/connect/oauth/start', { claimToken })
  const back = await signIn(String(body.authorizationUrl), options)
  const { headers, status } = await fetch(back, { redirect: 'manual' })
  const ended = new URL(headers.get('location') ?? '')
  return { claimToken, connectionId, back, status, ended, fragment: new URLSearchParams(ended.hash.slice(1)) }
}

async function connect(): Promise<string> {
  const { claimToken, fragment } = await visit()
  const { status, body } = await page(scene, '/connect/oauth/finish', { claimToken, flow: fragment.get('f') })
  expect([status, body]).toEqual([200, { connectionId: expect.any(String), returnUrl: expect.any(String) }])
  return String(body.connectionId)
}

const sentToken = () => upstream.got.at(-1)!.headers.authorization
const sentAfter = ({ status }: { status: number }) => {
  expect(status).toBe(200)
  return sentToken()
}
const hour = () => scene.world.clock.advance(3600)

test('a person signs in at the provider, and the backend calls it with a token that it never sees', async () => {
  const { status, ended, back } = await visit()
  expect([status, ended.origin, ended.pathname]).toEqual([303, scene.world.url, '/connect/'])
  expect(new URL(back).searchParams.get('iss')).toBe(provider.url)
  const connectionId = await connect()
  expect(await connectionOf(scene, connectionId)).toMatchObject({
    status: 'active',
    slots: [{ slot: 'oauth2', revision: 1 }],
  })
  const { status: answered, body } = await call(connectionId)
  expect(answered).toBe(200)
  expect(sentToken()).toMatch(/^Bearer [\w-]{20,}$/)
  expect(JSON.stringify(body)).not.toContain(sentToken()!.slice('Bearer '.length))
})

test('no table, log, answer or warning contains a token of the provider, from the sign-in or from a refresh', async () => {
  const { world, warnings } = scene
  const before = provider.issued.length
  const connectionId = await connect()
  const first = await call(connectionId)
  hour()
  const refreshed = await call(connectionId)
  const issued = provider.issued.slice(before)
  expect(issued.map((token) => token.length > 20)).toEqual([true, true, true, true])
  expect(issued).toContain(sentToken()?.slice('Bearer '.length))
  const places = [
    ...(await tableDump(world)),
    { where: 'the log', text: world.log.join('') },
    ...world.answers.map((text) => ({ where: 'an answer', text })),
    ...[first, refreshed].map(({ body }) => ({ where: 'an answer of the executor', text: JSON.stringify(body) })),
    { where: 'a warning', text: warnings.join() },
  ]
  // Checks that the search finds a text that is there.
  expect(findings([needle('the connection', connectionId)], places)).toContain('the connection in an answer')
  const needles = issued.map((token) => needle('a token', token))
  expect(findings(needles, places)).toEqual([])
})

test('only the page that started can finish, once, and a refusal by the person is reported as denied', async () => {
  const [mine, others] = [await visit(), await visit()]
  const finish = (claimToken: string, flow: unknown) => page(scene, '/connect/oauth/finish', { claimToken, flow })
  expect((await finish(others.claimToken, mine.fragment.get('f'))).status).toBe(404)
  expect((await finish(mine.claimToken, mine.fragment.get('f'))).status).toBe(404)
  expect((await finish(mine.claimToken, new URL(mine.back).searchParams.get('state'))).status).toBe(404)
  const again = await fetch(others.back, { redirect: 'manual' })
  expect(again.headers.get('location')).toBe(`${scene.world.url}/connect/#r=failed`)
  const done = await finish(others.claimToken, others.fragment.get('f'))
  expect(done.status).toBe(200)
  const refused = await visit({ refuse: true })
  expect(refused.ended.hash).toBe('#r=denied')
})

test('the consent page shows scopes as words', async () => {
  const { session } = await open(scene.world, await newLink(scene.world, scene, { providerId: 'mail' }))
  expect('provider' in session && session.provider.scopes).toEqual([
    'Know which account is yours',
    'Use your account while you are away',
    'Read your things',
  ])
})

test('a sign-in starts only from the right origin, after consent, and for a known session', async () => {
  const { claimToken } = await consented(scene.world, scene, { providerId: 'mail' })
  const elsewhere = await page(scene, '/connect/oauth/start', { claimToken }, 'https://evil.example')
  expect([elsewhere.status, elsewhere.headers.get('access-control-allow-origin')]).toEqual([403, null])
  const opened = await open(scene.world, await newLink(scene.world, scene, { providerId: 'mail' }))
  const early = await page(scene, '/connect/oauth/start', { claimToken: opened.claimToken })
  expect([early.status, early.body.error?.message]).toEqual([409, 'the person has not agreed yet'])
  expect((await page(scene, '/connect/oauth/start', { claimToken: `vcl_${'A'.repeat(43)}` })).status).toBe(404)
})

test('a sign-in that cannot be reported to the server connects nothing, and its person signs in again', async () => {
  const { id, claimToken, connectionId } = await consented(scene.world, scene, { providerId: 'mail' })
  const signInAgain = async () => {
    const { body } = await page(scene, '/connect/oauth/start', { claimToken })
    const { headers } = await fetch(await signIn(String(body.authorizationUrl)), { redirect: 'manual' })
    const flow = new URLSearchParams(new URL(headers.get('location')!).hash.slice(1)).get('f')
    return { flow, finished: await page(scene, '/connect/oauth/finish', { claimToken, flow }) }
  }
  const sessionNow = async () =>
    (await sent(scene.world, vaultPlatform.session, { as: scene.platform.as, params: { connectSessionId: id } }))
      .session
  relay.isAway = (path) => path.endsWith('/complete')
  const { flow, finished } = await signInAgain()
  expect([finished.status, finished.body.error?.code]).toEqual([503, 'unavailable'])
  expect(provider.grants).toEqual({ authorization_code: 1 })
  relay.isAway = () => false
  expect(await sessionNow()).toMatchObject({ status: 'pending', connectionId: null, completedAt: null })
  const params = { vaultConnectionId: connectionId }
  const { status } = await scene.world.call(vaultPlatform.connection, { as: scene.platform.as, params })
  expect(status).toBe(404)
  // The code is used up, and so is the handle that came with it.
  expect((await page(scene, '/connect/oauth/finish', { claimToken, flow })).status).toBe(404)
  const { body } = (await signInAgain()).finished
  expect(await sessionNow()).toMatchObject({ status: 'completed', connectionId: body.connectionId })
  expect((await call(String(body.connectionId))).status).toBe(200)
})

test('a repair that cannot be reported to the server leaves its connection unchanged', async () => {
  const connectionId = await connect()
  await running.executor.refresher.report(connectionId, 'provider_rejected_credential')
  const repair = { purpose: 'reconnect', connectionId, providerId: 'mail' }
  const { claimToken } = await consented(scene.world, scene, repair)
  const { body } = await page(scene, '/connect/oauth/start', { claimToken })
  const { headers } = await fetch(await signIn(String(body.authorizationUrl)), { redirect: 'manual' })
  const flow = new URLSearchParams(new URL(headers.get('location')!).hash.slice(1)).get('f')
  relay.isAway = (path) => path.endsWith('/complete')
  expect((await page(scene, '/connect/oauth/finish', { claimToken, flow })).status).toBe(503)
  relay.isAway = () => false
  expect(await connectionOf(scene, connectionId)).toMatchObject({
    ...{ status: 'reauth_required', statusReason: 'provider_rejected_credential' },
    slots: [{ slot: 'oauth2', revision: 1 }],
  })
})

test('a repair with another account is refused unless the product allows it, and the account has a label', async () => {
  const connectionId = await connect()
  expect((await connectionOf(scene, connectionId)).accountLabel).toBe('ada@example.com')
  const repairAs = async (login: string, more: object = {}) => {
    const repair = { purpose: 'reconnect', connectionId, providerId: 'mail', ...more }
    const { claimToken } = await consented(scene.world, scene, repair)
    const { body } = await page(scene, '/connect/oauth/start', { claimToken })
    const { headers } = await fetch(await signIn(String(body.authorizationUrl), { login }), { redirect: 'manual' })
    const flow = new URLSearchParams(new URL(headers.get('location')!).hash.slice(1)).get('f')
    return page(scene, '/connect/oauth/finish', { claimToken, flow })
  }
  await running.executor.refresher.report(connectionId, 'provider_rejected_credential')
  const { status, body } = await repairAs('eve')
  expect([status, body.error?.message]).toEqual([409, expect.stringContaining('another account')])
  expect(await connectionOf(scene, connectionId)).toMatchObject({
    ...{ status: 'reauth_required', accountLabel: 'ada@example.com', slots: [{ revision: 1 }] },
  })
  expect((await repairAs('ada')).status).toBe(200)
  expect((await connectionOf(scene, connectionId)).status).toBe('active')
  expect((await repairAs('eve', { allowAccountChange: true })).status).toBe(200)
  expect((await connectionOf(scene, connectionId)).accountLabel).toBe('eve@example.com')
  const written = (await auditRows(scene.world)).findLast(({ action }) => action === 'vault.credential.written')
  expect(written).toMatchObject({ resourceId: connectionId, metadata: { accountChanged: true } })
})

test('an answer of another issuer is refused', async () => {
  const { claimToken } = await consented(scene.world, scene, { providerId: 'mail' })
  const { body } = await page(scene, '/connect/oauth/start', { claimToken })
  const back = new URL(await signIn(String(body.authorizationUrl)))
  back.searchParams.set('iss', 'https://evil.example')
  const { headers } = await fetch(back, { redirect: 'manual' })
  const flow = new URLSearchParams(new URL(headers.get('location')!).hash.slice(1)).get('f')
  const { status, body: refused } = await page(scene, '/connect/oauth/finish', { claimToken, flow })
  expect([status, refused.error?.code]).toEqual([502, 'provider_failed'])
})

test('200 requests that need a new token make one call to the provider', async () => {
  const connectionId = await connect()
  hour()
  provider.grants = {}
  const answers = await Promise.all(Array.from({ length: 200 }, () => call(connectionId)))
  expect(answers.map(({ status }) => status)).toEqual(Array(200).fill(200))
  expect(provider.grants).toEqual({ refresh_token: 1 })
  expect((await connectionOf(scene, connectionId)).slots).toMatchObject([{ revision: 2 }])
  expect(new Set(upstream.got.slice(-200).map(({ headers }) => headers.authorization)).size).toBe(1)
  hour()
  expect((await call(connectionId)).status).toBe(200)
  expect(provider.grants).toEqual({ refresh_token: 2 })
})

test('a token that the provider refuses is refreshed once, and the request is sent again', async () => {
  const connectionId = await connect()
  const before = upstream.got.length
  const { answers } = upstream
  upstream.answers = (got, response) =>
    upstream.got.length === before + 1 ? response.writeHead(401).end() : answers(got, response)
  expect((await call(connectionId)).status).toBe(200)
  upstream.answers = answers
  expect([provider.grants.refresh_token, upstream.got.length - before]).toEqual([1, 2])
})

test('a request without a placeholder carries the access token, and a new one after a refusal', async () => {
  const connectionId = await connect()
  const first = sentAfter(await call(connectionId, {}))
  const before = upstream.got.length
  const { answers } = upstream
  upstream.answers = (got, response) =>
    upstream.got.length === before + 1 ? response.writeHead(401).end() : answers(got, response)
  const second = sentAfter(await call(connectionId, {}))
  upstream.answers = answers
  expect([first, second]).toEqual([
    expect.stringMatching(/^Bearer [\w-]{20,}$/),
    expect.stringMatching(/^Bearer [\w-]{20,}$/),
  ])
  expect([first === second, provider.grants.refresh_token]).toEqual([false, 1])
  expect((await connectionOf(scene, connectionId)).status).toBe('active')
})

test('a connection that is revoked during a refresh is not used', async () => {
  const connectionId = await connect()
  hour()
  const params = { vaultConnectionId: connectionId }
  provider.before = async () => {
    await sent(scene.world, vaultPlatform.revoke, { as: scene.platform.as, params })
  }
  const before = upstream.got.length
  expect((await call(connectionId)).body.error?.code).toBe('connection_revoked')
  expect(upstream.got).toHaveLength(before)
  expect(await openJournal(scene.state).open()).toEqual([])
})

test('if somebody else writes a token during a refresh, that token is used', async () => {
  const connectionId = await connect()
  hour()
  const { credentials } = running.executor
  provider.before = async () => {
    const opened = await credentials.open(connectionId, 'oauth2')
    const place = { ...opened, revision: opened.revision + 1 }
    const tokens = { accessToken: 'token-of-the-other', refreshToken: 'r', expiresAt: null, refreshExpiresAt: null }
    await credentials.write(place, await credentials.seal(JSON.stringify(tokens), place))
  }
  expect((await call(connectionId)).status).toBe(200)
  expect(sentToken()).toBe('Bearer token-of-the-other')
})

test('a token that cannot be written to the server is used meanwhile, and is written at the next use', async () => {
  const connectionId = await connect()
  hour()
  const { credentials } = running.executor
  const { write } = credentials
  credentials.write = async () => {
    throw clientError('unavailable')
  }
  expect((await call(connectionId)).status).toBe(200)
  const meanwhile = sentToken()
  credentials.write = write
  expect(await openJournal(scene.state).open()).toEqual([connectionId])
  expect((await connectionOf(scene, connectionId)).slots).toMatchObject([{ revision: 1 }])
  expect((await call(connectionId)).status).toBe(200)
  expect([sentToken(), provider.grants.refresh_token]).toEqual([meanwhile, 1])
  expect((await connectionOf(scene, connectionId)).slots).toMatchObject([{ revision: 2 }])
  expect(await openJournal(scene.state).open()).toEqual([])
})

test('a connection whose refresh token is rejected needs its person, who repairs it', async () => {
  const connectionId = await connect()
  hour()
  provider.losesAnswer = () => true
  expect((await call(connectionId)).body.error?.code).toBe('provider_failed')
  expect((await connectionOf(scene, connectionId)).status).toBe('active')
  provider.losesAnswer = () => false
  expect((await call(connectionId)).body.error?.code).toBe('reauth_required')
  expect(await connectionOf(scene, connectionId)).toMatchObject({ statusReason: 'refresh_outcome_unknown' })
  const entries = (await auditRows(scene.world)).filter(({ resourceId }) => resourceId === connectionId)
  expect(entries.map(({ action }) => action)).toContain('vault.connection.reauth_required')

  const repair = { purpose: 'reconnect', connectionId, providerId: 'mail' }
  const { claimToken } = await consented(scene.world, scene, repair)
  const { body } = await page(scene, '/connect/oauth/start', { claimToken })
  const { headers } = await fetch(await signIn(String(body.authorizationUrl)), { redirect: 'manual' })
  const flow = new URLSearchParams(new URL(headers.get('location')!).hash.slice(1)).get('f')
  expect((await page(scene, '/connect/oauth/finish', { claimToken, flow })).status).toBe(200)
  expect((await connectionOf(scene, connectionId)).status).toBe('active')
  expect((await call(connectionId)).status).toBe(200)
})
