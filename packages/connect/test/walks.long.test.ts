import { vaultConnect } from '@skerry/contract/vault/connect'
import { vaultPlatform } from '@skerry/contract/vault/platform'
import { describe, expect, test } from 'vitest'
import type { Visitor } from '../../dashboard/test/browser.ts'
import { open, sent } from '../../server/test/vault-scene.ts'
import { planted } from './executor.ts'
import { axeInBoth, leaksOf, openScene, press, returnUrl, screen } from './scene.ts'

const stage = await openScene()
const { world, executor, platformAs } = stage

const connectionOf = async (vaultConnectionId: string) =>
  (await sent(world, vaultPlatform.connection, { as: platformAs, params: { vaultConnectionId } })).connection

/** Opens a link and agrees, which leads to the form. */
async function agree(visitor: Visitor, path: string, title: RegExp): Promise<void> {
  await visitor.page.goto(path)
  await visitor.page.getByRole('heading', { name: title }).waitFor()
  await press(visitor, 'Agree and continue')
}

/** Checks that neither the page nor the executor has complained, and closes the visitor's page. */
async function leave(visitor: Visitor): Promise<void> {
  expect([visitor.complaints, executor.complaints]).toEqual([[], []])
  await visitor.close()
}

test('a person connects a login with the setup key of an authenticator app, and only the executor can open it', async () => {
  const secret = 'planted-password-77'
  const username = 'planted-name-77'
  const visitor = await stage.arrive()
  const { page } = visitor
  const { path, connectionId } = await stage.link({ providerId: 'shop' })
  await agree(visitor, path, /Connect your Corner Shop account/)
  await screen(visitor, 'Sign in to Corner Shop')
  await page.getByText('what you sign in with at shop.example').waitFor()
  await page.getByLabel('User name or e-mail').fill(username)
  await page.getByLabel('Password').first().fill(secret)
  await page.getByText('I also enter a code from an app').click()
  await page.getByLabel('Setup key of the app').first().fill('123456')
  await press(visitor, 'Connect')
  await page.getByText('Enter the setup key').waitFor()
  expect(await axeInBoth(visitor)).toEqual([])
  await page.getByLabel('Setup key of the app').first().fill('otpauth://totp/Shop?secret=JBSWY3DPEHPK3PXP')
  await press(visitor, 'Connect')
  await screen(visitor, 'Corner Shop is connected')
  const login = { username, password: secret, totpSecret: 'JBSWY3DPEHPK3PXP' }
  expect(JSON.parse(await executor.read(connectionId, 'login'))).toEqual(login)
  for (const part of [secret, username]) expect(await leaksOf(stage, visitor, part)).toEqual([])
  await leave(visitor)
})

test('a person who denies at an OAuth provider returns to the same session, and can then agree', async () => {
  const visitor = await stage.arrive()
  const { page } = visitor
  const { path, connectionId } = await stage.link({ providerId: 'calendar' })
  await page.goto(path)
  await screen(visitor, 'Connect your Calendar account')
  await page.getByText('calendar.read').waitFor()
  await press(visitor, 'Agree and continue')
  await screen(visitor, 'Continue at Calendar')
  expect(await axeInBoth(visitor)).toEqual([])
  await press(visitor, 'Go to Calendar')
  await page.getByRole('link', { name: 'Deny' }).click()
  await page.getByText('You did not agree on the other page').waitFor()
  await press(visitor, 'Go to Calendar')
  await page.getByRole('link', { name: 'Allow' }).click()
  await screen(visitor, 'Calendar is connected')
  expect(JSON.parse(await executor.read(connectionId, 'oauth2'))).toEqual(planted.tokens)
  for (const token of Object.values(planted.tokens)) expect(await leaksOf(stage, visitor, token)).toEqual([])
  await leave(visitor)
})

test('a person connects a browser session by signing in to the site in the executor’s browser', async () => {
  const visitor = await stage.arrive()
  const { page } = visitor
  const { path, connectionId } = await stage.link({ providerId: 'shop' })
  await agree(visitor, path, /Connect your Corner Shop account/)
  await press(visitor, 'Sign in on the site itself instead')
  await screen(visitor, 'Sign in to Corner Shop yourself')
  await press(visitor, 'Prepare the window')
  const opened = page.waitForEvent('popup')
  await page.getByRole('link', { name: 'Open the window to sign in' }).click()
  const window = await opened
  await press(visitor, 'I have signed in')
  await page.getByText('You are not signed in there yet').waitFor()
  expect(await axeInBoth(visitor)).toEqual([])
  await window.getByRole('link', { name: 'Sign in to the site' }).click()
  await window.getByText('You are signed in').waitFor()
  await press(visitor, 'I have signed in')
  await screen(visitor, 'Corner Shop is connected')
  expect(JSON.parse(await executor.read(connectionId, 'session'))).toEqual(planted.session)
  expect(await leaksOf(stage, visitor, planted.session.cookies)).toEqual([])
  await leave(visitor)
})

test('a person sees their accounts, repairs one, and disconnects it', async () => {
  const userRef = 'user-1'
  const first = await stage.arrive()
  const { path, connectionId } = await stage.link()
  await agree(first, path, /Connect your Acme Mail account/)
  await first.page.getByLabel('Secret key').first().fill('planted-one')
  await press(first, 'Connect')
  await screen(first, 'Acme Mail is connected')
  const again = await stage.link({ purpose: 'reconnect', connectionId, userRef })
  await agree(first, again.path, /Reconnect your Acme Mail account/)
  await first.page.getByLabel('Secret key').first().fill('planted-two')
  await first.page.getByLabel('Name for this account').fill('Mail at work')
  await press(first, 'Connect')
  await screen(first, 'Acme Mail is connected')
  expect(await executor.read(connectionId, 'api_key')).toBe('planted-two')

  await first.page.goto(await stage.manageLink())
  await screen(first, 'Your connected accounts')
  expect(await axeInBoth(first)).toEqual([])
  await press(first, 'Disconnect Acme Mail, Mail at work')
  await first.page.getByText('can no longer use it').waitFor()
  expect(await axeInBoth(first)).toEqual([])
  await press(first, 'Keep it')
  await press(first, 'Disconnect Acme Mail, Mail at work')
  await press(first, 'Disconnect')
  await first.page.getByText('Acme Mail, Mail at work is disconnected.').waitFor()
  expect(await connectionOf(connectionId)).toMatchObject({ status: 'revoked', revokedBy: 'end_user' })
  // The tab still knows the session after a reload.
  await first.page.reload()
  await screen(first, 'Your connected accounts')
  await press(first, 'Back to Northwind')
  await first.page.waitForURL(returnUrl)
  await leave(first)
})

describe('the page explains that a link does not work:', () => {
  test('because it is incomplete or unknown, or was opened elsewhere', async () => {
    const visitor = await stage.arrive()
    const { page } = visitor
    const { path, token } = await stage.link()
    await page.goto('/connect')
    await screen(visitor, 'This link is not complete')
    await page.goto(path.replace(/&k=.*/, ''))
    await screen(visitor, 'This link is not complete')
    await page.goto(path.replace(token, `vct_${'A'.repeat(43)}`))
    await screen(visitor, 'This link does not work')
    await open(world, { token })
    await page.goto(path)
    await screen(visitor, 'This link was already opened')
    expect(await axeInBoth(visitor)).toEqual([])
    await leave(visitor)
  })

  test('because the link, or the half hour after it was opened, has expired', async () => {
    const visitor = await stage.arrive()
    const { page } = visitor
    const old = await stage.link({ expiresInSeconds: 60 })
    const { path } = await stage.link()
    await agree(visitor, path, /Connect your Acme Mail account/)
    await page.getByLabel('Secret key').first().fill('planted-late')
    world.clock.advance(1801)
    await press(visitor, 'Connect')
    await screen(visitor, 'This link has expired')
    await page.reload()
    await screen(visitor, 'This link is not complete')
    const later = await stage.arrive()
    await later.page.goto(old.path)
    await screen(later, 'This link has expired')
    await leave(visitor)
    await leave(later)
  })

  test('because the executor does not answer, and then the link works once the executor answers', async () => {
    const visitor = await stage.arrive()
    const { page } = visitor
    const { path } = await stage.link()
    await page.route('**/connect/identity', (route) => route.abort())
    await page.goto(path)
    await screen(visitor, 'The service that keeps your account is not answering')
    await page.unrouteAll()
    await press(visitor, 'Try again')
    await screen(visitor, 'Connect your Acme Mail account')
    expect(visitor.complaints.filter((text) => !text.includes('ERR_FAILED'))).toEqual([])
  })

  test('because the consent text has changed, and then shows the new text before anything is captured', async () => {
    const visitor = await stage.arrive()
    const { page } = visitor
    const { path } = await stage.link()
    let isOld = true
    await page.route('**/v1/vault/connect/claim', async (route) => {
      const response = await route.fetch()
      const answer = await response.json()
      // The text from before the catalog was replaced.
      if (isOld) Object.assign(answer.session.provider, { consentVersion: 7, consentSummary: 'An older text.' })
      isOld = false
      await route.fulfill({ response, json: answer })
    })
    await page.goto(path)
    await page.getByText('An older text.').waitFor()
    await press(visitor, 'Agree and continue')
    await page.getByText('Something has changed since you began').waitFor()
    await page.getByText('Reads your inbox and drafts answers.').waitFor()
    await press(visitor, 'Agree and continue')
    await screen(visitor, 'Enter your Acme Mail key')
    await leave(visitor)
  })
})

describe('the page encrypts nothing to a key that the link does not name,', () => {
  const refused = 'We stopped to protect you'

  test('if the server names another executor or another key', async () => {
    for (const change of [
      { executorOrigin: 'https://evil.example' },
      { keys: [{ jwk: { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' }, thumbprint: executor.thumbprint }] },
      { keys: [] },
    ]) {
      const visitor = await stage.arrive()
      const { path } = await stage.link()
      await visitor.page.route('**/v1/vault/connect/claim', async (route) => {
        const response = await route.fetch()
        const answer = await response.json()
        await route.fulfill({ response, json: { ...answer, session: { ...answer.session, ...change } } })
      })
      await visitor.page.goto(path)
      await screen(visitor, refused)
      expect(visitor.sent.some((text) => /consent|submit|evil/.test(text))).toBe(false)
      await leave(visitor)
    }
  })

  test('if the executor presents another key under the true thumbprint, and the link is not used up', async () => {
    const visitor = await stage.arrive()
    const { path, token } = await stage.link()
    await executor.swapKey()
    await visitor.page.goto(path)
    await screen(visitor, refused)
    expect((await world.call(vaultConnect.claim, { body: { token } })).status).toBe(200)
    await leave(visitor)
  })
})
