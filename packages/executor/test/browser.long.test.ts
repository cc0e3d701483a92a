import { on, once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { vaultConnect } from '@skerry/contract/vault/connect'
import { vaultPlatform } from '@skerry/contract/vault/platform'
import { sealCredential } from '@skerry/crypto/vault'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { WebSocket as Ws } from 'ws'
import { findings, needle } from '../../server/test/needles.ts'
import { tableDump } from '../../server/test/state.ts'
import { consented, sent } from '../../server/test/vault-scene.ts'
import { connectSite, openView, signInBySight } from './person.ts'
import { backend, connectionOf, openScene, page, token } from './scene.ts'
import { ada, profileOf, startSite } from './site.ts'

const scene = await openScene()
const { world, state } = scene
const { now } = world.clock
const site = await startSite(now)
/** Another host of the same profile, where no login may be filled in, and a host outside of every profile. */
const [partner, stranger] = [await startSite(now), await startSite(now)]
await scene.newSettings({
  allowNetworks: ['127.0.0.0/8'],
  browser: { sandbox: false, max: 2 },
  sites: [profileOf(site, partner.host)],
})
await scene.command('register', '--server', world.url, '--code', await scene.code())
const running = await scene.start()
afterEach(() => running.executor.leases.close())

type Body = Record<string, unknown>
const answers: string[] = []
const ask = async (name: string, body: Body) => {
  const answer = await backend(scene, `/v1/browser/${name}`, { userRef: 'user-1', ...body })
  answers.push(JSON.stringify(answer.body))
  return answer
}
const open = async (connectionId: string, more: Body = {}) => {
  const { status, body } = await ask('open', { connectionId, ...more })
  expect(status).toBe(201)
  return body as Body & { leaseId: string; targetId: string; sessionId: string; signedIn: boolean }
}
const codeOf = ({ status, body, headers }: Awaited<ReturnType<typeof ask>>) => [
  status,
  headers.get('x-skerry-vault-error') ?? body.error?.code,
]

/** Does what the Connect page does for a user name and password. */
async function connectLogin(): Promise<string> {
  const { as, session } = await consented(world, scene, { providerId: 'shop' })
  if (!('keys' in session)) throw new Error('not a session to connect')
  const { projectId, connectionId, keys } = session
  const { jwk, thumbprint } = keys[0]!
  const place = { projectId, connectionId, providerId: 'shop', slot: 'login', revision: 1 } as const
  const sealed = await sealCredential(JSON.stringify(ada), place, JSON.stringify(jwk))
  const body = { slots: [{ slot: place.slot, revision: 1, ...sealed, keyThumbprint: thumbprint }] }
  return (await sent(world, vaultConnect.submit, { as, body })).connectionId
}

/** Connects an agent with an unmodified library. */
async function drive(leaseId: string): Promise<{ browser: Browser; tab: Page }> {
  const address = `${scene.origin.replace('http', 'ws')}/v1/browser/cdp/${leaseId}`
  const browser = await chromium.connectOverCDP(address, { headers: { authorization: `Bearer ${token}` } })
  afterAll(() => browser.close())
  return { browser, tab: browser.contexts()[0]!.pages()[0]! }
}

/** Connects a program that speaks the protocol itself, with the session that `open` returned. */
async function rawly(leaseId: string, sessionId: string) {
  const headers = { authorization: `Bearer ${token}` }
  const socket = new Ws(`${scene.origin.replace('http', 'ws')}/v1/browser/cdp/${leaseId}`, { headers })
  afterAll(() => socket.close())
  await once(socket, 'open')
  let id = 0
  return async (method: string, params: object) => {
    socket.send(JSON.stringify({ id: ++id, sessionId, method, params }))
    for await (const [data] of on(socket, 'message')) {
      const answer = JSON.parse(String(data)) as { id?: number; result?: object; error?: { message: string } }
      if (answer.id === id) return answer
    }
    throw new Error('no answer')
  }
}

const inner = (tab: Page) => tab.locator('body').innerText()

describe('an agent', () => {
  test('gets the page of the person, signed in, with the storage of the site', async () => {
    const connectionId = await connectSite(scene, site)
    const { leaseId, signedIn, targetId, sessionId } = await open(connectionId)
    expect([signedIn, sessionId]).toEqual([true, `session-${targetId}`])
    const { tab } = await drive(leaseId)
    expect(await inner(tab)).toMatch(/Welcome\s+planted-mark/)
    await tab.goto(`${site.origin}/`)
    expect(await inner(tab)).toContain('Welcome')
    expect(await tab.evaluate(() => document.cookie)).toBe('')
  })

  test('reads no cookie, no file of the machine and no other page of the browser, and cannot bypass the gate', async () => {
    const connectionId = await connectSite(scene, site)
    const { leaseId, sessionId } = await open(connectionId)
    const { browser, tab } = await drive(leaseId)
    const command = await rawly(leaseId, sessionId)
    const commands: [string, object][] = [
      ['Network.getCookies', {}],
      ['Storage.getCookies', {}],
      ['Page.navigate', { url: 'file:///etc/passwd' }],
      ['Page.navigate', { url: 'chrome://version' }],
      ['Page.navigate', { url: 'view-source:http://127.0.0.1/' }],
      ['DOM.setFileInputFiles', { files: ['/etc/passwd'] }],
      ['Fetch.enable', {}],
      ['Network.getResponseBody', { requestId: '1' }],
    ]
    for (const [method, params] of commands)
      expect([method, (await command(method, params)).error?.message]).toEqual([
        method,
        expect.stringMatching(/is not allowed|https:/),
      ])
    expect((await command('Runtime.evaluate', { expression: '6 * 7' })).result).toMatchObject({ result: { value: 42 } })
    await expect(browser.newContext()).rejects.toThrow(
      'browser.newContext: Protocol error (Target.createBrowserContext): Target.createBrowserContext is not allowed',
    )
    await tab.evaluate(() => {
      location.href = 'file:///etc/passwd'
    })
    expect(await inner(tab)).toContain('Welcome')
    await expect(tab.goto(`${stranger.origin}/`)).rejects.toThrow()
    expect(stranger.got).toEqual([])
  })

  test('reaches only the hosts of the profile, whatever the page requests', async () => {
    site.more = `<img src="${stranger.origin}/image"><iframe src="${stranger.origin}/frame"></iframe>
      <script src="http://169.254.169.254/latest"></script><script>fetch('${partner.origin}/of-the-profile', { mode: 'no-cors' })
      navigator.sendBeacon('${stranger.origin}/beacon'); new WebSocket('ws://${stranger.host}/socket')</script>`
    const connectionId = await connectSite(scene, site)
    await open(connectionId)
    await expect.poll(() => partner.got).toContain('GET /of-the-profile')
    site.more = ''
    expect(stranger.got).toEqual([])
  })

  test('signs in with values that are filled in for it, only at the origin of the sign-in', async () => {
    const connectionId = await connectLogin()
    const { leaseId, signedIn } = await open(connectionId)
    expect(signedIn).toBe(false)
    const { tab } = await drive(leaseId)
    const fill = (field: string, more: Body = {}) => ask('fill', { leaseId, field, ...more })
    await tab.goto(`${partner.origin}/login`)
    const elsewhere = await fill('password')
    expect(codeOf(elsewhere)).toEqual([403, 'not_allowed'])
    expect(elsewhere.body.error?.message).toContain(partner.origin)
    expect(await tab.locator('input[name=pass]').inputValue()).toBe('')
    await tab.goto(`${site.origin}/login`)
    expect(codeOf(await fill('totp'))).toEqual([409, 'conflict'])
    expect(codeOf(await fill('secret'))).toEqual([400, 'invalid_request'])
    expect(codeOf(await fill('password', { userRef: 'user-2' }))).toEqual([403, 'user_mismatch'])
    for (const field of ['username', 'password']) expect((await fill(field)).body).toEqual({ filled: true })
    await tab.getByRole('button').click()
    await tab.waitForURL('**/totp')
    expect((await fill('totp')).body).toEqual({ filled: true })
    await tab.getByRole('button').click()
    await tab.getByText('Welcome').waitFor()
    expect((await ask('release', { leaseId, save: true })).body).toEqual({ saved: true, signedIn: true })
    const slots = [
      { slot: 'login', revision: 1 },
      { slot: 'session', revision: 1 },
    ]
    expect((await connectionOf(scene, connectionId)).slots).toMatchObject(slots)
    expect((await open(connectionId)).signedIn).toBe(true)
  })
})

describe('a lease', () => {
  test('belongs to one user, ends with its time or its release, and leaves no profile behind', async () => {
    const connectionId = await connectSite(scene, site)
    const { leaseId } = await open(connectionId, { keepAliveMs: 60_000 })
    expect(await readdir(join(state, 'browsers'))).toEqual([leaseId])
    expect(codeOf(await ask('release', { leaseId, userRef: 'user-2' }))).toEqual([403, 'user_mismatch'])
    expect(codeOf(await ask('open', { connectionId, userRef: 'user-2' }))).toEqual([403, 'user_mismatch'])
    expect(codeOf(await ask('open', { connectionId, keepAliveMs: 1 }))).toEqual([400, 'invalid_request'])
    world.clock.advance(61)
    expect(codeOf(await ask('fill', { leaseId, field: 'password' }))).toEqual([404, 'not_found'])
    await expect(drive(leaseId)).rejects.toThrow('404')
    const again = await open(connectionId)
    const released = await ask('release', { leaseId: again.leaseId, save: false })
    expect(released.body).toEqual({ saved: false, signedIn: null })
    expect(codeOf(await ask('release', { leaseId: again.leaseId }))).toEqual([404, 'not_found'])
    await expect.poll(() => readdir(join(state, 'browsers'))).toEqual([])
    expect((await connectionOf(scene, connectionId)).slots).toMatchObject([{ slot: 'session', revision: 1 }])
  })

  test('is refused above the limit in the settings', async () => {
    const connectionId = await connectSite(scene, site)
    await Promise.all([open(connectionId), open(connectionId)])
    expect(codeOf(await ask('open', { connectionId }))).toEqual([429, 'limit_reached'])
  })

  test('does not overwrite a newer session: of two leases, the first that ends is stored', async () => {
    const connectionId = await connectSite(scene, site)
    const [first, second] = [await open(connectionId), await open(connectionId)]
    expect((await ask('release', { leaseId: first.leaseId, save: true })).body.saved).toBe(true)
    const lost = await ask('release', { leaseId: second.leaseId, save: true })
    expect(lost.body).toEqual({ saved: false, signedIn: true })
    expect((await connectionOf(scene, connectionId)).slots).toMatchObject([{ revision: 2 }])
  })

  test('ends when its connection is revoked, also while it is used', async () => {
    const connectionId = await connectSite(scene, site)
    const { leaseId } = await open(connectionId)
    const { browser } = await drive(leaseId)
    const ended = new Promise((done) => browser.once('disconnected', done))
    await sent(world, vaultPlatform.revoke, { as: scene.platform.as, params: { vaultConnectionId: connectionId } })
    await ended
    expect(codeOf(await ask('release', { leaseId, save: true }))).toEqual([404, 'not_found'])
    expect(codeOf(await ask('open', { connectionId }))).toEqual([409, 'connection_revoked'])
  })

  test('of a session that the site has ended needs its person, who signs in while no agent is connected', async () => {
    const connectionId = await connectSite(scene, site)
    site.sessions.clear()
    const { leaseId, signedIn } = await open(connectionId)
    expect(signedIn).toBe(false)
    expect(await connectionOf(scene, connectionId)).toMatchObject({
      ...{ status: 'reauth_required', statusReason: 'session_signed_out' },
    })
    expect((await ask('release', { leaseId, save: true })).body).toEqual({ saved: false, signedIn: false })
    expect(codeOf(await ask('open', { connectionId }))).toEqual([409, 'reauth_required'])
    const repaired = await connectSite(scene, site, { purpose: 'reconnect', connectionId })
    expect(repaired).toBe(connectionId)

    const lease = await open(connectionId)
    const { browser } = await drive(lease.leaseId)
    const putOut = new Promise((done) => browser.once('disconnected', done))
    site.sessions.clear()
    const { status, body } = await ask('reauth', { leaseId: lease.leaseId })
    expect([status, body]).toEqual([200, { liveViewUrl: expect.any(String), expiresAt: expect.any(String) }])
    await putOut
    await expect(drive(lease.leaseId)).rejects.toThrow('409')
    expect(codeOf(await ask('fill', { leaseId: lease.leaseId, field: 'password' }))).toEqual([409, 'conflict'])
    const visitor = await openView(String(body.liveViewUrl))
    await signInBySight(visitor, site, now)
    await visitor.page.getByRole('button', { name: 'Done' }).click()
    await visitor.page.getByText('You can close this window').waitFor()
    const { tab } = await drive(lease.leaseId)
    expect(await inner(tab)).toContain('Welcome')
    expect((await ask('release', { leaseId: lease.leaseId, save: true })).body.saved).toBe(true)
    expect((await connectionOf(scene, connectionId)).status).toBe('active')
  })
})

describe('a live view', () => {
  const start = async () => {
    const { claimToken } = await consented(world, scene, { providerId: 'shop' })
    const { body } = await page(scene, '/connect/browser/start', { claimToken })
    return { claimToken, url: String(body.liveViewUrl) }
  }

  test('opens once, reconnects in its own window, and is over with a newer link', async () => {
    const { claimToken, url } = await start()
    const visitor = await openView(url)
    const other = await openElsewhere(url)
    await other.getByText('This window can no longer be used').waitFor()
    await visitor.page.reload()
    await visitor.page.locator('#screen').waitFor()
    expect(await visitor.page.locator('#address').innerText()).toBe(site.host)
    const early = await page(scene, '/connect/browser/finish', { claimToken })
    expect(codeOf(early)).toEqual([409, 'conflict'])
    const again = await page(scene, '/connect/browser/start', { claimToken })
    await visitor.page.getByText('You can close this window').waitFor()
    const second = await openView(String(again.body.liveViewUrl))
    await signInBySight(second, site, now)
    await second.page.getByRole('button', { name: 'Done' }).click()
    await second.page.getByText('Go back to the window you came from').waitFor()
    expect((await page(scene, '/connect/browser/finish', { claimToken })).status).toBe(200)
    await second.page.getByText('You can close this window').waitFor()
    expect(second.complaints).toEqual([])
    await Promise.all([visitor.close(), second.close(), other.context().close()])
  })

  test('is refused for other origins, and its page has a strict content security policy', async () => {
    const { claimToken } = await start()
    const elsewhere = await page(scene, '/connect/browser/start', { claimToken }, 'https://evil.example')
    expect(codeOf(elsewhere)).toEqual([403, 'not_allowed'])
    const socket = new WebSocket(`${scene.origin.replace('http', 'ws')}/live/socket`)
    await new Promise((done) => socket.addEventListener('error', done))
    const { headers } = await fetch(`${scene.origin}/live/`)
    const policy = headers.get('content-security-policy')
    for (const part of ["default-src 'none'", "frame-ancestors 'none'", "script-src 'self'"])
      expect(policy).toContain(part)
    expect(policy).not.toContain('unsafe')
  })

  async function openElsewhere(url: string): Promise<Page> {
    const { visit } = await import('../../dashboard/test/browser.ts')
    const visitor = await visit(new URL(url).origin)
    await visitor.page.goto(url)
    await visitor.page.getByRole('button', { name: 'Go on' }).click()
    return visitor.page
  }
})

test('no table, log or warning contains what a person entered or what the site set', async () => {
  const planted = [ada.username, ada.password, ada.totpSecret, 'planted-mark', ...site.issued]
  expect(planted.length).toBeGreaterThan(4)
  const places = [...(await tableDump(world)), { where: 'the log', text: world.log.join('') }]
  places.push(...world.answers.map((text) => ({ where: 'an answer', text })))
  places.push(...answers.map((text) => ({ where: 'an answer of the executor', text })))
  places.push({ where: 'a warning', text: scene.warnings.join() })
  expect(
    findings(
      planted.map((text) => needle('planted', text)),
      places,
    ),
  ).toEqual([])
  expect(existsSync(join(state, 'browsers'))).toBe(true)
})
