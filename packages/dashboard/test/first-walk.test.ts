import { describe, expect, test } from 'vitest'
import { totpCode } from '../../server/test/totp.ts'
import { storedText } from './browser.ts'
import * as journey from './journey.ts'
import { leaks, openStage } from './walk.ts'

const { world, arrive } = await openStage()
const visitor = await arrive()
let totpSecret: string

describe('the first person', () => {
  test('sets the server up with the link of the console, which leaves the address', async () => {
    await journey.setUp(visitor.page, world)
    expect(new URL(visitor.page.url()).hash).toBe('')
  })

  test('makes a keyring under a passphrase, and a weak one is refused', async () => {
    await visitor.page.getByLabel('Passphrase', { exact: true }).fill('short')
    await visitor.page.getByText('Too weak: at least 12 characters').waitFor()
    await journey.makeKeyring(visitor.page)
  })

  test('adds a passkey, which unlocks the keyring', async () => {
    // What is then said of signing in must not depend on how soon this is known.
    await visitor.page.route('**/v1/me/second-factor', journey.late)
    await journey.addPasskey(visitor.page, 'Laptop')
    await visitor.page.unroute('**/v1/me/second-factor', journey.late)
    await journey.lock(visitor.page)
    await journey.unlockWithPasskey(visitor.page)
  })

  test('that passkey is enrolled for signing in by the same ceremony', async () => {
    await journey.goTo(visitor.page, 'Signing in')
    await visitor.page.getByRole('cell', { name: 'Laptop', exact: true }).waitFor()
  })

  test('sets up an authenticator app and sees recovery codes once', async () => {
    totpSecret = await journey.setUpAuthenticator(visitor.page, world)
    await expect.poll(() => visitor.page.getByText(/^[A-Z2-7]{5}-[A-Z2-7]{5}$/).count()).toBe(10)
    // They are shown this once: a slip of the finger does not take them away.
    await visitor.page.keyboard.press('Escape')
    await visitor.page.getByRole('button', { name: 'I have kept them' }).click()
    await visitor.page.getByText('10 recovery codes left').waitFor()
  })

  test('is told when signing out did not work, and is still signed in', async () => {
    const { page } = visitor
    await page.route('**/sign-out', (route) => route.abort())
    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByText('The server cannot be reached').waitFor()
    await page.unroute('**/sign-out')
    await page.keyboard.press('Escape')
    visitor.complaints.splice(0, Number.POSITIVE_INFINITY)
  })

  test('signs out, and the keyring locks with it', async () => {
    await journey.signOut(visitor.page)
    await expect.poll(() => visitor.page.workers()).toEqual([])
  })

  test('signs in again with a link from a mail, and is back where it was', async () => {
    // A code of the app is good once, and the next test needs another.
    world.clock.advance(60)
    await journey.followMailedLink(visitor.page, world)
    await visitor.page.waitForURL('**/account/signing-in')
  })

  test('is told where a link was opened without its end, or a second time by going back', async () => {
    const other = await arrive()
    await other.page.goto('/sign-in/link')
    await other.page.getByText('Open the whole link').waitFor()
    await other.page.getByRole('link', { name: 'Ask for another link' }).click()
    await other.page.getByLabel('E-mail').waitFor()
    await other.close()
  })

  test('is asked for the second factor, since a mail is only one, before any page, and what asked for it goes on by itself', async () => {
    await visitor.page.getByRole('dialog', { name: 'Confirm that it is you' }).waitFor()
    expect(await visitor.page.getByRole('button', { name: 'Account' }).count()).toBe(0)
    await journey.enterSecondFactor(visitor.page, world, totpSecret)
    await visitor.page.getByRole('cell', { name: 'Laptop', exact: true }).waitFor()
  })

  test('is asked again, ten minutes later, by what needs a fresh one', async () => {
    world.clock.advance(700)
    await visitor.page.getByRole('button', { name: 'New recovery codes' }).click()
    const dialog = visitor.page.getByRole('dialog', { name: 'Confirm that it is you' })
    const digit = dialog.getByLabel('Digit 1')
    await expect.poll(() => digit.evaluate((field) => field === document.activeElement)).toBe(true)
    await visitor.page.keyboard.type(totpCode(totpSecret, new Date(0)))
    await dialog.getByText('Enter the next one').waitFor()
    await expect.poll(() => digit.evaluate((field) => field === document.activeElement)).toBe(true)
    await journey.enterSecondFactor(visitor.page, world, totpSecret)
    await visitor.page.getByRole('dialog', { name: 'Recovery codes' }).waitFor()
    await visitor.page.getByRole('button', { name: 'I have kept them' }).click()
  })

  test('unlocks with the passphrase, and a wrong one is said to be wrong', async () => {
    await journey.unlockWithPassphrase(visitor.page, 'another correct horse battery')
    await visitor.page.getByText('This passphrase does not open your keyring').waitFor()
    await journey.unlockWithPassphrase(visitor.page)
    await visitor.page.getByRole('button', { name: 'Lock the keyring' }).waitFor()
  })

  test('signs in with the passkey', async () => {
    await journey.signOut(visitor.page)
    await visitor.page.getByRole('button', { name: 'Use a passkey' }).click()
    await visitor.page.getByRole('button', { name: 'Account' }).waitFor()
  })

  test('removes the passkey from signing in, and then from the keyring, which had kept it', async () => {
    const remove = async () => {
      await visitor.page.getByRole('button', { name: 'Remove Laptop' }).click()
      await visitor.page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
      await visitor.page.getByText('None yet').waitFor()
    }
    await journey.goTo(visitor.page, 'Signing in')
    await remove()
    await journey.goTo(visitor.page, 'Keyring')
    await remove()
  })

  test('has sent the passphrase nowhere and kept it nowhere, and nothing of the PRF', async () => {
    expect(await leaks(world, { visitor })).toEqual([])
    for (const text of [...visitor.sent, ...(await storedText(visitor))]) {
      expect(text).not.toContain('"prf"')
      expect(text).not.toContain('another correct horse')
    }
  })

  test('has seen nothing of the console, nor of the Content-Security-Policy', () => {
    expect(visitor.complaints).toEqual([])
  })
})
