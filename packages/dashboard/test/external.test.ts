import { mfaPolicy } from '@skerry/contract/orgs/endpoints'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { freePort } from '../../server/test/services/free-port.ts'
import { client, startProvider } from '../../server/test/services/provider.ts'
import { invitePerson, signUp } from '../../server/test/tenant.ts'
import { storedText } from './browser.ts'
import { openScene } from './scene.ts'
import * as steps from './steps.ts'

// Sign-in through an external identity provider, with a real browser there and back.

// The provider warns that its pages are for development, which is their use here.
for (const level of ['info', 'warn'] as const) vi.spyOn(console, level).mockImplementation(() => {})

// The provider must know this server's address before the server runs.
const port = await freePort()
const baseUrl = `http://localhost:${port}`
const provider = await startProvider('ES256', { baseUrl })
afterAll(() => provider.close())
const { world, arrive } = await openScene({
  SKERRY_PORT: String(port),
  SKERRY_BASE_URL: baseUrl,
  SKERRY_OIDC_ISSUER: provider.url,
  SKERRY_OIDC_AUDIENCE: client.id,
})
const tenant = await signUp(world)
await invitePerson(world, tenant, steps.person.email)
const visitor = await arrive()
const { page } = visitor
// The provider's pages load a font from another host.
await visitor.context.route('https://fonts.googleapis.com/**', (route) => route.fulfill({ contentType: 'text/css' }))

const goThere = () => page.getByRole('link', { name: 'Continue with your identity provider' }).click()

/** Signs in on the provider's own pages. */
async function signInThere(): Promise<void> {
  await page.waitForURL(`${provider.url}/**`)
  await page.locator('input[name=login]').fill(steps.person.email)
  await page.locator('input[name=password]').fill('any')
  await page.getByRole('button', { name: 'Sign-in' }).click()
}

describe('with an identity provider', () => {
  test('the sign-in page links to the provider, and offers neither a link by e-mail nor a passkey', async () => {
    await page.goto('/account/signing-in')
    await page.getByRole('link', { name: 'Continue with your identity provider' }).waitFor()
    await expect.poll(() => page.getByRole('button').count()).toBe(0)
    await expect.poll(() => page.getByRole('textbox').count()).toBe(0)
  })

  test('a person who cancels at the provider is told so, and what to do', async () => {
    await goThere()
    await page.waitForURL(`${provider.url}/**`)
    await page.getByRole('link', { name: 'Cancel' }).click()
    await page.getByRole('alert').getByText('Your identity provider did not sign you in').waitFor()
    await page.getByText('If it happens again').waitFor()
  })

  test('a person who signs in at the provider returns to the page that they wanted', async () => {
    await page.goto('/account/signing-in')
    await goThere()
    await signInThere()
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.waitForURL('**/account/signing-in')
    await page.getByText('You enter your second factor at your identity provider').waitFor()
    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByText(steps.person.email).waitFor()
    await page.keyboard.press('Escape')
    await page.goto('/')
    await steps.acceptInvitation(page, 'Acme')
  })

  test('a person creates a keyring as usual, and can unlock it with a passkey', async () => {
    await steps.goTo(page, 'Keyring')
    await steps.makeKeyring(page)
    await steps.addPasskey(page, 'Laptop')
    await steps.lock(page)
    await steps.unlockWithPasskey(page)
    await page.goto('/')
    await page.getByRole('heading', { name: 'Welcome to Acme', level: 1 }).waitFor()
  })

  test('a required second factor leads to the provider and back to the same page', async () => {
    const { as } = tenant.machine
    await world.call(mfaPolicy.update, { as, params: { orgId: tenant.orgId }, body: { required: true } })
    await steps.goTo(page, 'Members')
    const asking = page.getByRole('dialog', { name: 'Confirm that it is you' })
    await asking.getByRole('link', { name: 'Sign in again' }).click()
    await signInThere()
    await page.waitForURL('**/members')
    // This provider has no second factor and does not report one.
    await asking.waitFor()
    await world.call(mfaPolicy.update, { as, params: { orgId: tenant.orgId }, body: { required: false } })
    await asking.getByRole('button', { name: 'Not now' }).click()
    await page.getByRole('button', { name: 'Try again' }).first().click()
    await page.getByRole('row', { name: steps.person.email }).waitFor()
  })

  test('signing out ends the session on this server', async () => {
    await steps.signOut(page)
    await page.getByRole('link', { name: 'Continue with your identity provider' }).waitFor()
    await page.goto('/account/keyring')
    await page.waitForURL('**/sign-in?*')
  })

  test('the browser stores no code and no token of the provider', async () => {
    for (const text of await storedText(visitor)) expect(text).not.toMatch(/code=|eyJ/)
  })

  test('the page caused no console warnings and no Content-Security-Policy violations', () => {
    expect(visitor.complaints).toEqual([])
  })
})
