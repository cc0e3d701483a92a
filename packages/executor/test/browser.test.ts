import { createVault } from '@skerry/sdk/vault'
import { expect, test } from 'vitest'
import { consented } from '../../server/test/vault-scene.ts'
import { openView, signInBySight } from './person.ts'
import { connectionOf, connectKey, openScene, page, token } from './scene.ts'
import { ada, profileOf, startSite } from './site.ts'

const scene = await openScene()
const { now } = scene.world.clock
const site = await startSite(now)
await scene.newSettings({
  allowNetworks: ['127.0.0.0/8'],
  browser: { sandbox: false },
  sites: [profileOf(site), { ...profileOf(site), id: 'counter', slots: ['login'] }],
})
await scene.command('register', '--server', scene.world.url, '--code', await scene.code())
await scene.start()
const key = scene.platform.as.replace('Bearer ', '')
const vault = createVault({ baseUrl: scene.world.url, key, executorUrl: scene.origin, executorToken: token })

test('a person signs in to a site on a phone, and the backend gets a browser that is signed in', async () => {
  const { claimToken } = await consented(scene.world, scene, { providerId: 'shop' })
  const { status, body: started } = await page(scene, '/connect/browser/start', { claimToken })
  expect([status, started]).toEqual([200, { liveViewUrl: expect.any(String), expiresAt: expect.any(String) }])
  const visitor = await openView(String(started.liveViewUrl))
  await signInBySight(visitor, site, now)
  expect([new URL(visitor.page.url()).hash, visitor.complaints]).toEqual(['', []])
  await visitor.close()
  const done = await page(scene, '/connect/browser/finish', { claimToken })
  expect([done.status, done.body]).toEqual([200, { connectionId: expect.any(String), returnUrl: expect.any(String) }])

  const { connectionId } = done.body
  const opened = await vault.browser.open({ userRef: 'user-1', connectionId: String(connectionId) })
  const { leaseId } = opened
  expect(opened).toEqual({
    ...{ leaseId: expect.stringMatching(/^vls_/), sessionId: expect.any(String), targetId: expect.any(String) },
    ...{ expiresAt: expect.any(String), signedIn: true },
  })
  expect(await vault.browser.release({ userRef: 'user-1', leaseId })).toEqual({ saved: true, signedIn: true })
  expect((await connectionOf(scene, String(connectionId))).slots).toMatchObject([{ slot: 'session', revision: 2 }])
})

test('the backend can have a stored login filled in, and can hand the browser to its person', async () => {
  const connectionId = await connectKey(scene, 'counter', JSON.stringify(ada))
  const { leaseId, signedIn } = await vault.browser.open({ userRef: 'user-1', connectionId, keepAliveMs: 600_000 })
  expect(signedIn).toBe(false)
  const of = { userRef: 'user-1', leaseId }
  expect(await vault.browser.fill({ ...of, field: 'username' })).toEqual({ filled: true })
  await expect(vault.browser.fill({ ...of, field: 'totp' })).rejects.toMatchObject({ code: 'conflict', status: 409 })
  const { liveViewUrl, expiresAt } = await vault.browser.reauth(of)
  expect([new URL(liveViewUrl).origin, Date.parse(expiresAt) > now().getTime()]).toEqual([scene.origin, true])
  expect(await vault.browser.release({ ...of, save: false })).toEqual({ saved: false, signedIn: null })
})
