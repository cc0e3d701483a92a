import { expect } from 'vitest'
import { type Visitor, visit } from '../../dashboard/test/browser.ts'
import { consented } from '../../server/test/vault-scene.ts'
import { page, type Scene } from './scene.ts'
import { ada, codeOf, fieldAt, type Site } from './site.ts'

const phone = { width: 390, height: 844 }

/** A person who has opened a live view on a phone, and sees the page. */
export async function openView(liveViewUrl: string): Promise<Visitor> {
  const visitor = await visit(new URL(liveViewUrl).origin)
  await visitor.page.setViewportSize(phone)
  await visitor.page.goto(liveViewUrl)
  await visitor.page.getByRole('button', { name: 'Go on' }).click()
  await visitor.page.locator('#screen').waitFor()
  return visitor
}

const times = (site: Site, request: string) => site.got.filter((one) => one === request).length

/** Acts, and waits for the page that follows, as a person does who watches the screen. */
async function until(site: Site, name: string, act: () => Promise<unknown>): Promise<void> {
  const before = times(site, `GET /shown/${name}`)
  await act()
  await expect.poll(() => times(site, `GET /shown/${name}`)).toBeGreaterThan(before)
}

/** Signs in with password and code, by what is visible and with the keyboard. */
export async function signInBySight({ page }: Pick<Visitor, 'page'>, site: Site, now: () => Date): Promise<void> {
  await page.locator('#screen').click({ position: fieldAt.username })
  await page.keyboard.type(ada.username)
  await page.keyboard.press('Tab')
  await page.keyboard.type(ada.password)
  await until(site, 'totp', () => page.keyboard.press('Enter'))
  await page.keyboard.type(codeOf(now()))
  await until(site, 'home', () => page.keyboard.press('Enter'))
}

/** Connects a person's account at the site, as the Connect page does -> the connection. */
export async function connectSite(scene: Scene, site: Site, more: object = {}): Promise<string> {
  const { claimToken } = await consented(scene.world, scene, { providerId: 'shop', ...more })
  const { body } = await page(scene, '/connect/browser/start', { claimToken })
  const visitor = await openView(String(body.liveViewUrl))
  await signInBySight(visitor, site, scene.world.clock.now)
  await visitor.close()
  const done = await page(scene, '/connect/browser/finish', { claimToken })
  expect([done.status, done.body]).toEqual([200, expect.objectContaining({ connectionId: expect.any(String) })])
  return String(done.body.connectionId)
}
