import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { builtIn, openWorld, type World } from '../../server/test/world.ts'
import { openBrowser, visit } from './browser.ts'
import * as journey from './journey.ts'
import { askForCliSession, pages } from './pages.ts'

const folder = process.env.SKERRY_SCREENSHOTS ?? ''

// `npm run screenshots` alone: pictures are for people to look at, and assert nothing.
describe.runIf(folder !== '')('pictures', () => {
  let world: World
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    await mkdir(folder, { recursive: true })
    world = await openWorld(builtIn)
    browser = await openBrowser()
    page = (await visit(browser, world.url)).page
  })
  afterAll(async () => {
    await browser?.close()
    await world?.close()
  })

  const picture = async (name: string) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`), fullPage: true })
    }
    await page.emulateMedia({ colorScheme: 'light' })
  }

  test('before one is signed in', async () => {
    await page.goto(world.server.setUpLink as string)
    await page.getByLabel('Your e-mail').waitFor()
    await picture('set-up')
    await journey.setUp(page, world)
    await picture('keyring-new')
    await journey.makeKeyring(page)
    await journey.addPasskey(page, 'Laptop')
    await journey.setUpAuthenticator(page, world)
    await picture('recovery-codes')
    await page.getByRole('button', { name: 'I have kept them' }).click()
    await journey.signOut(page)
    await picture('sign-in')
    await page.goto('/sign-in/link#token')
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await picture('sign-in-link')
    await page.goto('/sign-in')
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByRole('button', { name: 'Account' }).waitFor()
  })

  test.each(pages)('$name', async ({ name, path, shows }) => {
    await page.goto(path)
    await page.getByText(shows).first().waitFor()
    await page.waitForLoadState('networkidle')
    await picture(name)
  })

  test('dialogs', async () => {
    const { code } = await askForCliSession(world)
    await page.goto(`/cli/${code}`)
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    await picture('cli-approval')
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('Go back to the terminal').waitFor()
    await page.goto('/account/cli-sessions')
    await page.getByText('ada@thinkpad').waitFor()
    await picture('cli-sessions-one')
    await page.getByRole('button', { name: 'Unlock the keyring' }).click()
    await page.getByRole('dialog').getByLabel('Passphrase', { exact: true }).waitFor()
    await picture('unlock')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    await page.getByLabel('Go to or do').waitFor()
    await picture('palette')
    await page.goto('/account/keyring')
    await page.getByRole('button', { name: 'Print the kit' }).waitFor()
    await page.emulateMedia({ media: 'print' })
    await page.screenshot({ path: join(folder, 'recovery-kit.png') })
    await page.emulateMedia({ media: 'screen' })
    await page.setViewportSize({ width: 390, height: 844 })
    await picture('keyring-phone')
  })
})
