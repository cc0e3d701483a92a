import { expect, test } from 'vitest'
import { consented } from '../../server/test/vault-scene.ts'
import { openView, signInBySight } from './person.ts'
import { backend, connectionOf, openScene, page } from './scene.ts'
import { profileOf, startSite } from './site.ts'

const scene = await openScene()
const { now } = scene.world.clock
const site = await startSite(now)
await scene.newSettings({
  allowNetworks: ['127.0.0.0/8'],
  browser: { sandbox: false },
  sites: [profileOf(site)],
})
await scene.command('register', '--server', scene.world.url, '--code', await scene.code())
await scene.start()

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
  const opened = await backend(scene, '/v1/browser/open', { userRef: 'user-1', connectionId })
  const { leaseId } = opened.body
  expect([opened.status, opened.body]).toEqual([
    201,
    {
      ...{ leaseId: expect.stringMatching(/^vls_/), sessionId: expect.any(String), targetId: expect.any(String) },
      ...{ expiresAt: expect.any(String), signedIn: true },
    },
  ])
  const released = await backend(scene, '/v1/browser/release', { userRef: 'user-1', leaseId })
  expect([released.status, released.body]).toEqual([200, { saved: true, signedIn: true }])
  expect((await connectionOf(scene, String(connectionId))).slots).toMatchObject([{ slot: 'session', revision: 2 }])
})
