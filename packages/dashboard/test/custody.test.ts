import { createPublicKey } from 'node:crypto'
import { envs } from '@skerry/contract/envs/endpoints'
import { kms } from '@skerry/contract/kms/endpoints'
import { recovery } from '@skerry/contract/recovery/endpoints'
import { describe, expect, test } from 'vitest'
import { insertPromo } from '../../server/src/features/billing/promo-store.ts'
import { readArchive } from '../../server/test/archives.ts'
import { dialogOf } from './apps-steps.ts'
import { choose as pick } from './changes-steps.ts'
import { chooseCustodians, closed, giveShare, press, pressIn, wordsIn } from './custody-steps.ts'
import { axeProblems, choose, newPlace, putSecret } from './org-steps.ts'
import { join, leaks, openOwner } from './scene.ts'
import * as steps from './steps.ts'

// Managed keys, the recovery key, the plan of the organization, and its export.

const walk = await openOwner()
const { world, owner } = walk
const place = await newPlace(world, owner.bearer())
await putSecret(world, owner.bearer(), place, 'API_KEY', 'planted-api-key')
const grace = await join(walk, 'grace@example.com')
const linus = await join(walk, 'linus@example.com')
const params = { orgId: place.orgId }

const busy = { error: { code: 'rate_limited', message: 'another export is under way' } }

describe('managed keys', () => {
  const { page } = owner

  test('are created in the browser, and only their creator holds them at first', async () => {
    await steps.goTo(page, 'Managed keys')
    await page.getByText('No managed key yet').waitFor()
    await press(owner, 'New managed key')
    await dialogOf(page).getByLabel('Name', { exact: true }).fill('receipts')
    await pressIn(owner, 'Create')
    await closed(owner)
    await page.getByRole('link', { name: 'receipts' }).click()
    await page.getByRole('heading', { name: 'receipts', level: 1 }).waitFor()
    await page.getByRole('row', { name: /Ada/ }).getByText('1', { exact: true }).waitFor()
    expect(await axeProblems(page)).toEqual([])
  })

  test('can be granted only after the words were compared, and rotated for everyone who keeps them', async () => {
    await press(owner, 'Grant…')
    await pick(page, 'To', 'grace@example.com')
    const grant = dialogOf(page).getByRole('button', { name: 'Grant', exact: true })
    await dialogOf(page)
      .getByLabel(/I compared these words/)
      .waitFor()
    expect(await grant.isDisabled()).toBe(true)
    await dialogOf(page)
      .getByLabel(/I compared these words/)
      .check()
    await grant.click()
    await closed(owner)
    await press(owner, 'Rotate…')
    await dialogOf(page)
      .getByLabel(/grace@example.com/)
      .waitFor()
    await pressIn(owner, 'Rotate')
    await closed(owner)
    await page
      .getByRole('row', { name: /grace@example.com/ })
      .getByText('1, 2', { exact: true })
      .waitFor()
  })

  test('are marked while disabled, and can be enabled again', async () => {
    await press(owner, 'Disable…')
    await pressIn(owner, 'Disable')
    await page.getByText('This key is disabled').waitFor()
    await press(owner, 'Enable')
    await page.getByText('This key is disabled').waitFor({ state: 'detached' })
  })

  test('show the public key of a signing key as JWK and as PEM, and both are the same key', async () => {
    await steps.goTo(page, 'Managed keys')
    await press(owner, 'New managed key')
    await dialogOf(page).getByLabel('Name', { exact: true }).fill('releases')
    await pick(page, 'What it does', 'ECDSA P-256, SHA-256: signs')
    await pressIn(owner, 'Create')
    await closed(owner)
    await page.getByRole('link', { name: 'releases' }).click()
    await page.getByRole('heading', { name: 'releases', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Show details' }).click()
    const pem = await wordsIn(owner, 'Public key as PEM')
    const { keys } = (await world.call(kms.list, { as: owner.bearer(), params })).body
    const kmsKeyId = keys.find(({ name }) => name === 'releases')?.id as string
    const shown = await world.call(kms.public, { as: owner.bearer(), params: { ...params, kmsKeyId } })
    const jwk = JSON.parse(shown.body.keys[0]?.publicKeyJwk as string)
    expect(createPublicKey(pem).export({ format: 'jwk' })).toMatchObject({ x: jwk.x, y: jwk.y })
    expect(JSON.parse(await wordsIn(owner, 'Public key as JWK'))).toMatchObject({ x: jwk.x, y: jwk.y })
  })
})

describe('recovery', () => {
  const coverage = async () => (await world.call(recovery.get, { as: owner.bearer(), params })).body.coverage

  test('can be set up after the words of each custodian were compared', async () => {
    const { page } = owner
    await steps.goTo(page, 'Recovery')
    await press(owner, 'Set it up')
    const dialog = dialogOf(page)
    await chooseCustodians(owner, ['Ada', 'linus@example.com'])
    const make = dialog.getByRole('button', { name: 'Make the recovery key' })
    await dialog.getByLabel(/I compared these words with linus/).waitFor()
    expect(await make.isDisabled()).toBe(true)
    await dialog.getByLabel(/I compared these words with linus/).check()
    await make.click()
    await closed(owner)
    await page.getByText('1 of 1 environments can be recovered.').waitFor()
    expect(await axeProblems(page)).toEqual([])
    expect(await coverage()).toMatchObject({ protected: 1, total: 1 })
  })

  test('guides a member who forgot the passphrase from a new key pair to access again', async () => {
    const { page } = grace
    await steps.goTo(page, 'Recovery')
    await page.getByRole('link', { name: 'What to do, step by step' }).click()
    await page.getByRole('link', { name: 'your keyring' }).click()
    await press(grace, 'Replace the key pair…')
    const dialog = dialogOf(page)
    await dialog.getByLabel('Passphrase', { exact: true }).fill(steps.person.passphrase)
    await dialog.getByLabel('Passphrase again').fill(steps.person.passphrase)
    await pressIn(grace, 'Replace the key pair')
    await closed(grace)
    await page.goBack()
    await press(grace, 'I have a new key pair')
    const words = await wordsIn(grace, 'Fingerprint of your key')
    expect(words.split(' ')).toHaveLength(12)

    await press(owner, 'Recover for someone…')
    await pick(owner.page, 'Member', 'grace@example.com')
    await pressIn(owner, 'Ask the custodians')
    await closed(owner)
    await page.getByText('0 of 2 shares have been given.').waitFor()

    await steps.goTo(linus.page, 'Recovery')
    for (const custodian of [owner, linus]) await giveShare(custodian, 'grace@example.com', words)
    await press(grace, 'Read again')
    await page.getByText('You can read again').waitFor()
    await page.getByText('Web shop / Production').waitFor()
    const { body } = await world.call(envs.grantees, {
      as: owner.bearer(),
      params: { ...params, envId: place.envId },
    })
    expect(body.grantees).toHaveLength(2)
    expect(await axeProblems(page)).toEqual([])
  })

  test('lets the member read the recovered secret', async () => {
    const { page } = grace
    await steps.goTo(page, 'Applications')
    await page.getByRole('link', { name: 'Web shop' }).click()
    await page
      .getByRole('button', { name: /Reveal API_KEY/ })
      .first()
      .click()
    await page.getByText('planted-api-key').first().waitFor()
  })

  test('loses a custodian only after the dialog has said how many shares remain', async () => {
    const { page } = owner
    await steps.goTo(page, 'Members')
    await choose(page, 'linus@example.com', 'Remove…')
    await dialogOf(page).getByText('Without this custodian, recovery is not possible').waitFor()
    await dialogOf(page).getByText('1 share of the recovery key remains, but 2 are needed').waitFor()
    await dialogOf(page).getByRole('link', { name: 'Rotate the recovery key' }).waitFor()
    expect(await axeProblems(page)).toEqual([])
    await pressIn(owner, 'Cancel')
    await closed(owner)
    await steps.goTo(page, 'Recovery')
  })

  test('can be tested with a drill, which grants nothing', async () => {
    const { page } = owner
    await press(owner, 'Begin a drill…')
    await pressIn(owner, 'Ask the custodians')
    await closed(owner)
    await steps.goTo(linus.page, 'Applications')
    await steps.goTo(linus.page, 'Recovery')
    for (const custodian of [owner, linus]) {
      await choose(custodian.page, 'A drill', 'Give my share…')
      const compared = dialogOf(custodian.page).getByLabel(/I compared these words/)
      if (custodian === linus) await compared.check()
      await pressIn(custodian, 'Give my share')
      await closed(custodian)
    }
    await choose(page, 'A drill', 'Complete…')
    await pressIn(owner, 'Complete it')
    await closed(owner)
    await page.getByText('The last drill passed').waitFor()
  })

  test('covers a new environment at once', async () => {
    const { page } = owner
    await steps.goTo(page, 'Applications')
    await page.getByRole('link', { name: 'Web shop' }).click()
    // The secrets move the button when they appear.
    await page.getByRole('row', { name: /API_KEY/ }).waitFor()
    await press(owner, 'New environment')
    await dialogOf(page).getByLabel('Name', { exact: true }).fill('Staging')
    await pressIn(owner, 'Create')
    await closed(owner)
    await expect.poll(coverage).toMatchObject({ protected: 2, total: 2 })
  })
})

describe('plan and usage', () => {
  test('are visible to all members, and a promo code raises the plan', async () => {
    const { page } = owner
    const code = {
      code: 'SPRING-1',
      family: 'platform',
      plan: 'team',
      days: 30,
      usesMax: null,
      expiresAt: null,
    } as const
    await insertPromo(world.server.context.db, code, world.clock.now().toISOString())
    await steps.goTo(page, 'Plan and usage')
    await page.getByText('This server enforces no limits').waitFor()
    await page.getByRole('row', { name: /Members 3 5/ }).waitFor()
    await press(owner, 'Redeem a code…')
    await dialogOf(page).getByLabel('Code').fill('spring-1')
    await pressIn(owner, 'Redeem')
    await closed(owner)
    await page.getByText('With the code SPRING-1').waitFor()
    await page.getByRole('row', { name: /Members 3 50/ }).waitFor()
    expect(await axeProblems(page)).toEqual([])
    await steps.goTo(linus.page, 'Plan and usage')
    await linus.page.getByText('With the code SPRING-1').waitFor()
    expect(await linus.page.getByRole('button', { name: 'Redeem a code…' }).count()).toBe(0)
  })

  test('return to the free plan as soon as the plan is cancelled', async () => {
    const { page } = owner
    await press(owner, 'Cancel the plan…')
    await dialogOf(page).getByRole('textbox').fill(steps.person.slug)
    await pressIn(owner, 'Cancel the plan')
    await closed(owner)
    await page.getByRole('row', { name: /Members 3 5/ }).waitFor()
  })
})

describe('an export', () => {
  /**
   * Replaces the browser's file dialog, which no program can answer. The file is in this site's private file system and
   * is written in the same way.
   */
  const chooseFile = (name: string) =>
    owner.page.evaluate((chosen) => {
      const showSaveFilePicker = async () =>
        (await navigator.storage.getDirectory()).getFileHandle(chosen, { create: true })
      Object.assign(window, { showSaveFilePicker })
    }, name)
  const bytesOf = async (name: string) => {
    const text = await owner.page.evaluate(
      async (chosen) => (await (await (await navigator.storage.getDirectory()).getFileHandle(chosen)).getFile()).text(),
      name,
    )
    return Buffer.from(text)
  }

  test('is written to a file as it arrives, and verifies with the key that the page shows', async () => {
    const { page } = owner
    await steps.goTo(page, 'Settings')
    await page.getByRole('link', { name: 'Export', exact: true }).click()
    await chooseFile('of acme.json')
    await press(owner, 'Save an archive…')
    await page.getByText('of acme.json is written').waitFor()
    const command = await page.getByText(/skerry org export verify 'of acme.json' --key /).innerText()
    const key = command.slice(command.indexOf('--key ') + 6)
    const { manifest, data } = await readArchive(await bytesOf('of acme.json'), key)
    expect(manifest).toMatchObject({ organization: { id: place.orgId }, requestedBy: { type: 'user' } })
    expect(data.secrets).toHaveLength(1)
    expect(await axeProblems(page)).toEqual([])
  })

  test('leaves the file unchanged if the server refuses, and says why', async () => {
    const { page } = owner
    const before = await bytesOf('of acme.json')
    await page.route('**/export', (route) =>
      route.fulfill({ status: 429, json: busy, headers: { 'retry-after': '30' } }),
    )
    await press(owner, 'Save an archive…')
    await page.getByText(busy.error.message).waitFor()
    await page.unroute('**/export')
    expect((await bytesOf('of acme.json')).equals(before)).toBe(true)
  })

  test('is available to owners and admins only', async () => {
    await linus.page.goto(`/orgs/${steps.person.slug}/settings/export`)
    await linus.page.getByText('This is for owners and admins').waitFor()
  })
})

test('the pages neither sent nor stored a secret value, a passphrase or a share', async () => {
  expect(await leaks(world, { owner, grace, linus })).toEqual([])
})

test('the page caused no console warnings and no Content-Security-Policy violations', () => {
  expect([owner, grace, linus].flatMap(({ complaints }) => complaints)).toEqual([])
})
