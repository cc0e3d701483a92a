import { me } from '@skerry/contract/me/endpoints'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { tokenOf } from '../../server/test/people.ts'
import { freePort } from '../../server/test/services/free-port.ts'
import { client, startProvider } from '../../server/test/services/provider.ts'
import { totpCode } from '../../server/test/totp.ts'
import { builtIn, start } from '../../server/test/world.ts'
import { openScene } from './scene.ts'
import * as steps from './steps.ts'

// A server changes from the built-in sign-in to an identity provider. Its owner keeps the same account.

// The provider warns that its pages are for development, which is their use here.
for (const level of ['info', 'warn'] as const) vi.spyOn(console, level).mockImplementation(() => {})

const port = await freePort()
const baseUrl = `http://localhost:${port}`
const provider = await startProvider('ES256', { baseUrl })
afterAll(() => provider.close())
const { world, arrive } = await openScene({ ...builtIn, SKERRY_PORT: String(port), SKERRY_BASE_URL: baseUrl })
const visitor = await arrive()
const { page } = visitor
await steps.setUp(page, world)
await steps.makeKeyring(page)
const secret = await steps.setUpAuthenticator(page, world)
await page.getByRole('dialog', { name: 'Recovery codes' }).press('Escape')
const { body: before } = await world.call(me.get, { as: visitor.bearer() })

async function changeToProvider(): Promise<void> {
  const { config } = world.server.context
  await world.server.close()
  const oidc = { issuer: provider.url, audience: client.id, clientId: client.id, clientSecret: null }
  world.server = await start({ ...config, port, oidc }, world.log, world.clock.now)
}

async function signInThere(): Promise<void> {
  await page.goto('/sign-in?returnTo=/account/signing-in')
  await page.getByRole('link', { name: 'Continue with your identity provider' }).click()
  await page.waitForURL(`${provider.url}/**`)
  await page.locator('input[name=login]').fill(steps.person.email)
  await page.locator('input[name=password]').fill('any')
  await page.getByRole('button', { name: 'Sign-in' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
}

const mailedLink = () =>
  tokenOf(world, steps.person.email, 'Confirm your new sign-in to Skerry', () =>
    page.getByRole('button', { name: 'mail me a link' }).click(),
  )

describe('after a change to an identity provider', () => {
  test('a person with an existing account is asked whether it is theirs', async () => {
    await changeToProvider()
    await visitor.context.route('https://fonts.googleapis.com/**', (route) =>
      route.fulfill({ contentType: 'text/css' }),
    )
    await signInThere()
    await page.getByRole('heading', { name: 'Is this your account?' }).waitFor()
    await page.getByText(`You signed in at ${provider.url} as ${steps.person.email}.`).waitFor()
  })

  let token: string
  test('the link from the e-mail is refused in another browser, which says why', async () => {
    token = await mailedLink()
    await page.getByText('Open it in this browser.').waitFor()
    const { page: elsewhere } = await arrive()
    await elsewhere.goto(`/sign-in/identity#${token}`)
    await elsewhere.getByText('Open the link in the same browser').waitFor()
  })

  test('in the same browser the link leads to the second factor, and the account stays the same', async () => {
    await page.goto('/')
    await page.goto(`/sign-in/identity#${token}`)
    await page.getByText(`you sign in to this account at ${provider.url}`).waitFor()
    expect(page.url()).not.toContain(token)
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByRole('heading', { name: 'Enter your second factor' }).waitFor()
    world.clock.advance(30)
    await page.getByLabel('Digit 1').pressSequentially(totpCode(secret, world.clock.now()))
    await page.waitForURL('**/account/signing-in')
    const { body: after } = await world.call(me.get, { as: visitor.bearer() })
    expect([after.user?.id, after.orgs.map(({ role }) => role)]).toEqual([before.user?.id, ['owner']])
  })

  test('the link does not work a second time', async () => {
    await page.goto(`/sign-in/identity#${token}`)
    await page.getByRole('heading', { name: 'Nothing to confirm in this browser' }).waitFor()
  })

  test('the page caused no console warnings and no Content-Security-Policy violations', () => {
    // The server restarted, so the stream of live events ended.
    const isStream = (text: string) => /ERR_CONNECTION_REFUSED .*\/events$/.test(text)
    expect(visitor.complaints.filter((text) => !isStream(text))).toEqual([])
  })
})
