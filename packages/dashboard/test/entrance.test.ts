import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { builtIn, openWorld, type World } from '../../server/test/world.ts'
import { openBrowser, visit } from './browser.ts'

let world: World
let browser: Browser

beforeAll(async () => {
  world = await openWorld(builtIn)
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await world?.close()
})

test('whoever is not signed in is led to the sign-in', async () => {
  const visitor = await visit(browser, world.url)
  await visitor.page.goto('/account/cli-sessions')
  await visitor.page.waitForURL('**/sign-in?*')
  expect(new URL(visitor.page.url()).searchParams.get('returnTo')).toBe('/account/cli-sessions')
  await visitor.close()
})
