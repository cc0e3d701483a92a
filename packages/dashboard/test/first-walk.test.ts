import { describe, expect, test } from 'vitest'
import { totpCode } from '../../server/test/totp.ts'
import { keyringWorkers, storedText } from './browser.ts'
import { leaks, openScene } from './scene.ts'
import * as steps from './steps.ts'

const { world, arrive } = await openScene()
const visitor = await arrive()
let totpSecret: string

describe('the first person', () => {
  test('sets up the server with the link from the console, and the token leaves the address', async () => {
    await steps.setUp(visitor.page, world)
    expect(new URL(visitor.page.url()).hash).toBe('')
  })

  test('creates a keyring, and a weak passphrase is refused', async () => {
    await visitor.page.getByLabel('Passphrase', { exact: true }).fill('short')
    await visitor.page.getByText('Too weak: at least 12 characters').waitFor()
    await steps.makeKeyring(visitor.page)
  })

  test('adds a passkey that unlocks the keyring', async () => {
    // The enrollment for sign-in must not depend on how soon this answer arrives.
    await visitor.page.route('**/v1/me/second-factor', steps.late)
    await steps.addPasskey(visitor.page, 'Laptop')
    await visitor.page.unroute('**/v1/me/second-factor', steps.late)
    await steps.lock(visitor.page)
    await steps.unlockWithPasskey(visitor.page)
  })

  test('can also sign in with that passkey, which was enrolled at the same time', async () => {
    await steps.goTo(visitor.page, 'Signing in')
    await visitor.page.getByRole('cell', { name: 'Laptop', exact: true }).waitFor()
  })

  test('sets up an authenticator app, and sees the recovery codes once', async () => {
    totpSecret = await steps.setUpAuthenticator(visitor.page, world)
    await expect.poll(() => visitor.page.getByText(/^[A-Z2-7]{5}-[A-Z2-7]{5}$/).count()).toBe(10)
    // The codes are shown only once, so an accidental key press must not close the dialog.
    await visitor.page.keyboard.press('Escape')
    await visitor.page.getByRole('button', { name: 'I have kept them' }).click()
    await visitor.page.getByText('10 recovery codes left').waitFor()
  })

  test('is told if signing out fails, and stays signed in', async () => {
    const { page } = visitor
    await page.route('**/sign-out', (route) => route.abort())
    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByText('The server cannot be reached').waitFor()
    await page.unroute('**/sign-out')
    await page.keyboard.press('Escape')
    visitor.complaints.splice(0, Number.POSITIVE_INFINITY)
  })

  test('signs out, which also locks the keyring', async () => {
    await steps.signOut(visitor.page)
    await expect.poll(() => keyringWorkers(visitor.page)).toEqual([])
  })

  test('signs in again with a link from an e-mail, and returns to the same page', async () => {
    // A code of the app works once, and the next test needs another.
    world.clock.advance(60)
    await steps.followMailedLink(visitor.page, world)
    await visitor.page.waitForURL('**/account/signing-in')
  })

  test('sees an explanation if a link is opened without its token', async () => {
    const other = await arrive()
    await other.page.goto('/sign-in/link')
    await other.page.getByText('Open the complete link').waitFor()
    await other.page.getByRole('link', { name: 'Ask for another link' }).click()
    await other.page.getByLabel('E-mail').waitFor()
    await other.close()
  })

  test('is not signed in a second time by going back in the browser history to a used link', async () => {
    const other = await arrive()
    const { page } = other
    await page.goto('/')
    await steps.followMailedLink(page, world)
    await steps.enterSecondFactor(page, world, totpSecret)
    await page.getByRole('button', { name: 'Account' }).waitFor()
    // A code of the app works once, and the next test needs another.
    world.clock.advance(60)
    // Without its cookies, the browser can sign in only with the link.
    await other.context.clearCookies()
    await page.goBack()
    for (const look of [async () => {}, () => page.reload()]) {
      await look()
      await page.getByText('Open the complete link').waitFor()
      expect(new URL(page.url()).hash).toBe('')
      expect(await page.getByRole('button', { name: 'Sign in' }).count()).toBe(0)
    }
    expect(other.sent.filter((request) => /^POST \S+\/sign-in\/links\/redeem /.test(request))).toHaveLength(1)
    await page.goto('/')
    await page.getByLabel('E-mail').waitFor()
    await other.close()
  })

  test('must enter the second factor before any page, and then sees the page that was requested', async () => {
    await visitor.page.getByRole('dialog', { name: 'Confirm that it is you' }).waitFor()
    expect(await visitor.page.getByRole('button', { name: 'Account' }).count()).toBe(0)
    await steps.enterSecondFactor(visitor.page, world, totpSecret)
    await visitor.page.getByRole('cell', { name: 'Laptop', exact: true }).waitFor()
  })

  test('is asked for the second factor again after more than ten minutes, if an action needs a fresh one', async () => {
    world.clock.advance(700)
    await visitor.page.getByRole('button', { name: 'New recovery codes' }).click()
    const dialog = visitor.page.getByRole('dialog', { name: 'Confirm that it is you' })
    const digit = dialog.getByLabel('Digit 1')
    await expect.poll(() => digit.evaluate((field) => field === document.activeElement)).toBe(true)
    await visitor.page.keyboard.type(totpCode(totpSecret, new Date(0)))
    await dialog.getByText('Enter the next one').waitFor()
    await expect.poll(() => digit.evaluate((field) => field === document.activeElement)).toBe(true)
    await steps.enterSecondFactor(visitor.page, world, totpSecret)
    await visitor.page.getByRole('dialog', { name: 'Recovery codes' }).waitFor()
    await visitor.page.getByRole('button', { name: 'I have kept them' }).click()
  })

  test('unlocks the keyring with the passphrase, and a wrong one is refused', async () => {
    await steps.unlockWithPassphrase(visitor.page, 'another correct horse battery')
    await visitor.page.getByText('This passphrase does not open your keyring').waitFor()
    await steps.unlockWithPassphrase(visitor.page)
    await visitor.page.getByRole('button', { name: /\bLock the keyring/ }).waitFor()
  })

  test('signs in with the passkey', async () => {
    await steps.signOut(visitor.page)
    await visitor.page.getByRole('button', { name: 'Use a passkey' }).click()
    await visitor.page.getByRole('button', { name: 'Account' }).waitFor()
  })

  test('removes the passkey from sign-in and then from the keyring, which had kept it', async () => {
    const remove = async () => {
      await visitor.page.getByRole('button', { name: 'Remove Laptop' }).click()
      await visitor.page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
      await visitor.page.getByText('No passkey yet').waitFor()
    }
    await steps.goTo(visitor.page, 'Signing in')
    await remove()
    await steps.goTo(visitor.page, 'Keyring')
    await remove()
  })

  test('has neither sent nor stored the passphrase or the PRF’s output', async () => {
    expect(await leaks(world, { visitor })).toEqual([])
    for (const text of [...visitor.sent, ...(await storedText(visitor))]) {
      expect(text).not.toContain('"prf"')
      expect(text).not.toContain('another correct horse')
    }
  })

  test('has caused no console warnings and no Content-Security-Policy violations', () => {
    expect(visitor.complaints).toEqual([])
  })
})
