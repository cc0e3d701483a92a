import { cliLogin } from '@skerry/contract/cli-login'
import axe from 'axe-core'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { builtIn, openWorld, type World } from '../../server/test/world.ts'
import { openBrowser, type Visitor, visit } from './browser.ts'
import * as journey from './journey.ts'
import { askForCliSession, pages } from './pages.ts'

let world: World
let browser: Browser
let visitor: Visitor

beforeAll(async () => {
  world = await openWorld(builtIn)
  browser = await openBrowser()
  visitor = await visit(browser, world.url)
  await journey.setUp(visitor.page, world)
})
afterAll(async () => {
  await browser?.close()
  await world?.close()
})

describe.each(['light', 'dark'] as const)('in %s', (colorScheme) => {
  beforeAll(() => visitor.page.emulateMedia({ colorScheme }))

  test.each(pages)('$name can be used by everyone: nothing serious by axe', async ({ path, shows }) => {
    await visitor.page.goto(path)
    await visitor.page.getByText(shows).first().waitFor()
    // Through the protocol, which the page's policy does not reach.
    await visitor.page.evaluate(axe.source)
    const { violations } = await visitor.page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run())
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    expect(serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual([])
  })
})

test('a terminal is signed in by whoever approves its code', async () => {
  const asked = await askForCliSession(world)
  await visitor.page.goto(`/cli/${asked.code}`)
  await visitor.page.getByRole('button', { name: 'Approve' }).click()
  await visitor.page.getByText('Go back to the terminal').waitFor()
  const { body } = await world.call(cliLogin.poll, { body: { code: asked.code } })
  expect(body).toMatchObject({ status: 'approved', sessionId: asked.sessionId, email: journey.person.email })
})

test('a terminal is turned away by whoever denies its code', async () => {
  const asked = await askForCliSession(world)
  await visitor.page.goto(`/cli/${asked.code}`)
  await visitor.page.getByRole('button', { name: 'Deny' }).click()
  await visitor.page.getByText('The terminal has not been signed in').waitFor()
  expect((await world.call(cliLogin.poll, { body: { code: asked.code } })).body.status).toBe('denied')
})

test('the command palette goes to a page by the keyboard alone', async () => {
  await visitor.page.goto('/account/keyring')
  await visitor.page.getByText('The key with which you read values').first().waitFor()
  await visitor.page.keyboard.press('Control+k')
  await visitor.page.getByLabel('Go to or do').fill('mail')
  await visitor.page.keyboard.press('Enter')
  await visitor.page.waitForURL('**/account/notifications')
})

test('nothing was complained about', () => {
  expect(visitor.complaints).toEqual([])
})
