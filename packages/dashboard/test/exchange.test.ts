import { apps } from '@skerry/contract/apps/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { findings, needle, type Place } from '../../server/test/needles.ts'
import { tableDump } from '../../server/test/state.ts'
import { addSecret, create, createApp, dialogOf, openApp, openEnvironment, openOrg, value } from './apps-steps.ts'
import { storedText, told } from './browser.ts'
import { invite } from './org-steps.ts'
import { openScene } from './scene.ts'
import * as steps from './steps.ts'

// Two people at two browsers share secrets through a server that cannot read them.

const grace = 'grace@example.com'
const hers = 'planted-postgres-4be1c09a'
const theirs = 'planted-partner-key-d27f6610'

const { world, arrive } = await openScene()
const first = await arrive()
const second = await arrive()

async function expectRevealed(page: Page, name: string, text: string): Promise<void> {
  await value(page, name, 'Production').click()
  await page.locator('.matrix-shown', { hasText: text }).waitFor()
}

describe('the first person', () => {
  test('sets up the server, creates a keyring, and adds a passkey and an authenticator app', async () => {
    await steps.setUp(first.page, world)
    await steps.makeKeyring(first.page)
    await steps.addPasskey(first.page, 'Laptop')
    await steps.setUpAuthenticator(first.page, world)
    await first.page.getByRole('button', { name: 'I have kept them' }).click()
  })

  test('invites the second person', async () => {
    await openOrg(first.page)
    await invite(first.page, grace)
  })

  test('stores a secret in an environment that she created', async () => {
    await createApp(first.page, 'Web shop')
    await create(first.page, 'New environment', 'Production')
    await addSecret(first.page, 'DATABASE_URL', hers, ['Production'])
    await value(first.page, 'DATABASE_URL', 'Production').waitFor()
  })
})

describe('the second person', () => {
  test('signs in with a link from an e-mail, and joins the organization as a member', async () => {
    await second.page.goto('/')
    await steps.signInByMail(second.page, world, grace)
    await steps.acceptInvitation(second.page)
  })

  test('creates a keyring, and gets no ciphertext yet', async () => {
    await second.page.goto('/account/keyring')
    await steps.makeKeyring(second.page)
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
  test('is granted after a comparison of the words, which both people see', async () => {
    await second.page.goto('/account/keyring')
    const words = await second.page
      .locator('.mono', { hasText: /^([a-z]+ ){11}[a-z]+$/ })
      .first()
      .innerText()
    // After a reload, the first person sees the new member and their key.
    await first.page.reload()
    await steps.unlockWithPasskey(first.page)
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

  test('lets the second person read the value and write another one', async () => {
    await second.page.goto('/')
    await openApp(second.page, 'Web shop')
    await value(second.page, 'DATABASE_URL', 'Production').click()
    await steps.unlockWithPassphrase(second.page)
    await second.page.locator('.matrix-shown', { hasText: hers }).waitFor()
    await addSecret(second.page, 'PARTNER_KEY', theirs, ['Production'])
    await expectRevealed(second.page, 'PARTNER_KEY', theirs)
  })

  test('lets the first person read the second person’s value', async () => {
    await first.page.getByRole('link', { name: 'Web shop' }).click()
    await first.page.reload()
    await steps.unlockWithPasskey(first.page)
    await expectRevealed(first.page, 'PARTNER_KEY', theirs)
  })
})

describe('the shared values', () => {
  const needles = [needle('hers', hers), needle('theirs', theirs), needle('passphrase', steps.person.passphrase)]

  test('are in no table, no log line and no request', async () => {
    const tables = await tableDump(world)
    const sent: Place[] = [...first.sent, ...second.sent].map((text) => ({ where: 'a request', text }))
    // The names are not secret. Finding them shows that this search works.
    const name = needle('name', 'PARTNER_KEY')
    expect(findings([name], tables)).toContain('name in table public.secrets')
    expect(findings([name], sent)).toContain('name in a request')
    const log = [{ where: 'the log', text: world.log.join('') }]
    expect(findings(needles, [...tables, ...sent, ...log])).toEqual([])
  })

  test('are stored by neither browser', async () => {
    const kept = [...(await storedText(first)), ...(await storedText(second))]
    expect(
      findings(
        needles,
        kept.map((text) => ({ where: 'storage', text })),
      ),
    ).toEqual([])
  })

  test('caused no console warnings and no Content-Security-Policy violations', () => {
    expect([first.complaints, second.complaints]).toEqual([[], []])
  })
})
