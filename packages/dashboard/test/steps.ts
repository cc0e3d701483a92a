import { setTimeout } from 'node:timers/promises'
import type { Page, Route } from 'playwright-core'
import { tokenOf } from '../../server/test/people.ts'
import { totpCode } from '../../server/test/totp.ts'
import type { World } from '../../server/test/world.ts'

// Steps that a person takes, for tests and screenshots. They use the texts of the pages.

export const person = {
  email: 'ada@example.com',
  name: 'Ada',
  org: 'Acme & Co',
  slug: 'acme-co',
  /** Planted: tests check that it is never sent and never stored. */
  passphrase: 'planted correct horse battery 7f3a',
}

export async function setUp(page: Page, world: World): Promise<void> {
  await page.goto(world.server.setUpLink as string)
  await page.getByLabel('Your e-mail').fill(person.email)
  await page.getByLabel('Your name').fill(person.name)
  await page.getByLabel('Organization').fill(person.org)
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.waitForURL('**/start')
}

export async function makeKeyring(page: Page): Promise<void> {
  await page.getByLabel('Passphrase', { exact: true }).fill(person.passphrase)
  await page.getByLabel('Passphrase again').fill(person.passphrase)
  await page.getByRole('button', { name: 'Make the keyring' }).click()
  await page.getByRole('button', { name: /\bLock the keyring/ }).waitFor()
  await goTo(page, 'Keyring')
  await page.getByText('unlocked', { exact: true }).waitFor()
}

/** Adds a passkey that unlocks the keyring and signs in. */
export async function addPasskey(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByLabel('Name').fill(name)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('cell', { name, exact: true }).waitFor()
}

export async function lock(page: Page): Promise<void> {
  await page.getByRole('button', { name: /\bLock the keyring/ }).click()
  await page.getByRole('button', { name: 'Unlock the keyring' }).waitFor()
}

export async function unlockWithPasskey(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Unlock the keyring' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Use a passkey' }).click()
  await page.getByRole('button', { name: /\bLock the keyring/ }).waitFor()
}

export async function unlockWithPassphrase(page: Page, passphrase = person.passphrase): Promise<void> {
  const dialog = page.getByRole('dialog')
  // Clicks by an event and not with the pointer, because an unlock dialog may open over the button at this moment.
  if (!(await dialog.isVisible())) await page.getByRole('button', { name: 'Unlock the keyring' }).dispatchEvent('click')
  await dialog.getByLabel('Passphrase', { exact: true }).fill(passphrase)
  await dialog.getByRole('button', { name: 'Unlock', exact: true }).click()
}

/** For `page.route`: delays a request by a second, as if the server were far away. */
export async function late(route: Route): Promise<void> {
  await setTimeout(1000)
  await route.fallback()
}

/** Goes to a page through the sidebar, because a reload would lock the keyring. */
export async function goTo(page: Page, label: string): Promise<void> {
  if (ofAccount.includes(label)) return goToAccount(page, label)
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: label }).click()
  await page.getByRole('heading', { name: label, level: 1 }).waitFor()
}

const ofAccount = ['Keyring', 'Signing in', 'CLI sessions', 'Notifications']

async function goToAccount(page: Page, label: string): Promise<void> {
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('menuitem', { name: label }).click()
  await currentTab(page, label).waitFor()
}

/** Opens another tab of the current environment, application or settings. */
export async function openTab(page: Page, label: string): Promise<void> {
  await page.locator('.tabs').getByRole('link', { name: label }).click()
  await currentTab(page, label).waitFor()
}

const currentTab = (page: Page, label: string) => page.locator('.tabs [aria-current=page]', { hasText: label })

/** Sets up an authenticator app. Returns its secret. */
export async function setUpAuthenticator(page: Page, world: World): Promise<string> {
  await goTo(page, 'Signing in')
  await page.getByRole('button', { name: 'Set up' }).click()
  const dialog = page.getByRole('dialog', { name: 'Set up the authenticator app' })
  const secret = await dialog.locator('code').innerText()
  await dialog.getByLabel('Digit 1').pressSequentially(totpCode(secret, world.clock.now()))
  await page.getByRole('dialog', { name: 'Recovery codes' }).waitFor()
  return secret
}

export async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.waitForURL('**/sign-in*')
}

/** Asks for a sign-in link on the page, takes it from the e-mail and opens it. */
export async function followMailedLink(page: Page, world: World, email = person.email): Promise<void> {
  const token = await tokenOf(world, email, 'Sign in to Skerry', async () => {
    await page.getByLabel('E-mail').fill(email)
    await page.getByRole('button', { name: 'Mail me a link' }).click()
    await page.getByText('Ask for your link').waitFor()
  })
  await page.goto(new URL(`/sign-in/link#${token}`, page.url()).href)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

export async function signInByMail(page: Page, world: World, email = person.email): Promise<void> {
  await followMailedLink(page, world, email)
  await page.getByRole('button', { name: 'Account' }).waitFor()
}

/** Accepts an invitation on the start page. A person without a key gets to the first steps. */
export async function acceptInvitation(page: Page, orgName = person.org): Promise<void> {
  await page.getByRole('button', { name: `Accept ${orgName}` }).click()
  await page.getByRole('heading', { name: /^(Applications|Welcome to .*)$/, level: 1 }).waitFor()
}

/** Answers the dialog for the second factor with a code of the authenticator app. */
export async function enterSecondFactor(page: Page, world: World, secret: string): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' })
  await dialog.getByLabel('Digit 1').pressSequentially(totpCode(secret, world.clock.now()))
  await dialog.waitFor({ state: 'hidden' })
}

/** Answers the dialog for the second factor with the passkey of the device. */
export async function confirmWithPasskey(page: Page): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' })
  await dialog.getByRole('button', { name: 'Use a passkey' }).click()
  await dialog.waitFor({ state: 'hidden' })
}
