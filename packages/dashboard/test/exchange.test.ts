import { apps } from '@skerry/contract/apps/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { findings, needle, type Place } from '../../server/test/needles.ts'
import { tableDump } from '../../server/test/state.ts'
import { addSecret, create, createApp, dialogOf, openApp, openEnvironment, openOrg, value } from './apps-journey.ts'
import { storedText, told } from './browser.ts'
import * as journey from './journey.ts'
import { invite } from './org-journey.ts'
import { openStage } from './walk.ts'

// Two people at two browsers exchange secrets through a server that can read neither.

const grace = 'grace@example.com'
const hers = 'planted-postgres-4be1c09a'
const theirs = 'planted-partner-key-d27f6610'

const { world, arrive } = await openStage()
const first = await arrive()
const second = await arrive()

async function expectRevealed(page: Page, name: string, text: string): Promise<void> {
  await value(page, name, 'Production').click()
  await page.locator('.matrix-shown', { hasText: text }).waitFor()
}

describe('the first person', () => {
  test('sets the server up, makes a keyring, and adds a passkey and an authenticator app', async () => {
    await journey.setUp(first.page, world)
    await journey.makeKeyring(first.page)
    await journey.addPasskey(first.page, 'Laptop')
    await journey.setUpAuthenticator(first.page, world)
    await first.page.getByRole('button', { name: 'I have kept them' }).click()
  })

  test('invites a second one', async () => {
    await openOrg(first.page)
    await invite(first.page, grace)
  })

  test('stores a secret in an environment of her own making', async () => {
    await createApp(first.page, 'Web shop')
    await create(first.page, 'New environment', 'Production')
    await addSecret(first.page, 'DATABASE_URL', hers, ['Production'])
    await value(first.page, 'DATABASE_URL', 'Production').waitFor()
  })
})

describe('the second person', () => {
  test('signs in with a link from a mail, and joins who invites, as a member', async () => {
    await second.page.goto('/')
    await journey.signInByMail(second.page, world, grace)
    await journey.acceptInvitation(second.page)
  })

  test('makes a keyring, and is given no ciphertext for it yet', async () => {
    await second.page.goto('/account/keyring')
    await journey.makeKeyring(second.page)
    const as = second.bearer()
    const { body: own } = await world.call(me.get, { as })
    const orgId = own.orgs[0]?.id as string
    const { body: list } = await world.call(apps.list, { as, params: { orgId } })
    const { body: app } = await world.call(apps.get, { as, params: { orgId, appId: list.apps[0]?.id as string } })
    const params = { orgId, envId: app.environments[0]?.id as string }
    const { status, error } = await world.call(secrets.list, { as, params })
    expect([status, error?.code]).toEqual([403, 'forbidden'])
    await second.page.goto('/')
    await openApp(second.page, 'Web shop')
    await second.page.getByText('You hold no key here').waitFor()
  })
})

describe('the key of an environment', () => {
  test('is granted after comparing the words that both people see', async () => {
    await second.page.goto('/account/keyring')
    const words = await second.page
      .locator('.mono', { hasText: /^([a-z]+ ){11}[a-z]+$/ })
      .first()
      .innerText()
    // The first person looks again, and so sees who has come and their key.
    await first.page.reload()
    await journey.unlockWithPasskey(first.page)
    await openEnvironment(first.page, 'Production')
    await first.page.getByRole('button', { name: 'Grant access' }).click()
    const dialog = dialogOf(first.page)
    await dialog.getByLabel('To').click()
    await first.page.getByRole('option', { name: grace }).click()
    await expect.poll(() => dialog.getByLabel(`Fingerprint of the key of ${grace}`).innerText()).toBe(words)
    await expect.poll(() => dialog.getByRole('button', { name: 'Grant' }).isDisabled()).toBe(true)
    await dialog.getByLabel(`I compared these words with ${grace}`).check()
    await dialog.getByRole('button', { name: 'Grant' }).click()
    await told(first.page, `${grace} can decrypt Production now.`)
  })

  test('opens the value for the second person, who writes another one', async () => {
    await second.page.goto('/')
    await openApp(second.page, 'Web shop')
    await value(second.page, 'DATABASE_URL', 'Production').click()
    await journey.unlockWithPassphrase(second.page)
    await second.page.locator('.matrix-shown', { hasText: hers }).waitFor()
    await addSecret(second.page, 'PARTNER_KEY', theirs, ['Production'])
    await expectRevealed(second.page, 'PARTNER_KEY', theirs)
  })

  test('opens that one for the first person, too', async () => {
    await first.page.getByRole('link', { name: 'Web shop' }).click()
    await first.page.reload()
    await journey.unlockWithPasskey(first.page)
    await expectRevealed(first.page, 'PARTNER_KEY', theirs)
  })
})

describe('what was exchanged', () => {
  const needles = [needle('hers', hers), needle('theirs', theirs), needle('passphrase', journey.person.passphrase)]

  test('is in no table, no line of the log and no request', async () => {
    const tables = await tableDump(world)
    const sent: Place[] = [...first.sent, ...second.sent].map((text) => ({ where: 'a request', text }))
    // The names are no secret, and show that this would find one.
    const name = needle('name', 'PARTNER_KEY')
    expect(findings([name], tables)).toContain('name in table public.secrets')
    expect(findings([name], sent)).toContain('name in a request')
    const log = [{ where: 'the log', text: world.log.join('') }]
    expect(findings(needles, [...tables, ...sent, ...log])).toEqual([])
  })

  test('is kept by neither browser', async () => {
    const kept = [...(await storedText(first)), ...(await storedText(second))]
    expect(
      findings(
        needles,
        kept.map((text) => ({ where: 'storage', text })),
      ),
    ).toEqual([])
  })

  test('was seen without complaint by the console and the Content-Security-Policy', () => {
    expect([first.complaints, second.complaints]).toEqual([[], []])
  })
})
