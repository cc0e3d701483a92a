import { afterAll, expect, test } from 'vitest'
import { type Visitor, visit } from '../../dashboard/test/browser.ts'
import { signInBySight } from '../../executor/test/person.ts'
import { backend, connectionOf, openScene } from '../../executor/test/scene.ts'
import { profileOf, startSite } from '../../executor/test/site.ts'
import { startUpstream } from '../../executor/test/upstream.ts'
import { newLink, newManageLink } from '../../server/test/vault-scene.ts'
import { press, screen } from './scene.ts'

const scene = await openScene()
const { world } = scene
const upstream = await startUpstream()
const site = await startSite(world.clock.now)
const shown = { displayName: 'Acme Mail', consentSummary: 'Reads your inbox.' }
await scene.newSettings({
  allowNetworks: ['127.0.0.0/8'],
  connectUrl: `${world.url.replace('127.0.0.1', 'localhost')}/connect`,
  providers: [{ id: 'acme', method: 'api_key', ...shown, keyLabel: 'Secret key', rules: [{ host: upstream.host }] }],
  browser: { sandbox: false },
  sites: [profileOf(site)],
})
await scene.command('register', '--server', world.url, '--code', await scene.code())
const { executor } = await scene.start()
const [{ thumbprint }] = await executor.keys()
const pathOf = (token: string) => `/connect/#t=${token}&x=${encodeURIComponent(scene.origin)}&k=${thumbprint}`

async function arrive(): Promise<Visitor> {
  const visitor = await visit(world.url)
  afterAll(() => visitor.close())
  await visitor.page.setViewportSize({ width: 390, height: 844 })
  return visitor
}

test('a person on a phone connects an API key and a site through a real executor, and disconnects both', async () => {
  const visitor = await arrive()
  const { page } = visitor
  const key = await newLink(world, scene, { providerId: 'acme' })
  await page.goto(pathOf(key.token))
  await screen(visitor, 'Connect your Acme Mail account')
  await press(visitor, 'Agree and continue')
  await page.getByLabel('Secret key').first().fill('planted-key-of-acme')
  await press(visitor, 'Connect')
  await screen(visitor, 'Acme Mail is connected')
  const request = { method: 'GET', url: `${upstream.origin}/`, headers: { 'x-key': '{{skerry:API_KEY}}' } }
  const ask = (connectionId: string) => backend(scene, '/v1/fetch', { userRef: 'user-1', connectionId, request })
  expect((await ask(key.connectionId)).status).toBe(200)
  expect(upstream.got.at(-1)?.headers['x-key']).toBe('planted-key-of-acme')

  const shop = await newLink(world, scene, { providerId: 'shop' })
  await page.goto(pathOf(shop.token))
  await screen(visitor, 'Connect your Corner Shop account')
  await press(visitor, 'Agree and continue')
  await press(visitor, 'Sign in on the site itself instead')
  await press(visitor, 'Prepare the window')
  const opened = page.waitForEvent('popup')
  await page.getByRole('link', { name: 'Open the window to sign in' }).click()
  const view = await opened
  await view.setViewportSize({ width: 390, height: 844 })
  await view.getByRole('button', { name: 'Go on' }).click()
  await view.locator('#screen').waitFor()
  await press(visitor, 'I have signed in')
  await page.getByText('You are not signed in there yet').waitFor()
  await signInBySight({ page: view }, site, world.clock.now)
  await view.getByRole('button', { name: 'Done' }).click()
  await press(visitor, 'I have signed in')
  await screen(visitor, 'Corner Shop is connected')
  const { connectionId } = shop
  const open = () => backend(scene, '/v1/browser/open', { userRef: 'user-1', connectionId })
  expect((await open()).body.signedIn).toBe(true)

  await page.goto(pathOf((await newManageLink(world, scene)).token))
  await screen(visitor, 'Your connected accounts')
  for (const name of ['Acme Mail', 'Corner Shop']) {
    await press(visitor, `Disconnect ${name}`)
    await press(visitor, 'Disconnect')
    await page.getByText(`${name} is disconnected.`).waitFor()
  }
  expect((await ask(key.connectionId)).body.error?.code).toBe('connection_revoked')
  expect((await open()).body.error?.code).toBe('connection_revoked')
  expect(await connectionOf(scene, connectionId)).toMatchObject({ status: 'revoked', revokedBy: 'end_user' })
  expect(visitor.complaints).toEqual([])
})
