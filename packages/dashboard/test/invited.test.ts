import { readFile } from 'node:fs/promises'
import { orgs } from '@skerry/contract/orgs/endpoints'
import { describe, expect, test } from 'vitest'
import { findings, needle } from '../../server/test/needles.ts'
import { tokenOf } from '../../server/test/people.ts'
import { addSecret, create, createApp, dialogOf, placeOf, value } from './apps-steps.ts'
import { axeProblems } from './org-steps.ts'
import { countPresses } from './presses.ts'
import { leaks, openOwner, tracesOf } from './scene.ts'
import * as steps from './steps.ts'

// The way of an invited person, from the mail to the first revealed value, and the admin's side of it.

const hana = 'hana@example.com'
const clicksMax = 6

const { world, owner, arrive } = await openOwner()
await createApp(owner.page, 'Web shop')
await create(owner.page, 'New environment', 'Production')
await create(owner.page, 'New environment', 'Development')
await addSecret(owner.page, 'API_KEY', 'planted-api-key', ['Production', 'Development'])
const invited = await arrive()
const { page } = invited
const ownerPresses = await countPresses(owner.page)
const presses = await countPresses(page)
let token: string
let kitCode: string

describe('an invited person', () => {
  test('gets a link that names organization, inviter and role, and opening it joins nothing', async () => {
    token = await tokenOf(world, hana, 'You are invited', async () => {
      await steps.goTo(owner.page, 'Members')
      await owner.page.getByRole('button', { name: 'Invite', exact: true }).click()
      await dialogOf(owner.page).getByLabel('E-mail').fill(hana)
      await dialogOf(owner.page).getByRole('button', { name: 'Invite' }).click()
      await owner.page.getByRole('row', { name: hana }).getByText('sent').waitFor()
    })
    await page.goto(`/sign-in/link#${token}`)
    await page.getByRole('heading', { name: 'Ada invited you to Acme & Co' }).waitFor()
    await page.getByText('You would be a member of Acme & Co').waitFor()
    expect(new URL(page.url()).hash).toBe('')
    expect(await axeProblems(page)).toEqual([])
    const { orgId } = await placeOf(world, owner.bearer(), 'web-shop')
    const { body } = await world.call(orgs.members, { as: owner.bearer(), params: { orgId } })
    expect(body.members).toHaveLength(1)
  })

  test('joins with a name, and makes a keyring', async () => {
    await page.getByLabel('Your name').fill('Hana Sato')
    await page.getByRole('button', { name: 'Join Acme & Co' }).click()
    await page.getByRole('heading', { name: 'Welcome to Acme & Co', level: 1 }).waitFor()
    await page.getByLabel('Passphrase', { exact: true }).fill(steps.person.passphrase)
    await page.getByLabel('Passphrase again').fill(steps.person.passphrase)
    await page.getByRole('button', { name: 'Make the keyring' }).click()
    await page.getByRole('heading', { name: 'Save your recovery kit' }).waitFor()
  })

  test('downloads the recovery kit, which stores it', async () => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download the kit' }).click(),
    ])
    const text = await readFile(await download.path(), 'utf8')
    expect(text).toContain(hana)
    kitCode = /(?:[0-9A-Z]{4}-){6}[0-9A-Z]{4}/.exec(text)?.[0] as string
    expect(kitCode).toBeDefined()
    await page.getByRole('heading', { name: 'You have a recovery kit' }).waitFor()
  })

  test('asks for an environment, and the admin grants it after the words were compared', async () => {
    await page.getByRole('checkbox', { name: 'Production of Web shop' }).check()
    await page.getByLabel('Reason').fill('On call from Monday')
    await page.getByRole('button', { name: 'Ask for 1 environment' }).click()
    await page.getByText('The admins were told.', { exact: false }).first().waitFor()
    const words = await page.getByLabel('Your 12 words').innerText()
    await steps.goTo(owner.page, 'Requests')
    await owner.page.getByRole('button', { name: 'Grant Hana Sato' }).click()
    const dialog = owner.page.getByRole('dialog', { name: 'Give Hana Sato access' })
    await dialog.getByText('On call from Monday').waitFor()
    expect(await dialog.getByLabel('Fingerprint of the key of Hana Sato').innerText()).toBe(words)
    await dialog.getByRole('button', { name: 'They match, grant 1 environment' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await owner.page.getByText('Nobody asks for access').waitFor()
  })

  test('is led to the application by itself, and reveals a value', async () => {
    await page.getByRole('heading', { name: 'Web shop', level: 1 }).waitFor()
    await value(page, 'API_KEY', 'Production').click()
    await page.locator('.matrix-shown', { hasText: 'planted-api-key' }).first().waitFor()
  })

  test(`needed at most ${clicksMax} clicks, and so did the admin`, () => {
    for (const count of [presses(), ownerPresses()]) {
      expect(count).toBeGreaterThan(0)
      expect(count).toBeLessThanOrEqual(clicksMax)
    }
  })
})

describe('a member', () => {
  test('asks for another environment in its column, and reads why an admin declined', async () => {
    await page.getByRole('button', { name: 'Ask for access to Development' }).click()
    await dialogOf(page).getByRole('button', { name: 'Ask for 1 environment' }).click()
    await dialogOf(page).waitFor({ state: 'hidden' })
    await owner.page.getByRole('button', { name: 'Decline Hana Sato' }).click()
    await dialogOf(owner.page).getByLabel('Reason').fill('Use staging')
    await dialogOf(owner.page).getByRole('button', { name: 'Decline' }).click()
    await owner.page.getByText('Nobody asks for access').waitFor()
    await steps.goTo(page, 'Requests')
    await page.getByText('Answered', { exact: true }).click()
    await page.getByText('“Use staging”').waitFor()
    await page.getByText('declined', { exact: true }).waitFor()
    expect(await axeProblems(page)).toEqual([])
  })

  test('opens the keyring with the code of the kit, and chooses a new passphrase', async () => {
    const passphrase = 'planted other words after a lost one 4c'
    await steps.lock(page)
    await page.getByRole('button', { name: 'Unlock the keyring' }).click()
    await dialogOf(page).getByRole('button', { name: 'Use the recovery kit' }).click()
    const submit = dialogOf(page).getByRole('button', { name: 'Unlock and change the passphrase' })
    const fill = async (code: string) => {
      await dialogOf(page).getByLabel('Code of the recovery kit').fill(code)
      await dialogOf(page).getByLabel('Passphrase', { exact: true }).fill(passphrase)
      await dialogOf(page).getByLabel('Passphrase again').fill(passphrase)
      await submit.click()
    }
    await fill(`${kitCode.slice(0, -1)}${kitCode.endsWith('0') ? '1' : '0'}`)
    await dialogOf(page).getByText('This code is mistyped').waitFor()
    await fill(kitCode.toLowerCase().replaceAll('-', ' '))
    await dialogOf(page).waitFor({ state: 'hidden' })
    await steps.lock(page)
    await steps.unlockWithPassphrase(page, passphrase)
    await page.getByRole('button', { name: /\bLock the keyring/ }).waitFor()
  })

  test('replaces and removes the kit', async () => {
    await steps.goTo(page, 'Keyring')
    await page.getByRole('button', { name: 'Replace the kit…' }).click()
    await dialogOf(page)
      .getByLabel(/^Code of the recovery kit/)
      .waitFor()
    expect(await dialogOf(page).innerText()).not.toContain(kitCode)
    await Promise.all([
      page.waitForEvent('download'),
      dialogOf(page).getByRole('button', { name: 'Download the kit' }).click(),
    ])
    await dialogOf(page).waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Remove the kit…' }).click()
    await dialogOf(page).getByRole('button', { name: 'Remove' }).click()
    await page.getByText('You have no kit.').waitFor()
  })
})

test('a used link says when the invitation was accepted', async () => {
  const other = await arrive()
  await other.page.goto(`/sign-in/link#${token}`)
  await other.page.getByText('This invitation was accepted').waitFor()
  expect(await other.page.getByRole('button').count()).toBe(0)
  await other.close()
})

test('an admin sends an invitation again, and the earlier link stops working', async () => {
  await steps.goTo(owner.page, 'Members')
  const first = await tokenOf(world, 'ben@example.com', 'You are invited', async () => {
    await owner.page.getByRole('button', { name: 'Invite', exact: true }).click()
    await dialogOf(owner.page).getByLabel('E-mail').fill('ben@example.com')
    await dialogOf(owner.page).getByRole('button', { name: 'Invite' }).click()
  })
  const second = await tokenOf(world, 'ben@example.com', 'You are invited', () =>
    owner.page.getByRole('button', { name: 'Send again to ben@example.com' }).click(),
  )
  const other = await arrive()
  await other.page.goto(`/sign-in/link#${second}`)
  await other.page.getByRole('button', { name: 'Join Acme & Co' }).waitFor()
  await other.page.goto('about:blank')
  await other.page.goto(`/sign-in/link#${first}`)
  await other.page.getByRole('button', { name: 'Sign in' }).click()
  await other.page.getByText('This link has expired or was already used').waitFor()
  await other.close()
})

test('no page sent or stored a secret value, a passphrase or the code of the kit', async () => {
  const visitors = { owner, invited }
  expect(await leaks(world, visitors)).toEqual([])
  expect(findings([needle('the code of the kit', kitCode)], await tracesOf(world, visitors))).toEqual([])
})

test('the pages caused no console warnings and no Content-Security-Policy violations', () => {
  expect([owner.complaints, invited.complaints]).toEqual([[], []])
})
