import { readFile } from 'node:fs/promises'
import { invites } from '@skerry/contract/members/endpoints'
import { orgs } from '@skerry/contract/orgs/endpoints'
import { describe, expect, test } from 'vitest'
import { findings, needle } from '../../server/test/needles.ts'
import { tokenOf } from '../../server/test/people.ts'
import { addSecret, create, createApp, dialogOf, openApp, placeOf, value } from './apps-steps.ts'
import { axeProblems, newTeam } from './org-steps.ts'
import { countPresses } from './presses.ts'
import { leaks, openOwner, tracesOf } from './scene.ts'
import * as steps from './steps.ts'

// The way of an invited person, from the mail to the first revealed value, and the admin's side of it.

const hana = 'hana@example.com'

/** The presses that the invited person and the admin may need. */
const pressesMax = { invited: 5, admin: 6 }

const { world, owner, arrive } = await openOwner()
const admin = owner.page
for (const name of ['Web shop', 'Billing']) {
  await createApp(admin, name)
  for (const environment of ['Production', 'Staging', 'Development'])
    await create(admin, 'New environment', environment)
}
await openApp(admin, 'Web shop')
await addSecret(admin, 'API_KEY', 'planted-api-key', ['Production', 'Development'])
const { orgId } = await placeOf(world, owner.bearer(), 'web-shop')
await newTeam(world, owner.bearer(), 'Storefront', ['web-shop', 'billing'])
const invited = await arrive()
const { page } = invited
const adminPresses = await countPresses(admin)
const presses = await countPresses(page)
let token: string
let kitCode: string

async function openInvite() {
  await steps.goTo(admin, 'Members')
  await admin.getByRole('button', { name: 'Invite', exact: true }).click()
  return dialogOf(admin)
}

describe('an invited person', () => {
  test('gets a link that names organization, inviter and role, and opening it joins nothing', async () => {
    token = await tokenOf(world, hana, 'You are invited', async () => {
      const dialog = await openInvite()
      await dialog.getByText('This server sends no mail.').waitFor()
      await dialog.getByLabel('E-mail').fill(hana)
      await dialog.getByLabel('Storefront, 6 environments').check()
      await dialog.getByRole('button', { name: 'Send' }).click()
      await admin.getByRole('row', { name: hana }).getByText('Storefront').waitFor()
    })
    await page.goto(`/sign-in/link#${token}`)
    await page.getByRole('heading', { name: 'Ada invited you to Acme & Co' }).waitFor()
    await page.getByText('You would be a member of Acme & Co').waitFor()
    expect(await page.getByText('Join with the joining code instead').count()).toBe(0)
    expect(new URL(page.url()).hash).toBe('')
    expect(await axeProblems(page)).toEqual([])
    const { body } = await world.call(orgs.members, { as: owner.bearer(), params: { orgId } })
    expect(body.members).toHaveLength(1)
  })

  test('joins with a name, and reads at once what opens later', async () => {
    await page.getByLabel('Your name').fill('Hana Sato')
    await page.getByRole('button', { name: 'Join Acme & Co' }).click()
    await page.getByRole('heading', { name: 'Welcome to Acme & Co', level: 1 }).waitFor()
    const later = page.getByRole('region', { name: 'What opens later' })
    await later.getByText('Web shop').waitFor()
    await later.getByText('Through Storefront.').waitFor()
    await later.getByText('Ada will see when your keyring is ready.').waitFor()
    expect(await page.getByText(/^Unlock/).count()).toBe(0)
    await page.getByRole('link', { name: 'Make your keyring' }).waitFor()
  })

  test('makes a keyring, and downloads the recovery kit, which stores it', async () => {
    await page.getByLabel('Passphrase', { exact: true }).fill(steps.person.passphrase)
    await page.getByLabel('Passphrase again').fill(steps.person.passphrase)
    await page.getByRole('button', { name: 'Make the keyring' }).click()
    await page.getByRole('heading', { name: 'Save your recovery kit' }).waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download the kit' }).click(),
    ])
    const text = await readFile(await download.path(), 'utf8')
    expect(text).toContain(hana)
    kitCode = /(?:[0-9A-Z]{4}-){6}[0-9A-Z]{4}/.exec(text)?.[0] as string
    expect(kitCode).toBeDefined()
    await page.getByRole('heading', { name: 'You have a recovery kit' }).waitFor()
    expect(await axeProblems(page)).toEqual([])
  })

  test('is ready for the admin, who compares the words and passes on six keys with one press', async () => {
    const words = await page.getByLabel('Your 12 words').innerText()
    await admin.getByRole('img', { name: '1 waiting for keys that you hold' }).waitFor()
    await admin.getByText('Hana Sato is ready.').waitFor()
    await admin.getByRole('alert').getByRole('button', { name: 'Compare words' }).click()
    const dialog = admin.getByRole('dialog', { name: 'Keys for Hana Sato' })
    expect(await dialog.getByLabel('Fingerprint of the key of Hana Sato').innerText()).toBe(words)
    expect(await axeProblems(admin)).toEqual([])
    await dialog.getByRole('button', { name: 'They match, pass on 6 keys' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await admin.getByText('Hana Sato can read 6 environments now.').waitFor()
    await admin.getByRole('row', { name: hana }).getByText('key compared', { exact: true }).waitFor()
    await admin.getByRole('img', { name: 'waiting for keys that you hold' }).waitFor({ state: 'detached' })
  })

  test('is led to an application by itself, and reveals a value', async () => {
    await page.getByRole('heading', { name: /^(Billing|Web shop)$/, level: 1 }).waitFor()
    await page.getByText('Ada granted you 6 environments.').waitFor()
    await page.keyboard.press('Control+k')
    await page.getByLabel('Find or do').fill('web shop')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Web shop', level: 1 }).waitFor()
    await value(page, 'API_KEY', 'Production').click()
    await page.locator('.matrix-shown', { hasText: 'planted-api-key' }).first().waitFor()
  })

  test(`needed at most ${pressesMax.invited} presses, and the admin ${pressesMax.admin}`, () => {
    expect(presses()).toBeGreaterThan(0)
    expect(presses()).toBeLessThanOrEqual(pressesMax.invited)
    expect(adminPresses()).toBe(pressesMax.admin)
  })
})

describe('a member', () => {
  test('asks for another environment in its column, and reads why an admin declined', async () => {
    await openApp(admin, 'Web shop')
    await create(admin, 'New environment', 'Quality')
    await steps.goTo(admin, 'Requests')
    await page.getByRole('button', { name: 'Ask for access to Quality' }).click()
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

test('a link of an invitation with a joining code says how to join with the code', async () => {
  const email = 'coded@example.com'
  const coded = await tokenOf(world, email, 'You are invited', () =>
    world.call(invites.create, {
      as: owner.bearer(),
      params: { orgId },
      body: { email, joining: 'ji1.abc.def' },
    }),
  )
  const { page: other } = await arrive()
  await other.goto(`/sign-in/link#${coded}`)
  await other.getByText('Join with the joining code instead').waitFor()
  await other.getByText('skerry invite accept --code').waitFor()
  expect(await axeProblems(other)).toEqual([])
})

test('a used link says when the invitation was accepted', async () => {
  const other = await arrive()
  await other.page.goto(`/sign-in/link#${token}`)
  await other.page.getByText('This invitation was accepted').waitFor()
  expect(await other.page.getByRole('button').count()).toBe(0)
  await other.close()
})

test('an admin sends an invitation again, and the earlier link stops working', async () => {
  const first = await tokenOf(world, 'ben@example.com', 'You are invited', async () => {
    const dialog = await openInvite()
    await dialog.getByLabel('E-mail').fill('ben@example.com')
    await dialog.getByRole('button', { name: 'Send' }).click()
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
