import { sessions } from '@skerry/contract/sessions/endpoints'
import type { Locator } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import {
  addSecret,
  create,
  createApp,
  dialogOf,
  edit,
  openApp,
  openColumnMenu,
  openOrg,
  save,
  value,
} from './apps-steps.ts'
import { keyringWorkers, storedText } from './browser.ts'
import { leaks, openScene } from './scene.ts'
import * as steps from './steps.ts'

// The keyring locks after idle time, by hand and with the session. Values then leave the page, and no typed text is
// lost silently.

const { world, arrive } = await openScene()
const visitor = await arrive()
const { page, bearer } = visitor
// The page's clock runs normally, and the test can move it forward.
await page.clock.install()
await steps.setUp(page, world)
await steps.makeKeyring(page)
await steps.addPasskey(page, 'Laptop')
await openOrg(page)
await createApp(page, 'Web shop')
await create(page, 'New environment', 'Production')
await addSecret(page, 'API_KEY', 'planted-stored', ['Production'])

/** Simulates a person who touches nothing for some minutes. */
const idle = (minutes: number) => page.clock.fastForward(minutes * 60_000)
const locked = () => page.getByText('The keyring is locked').waitFor()
const editor = (name: string) => page.getByLabel(`Value of ${name} in Production`)

/** Returns all text in the page, including the contents of fields. */
const pageText = () =>
  page.evaluate(() =>
    [
      document.documentElement.outerHTML,
      ...[...document.querySelectorAll('input, textarea')].map((field) => (field as HTMLInputElement).value),
    ].join('\n'),
  )

describe('an unused keyring', () => {
  test('stays unlocked while fewer than 15 minutes pass between two inputs', async () => {
    await value(page, 'API_KEY', 'Production').click()
    await page.getByText('planted-stored').waitFor()
    await idle(14)
    await page.keyboard.press('Shift')
    await idle(14)
    await page.getByText('planted-stored').waitFor()
    expect(await keyringWorkers(page)).toHaveLength(1)
  })

  test('locks after 15 minutes, and every value leaves the page', async () => {
    await idle(1.5)
    await locked()
    expect(await pageText()).not.toContain('planted')
    await expect.poll(() => keyringWorkers(page)).toEqual([])
  })

  test('cannot be unlocked with a wrong passphrase, and then unlocks with a passkey', async () => {
    await steps.unlockWithPassphrase(page, 'planted wrong battery')
    await page.getByText('This passphrase does not open your keyring').waitFor()
    await page.getByText('Check capital letters').waitFor()
    await page.keyboard.press('Escape')
    await steps.unlockWithPasskey(page)
  })
})

describe('unsaved text', () => {
  test('leaves the page when the keyring locks, and the page says that it is kept sealed', async () => {
    await edit(page, 'API_KEY', 'Production', 'planted-typed')
    await idle(16)
    await locked()
    await page.getByText('One change is not saved. This tab keeps').waitFor()
    const kept = [await pageText(), ...(await storedText(visitor))].join('\n')
    expect(kept).toContain('skerry-unsaved')
    expect(kept).not.toContain('planted')
  })

  test('returns after unlocking, even if the server answers late who is signed in', async () => {
    await page.route('**/v1/me', steps.late)
    await steps.unlockWithPassphrase(page)
    await expect.poll(() => editor('API_KEY').inputValue()).toBe('planted-typed')
    expect((await storedText(visitor)).join('\n')).not.toContain('skerry-unsaved')
    await page.unroute('**/v1/me', steps.late)
  })

  test('survives a visit to another page', async () => {
    await steps.goTo(page, 'Members')
    await page.getByText('No one is invited').waitFor()
    await openApp(page, 'Web shop')
    await expect.poll(() => editor('API_KEY').inputValue()).toBe('planted-typed')
  })

  /** Ends the session from another client. */
  async function endSession() {
    const as = bearer()
    const { body } = await world.call(sessions.list, { as })
    await world.call(sessions.end, { as, params: { webSessionId: body.currentSessionId as string } })
  }

  /** Presses a button, unless the page has already noticed the end of its session and left. */
  async function press(button: Locator) {
    const settled = new AbortController()
    const { signal } = settled
    const ways = [button.click({ signal }), page.waitForURL('**/sign-in*', { signal })]
    await Promise.race(ways)
    // A click that still waits would press the same button after the next sign-in.
    settled.abort()
    await Promise.allSettled(ways)
  }

  test('survives a session that ended elsewhere, and can be stored after signing in again', async () => {
    await endSession()
    await press(page.getByRole('button', { name: 'Save', exact: true }))
    await page.getByText('This tab keeps your unsaved changes').waitFor()
    expect([await pageText(), ...(await storedText(visitor))].join('\n')).not.toContain('planted')
    await steps.followMailedLink(page, world)
    await steps.confirmWithPasskey(page)
    await page.getByText('One change is not saved. This tab keeps').waitFor()
    await steps.unlockWithPasskey(page)
    await expect.poll(() => editor('API_KEY').inputValue()).toBe('planted-typed')
    await save(page)
    await editor('API_KEY').waitFor({ state: 'detached' })
    await value(page, 'API_KEY', 'Production').click()
    await page.locator('.matrix-shown', { hasText: 'planted-typed' }).waitFor()
  })

  test('in a dialog is lost when the session ends, and the sign-in page says so', async () => {
    await page.getByRole('button', { name: 'Add secret' }).click()
    await dialogOf(page).getByLabel('Name').fill('OTHER')
    await dialogOf(page).getByLabel('Value').fill('planted-in-a-dialog')
    await endSession()
    await press(dialogOf(page).getByRole('button', { name: 'Add', exact: true }))
    await page.getByText('the text in the open dialog was lost').waitFor()
    await steps.followMailedLink(page, world)
    await steps.confirmWithPasskey(page)
    await steps.unlockWithPasskey(page)
  })

  test('in a dialog is cleared when the keyring locks, and the dialog says so', async () => {
    await page.getByRole('button', { name: 'Add secret' }).click()
    await dialogOf(page).getByLabel('Name').fill('OTHER')
    await dialogOf(page).getByLabel('Value').fill('planted-in-a-dialog')
    await idle(16)
    await dialogOf(page).getByText('this field was cleared').waitFor()
    expect(await pageText()).not.toContain('planted')
    await expect.poll(() => dialogOf(page).getByLabel('Name').inputValue()).toBe('OTHER')
  })
})

describe('unlocking from inside a dialog', () => {
  const unlocking = () => page.getByRole('dialog', { name: 'Unlock your keyring' })

  /** Unlocks the keyring in the dialog on top of another one. */
  async function unlock() {
    await unlocking().getByLabel('Passphrase', { exact: true }).fill(steps.person.passphrase)
    await unlocking().getByRole('button', { name: 'Unlock', exact: true }).click()
    await unlocking().waitFor({ state: 'hidden' })
  }

  test('lets the person continue to add a secret', async () => {
    const adding = page.getByRole('dialog', { name: 'Add a secret' })
    await adding.getByLabel('Value').fill('planted-other')
    await adding.getByRole('button', { name: 'Add', exact: true }).click()
    await unlocking().waitFor()
    await page.keyboard.press('Escape')
    await unlocking().waitFor({ state: 'hidden' })
    await expect.poll(() => adding.getByLabel('Value').inputValue()).toBe('planted-other')
    await adding.getByRole('button', { name: 'Add', exact: true }).click()
    await unlock()
    await adding.waitFor({ state: 'hidden' })
    await value(page, 'OTHER', 'Production').waitFor()
  })

  test('lets the person continue to paste a .env file', async () => {
    await steps.lock(page)
    await openColumnMenu(page, 'Production', 'Import a file')
    const pasting = page.getByRole('dialog', { name: 'Import secrets into Production' })
    await pasting.getByLabel('Text of the file').fill('PASTED=planted-pasted')
    await unlock()
    await pasting.getByText('1 added').waitFor()
    await pasting.getByRole('button', { name: 'Store 1 secret' }).click()
    await value(page, 'PASTED', 'Production').waitFor()
  })

  test('lets the person continue to create a token', async () => {
    await steps.lock(page)
    await steps.goTo(page, 'Service tokens')
    await page.getByRole('button', { name: 'New token' }).click()
    const making = page.getByRole('dialog', { name: 'New service token' })
    await making.getByLabel('Name').fill('web')
    await making.getByLabel('Reads').fill('Produc')
    await page.getByRole('option', { name: 'Web shop / Production' }).click()
    await making.getByRole('button', { name: 'Create' }).click()
    await unlock()
    await page.getByRole('dialog', { name: 'The new token' }).locator('[data-secret]').waitFor()
  })

  test('does not bring back a new token that was cleared by the lock, and the page says what to do', async () => {
    const token = await page.locator('[data-secret]').innerText()
    await idle(16)
    const shown = page.getByRole('dialog', { name: 'The new token' })
    await shown.getByText('this page no longer shows the token').waitFor()
    expect(await pageText()).not.toContain(token)
    await shown.getByRole('button', { name: 'Close' }).click()
    await shown.waitFor({ state: 'hidden' })
  })
})

test('the page neither sent nor stored a secret value or passphrase', async () => {
  expect(await leaks(world, { visitor })).toEqual([])
})

test('the page caused no console warnings and no Content-Security-Policy violations', () => {
  expect(visitor.complaints).toEqual([])
})
