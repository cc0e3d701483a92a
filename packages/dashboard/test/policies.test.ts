import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { openOrg } from './apps-steps.ts'
import { axeProblems, choose, invite } from './org-steps.ts'
import { openScene } from './scene.ts'
import * as steps from './steps.ts'

// The second-factor policy of an organization, and its roles, seen by an owner and a member.

const grace = 'grace@example.com'
const { person } = steps

const { world, arrive } = await openScene()
const first = await arrive()
const second = await arrive()
await steps.setUp(first.page, world)
await openOrg(first.page)
await invite(first.page, grace)
await second.page.goto('/')
await steps.signInByMail(second.page, world, grace)
await steps.acceptInvitation(second.page)

/** Sets up a second factor, starting from the dialog that asks for one. */
async function setOneUp(page: Page): Promise<void> {
  await asking(page).getByRole('button', { name: 'Set one up' }).click()
  await page.waitForURL('**/account/signing-in')
  await steps.setUpAuthenticator(page, world)
  await page.getByRole('button', { name: 'I have kept them' }).click()
  await openOrg(page)
}

const asking = (page: Page) => page.getByRole('dialog', { name: 'Confirm that it is you' })
const dialog = (page: Page) => page.getByRole('dialog')
// Case-sensitive, because the words of a key may include `adapt`.
const row = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(name) })

describe('the policy that every member needs a second factor', () => {
  const policy = () => first.page.getByLabel('Every member needs a second factor')

  test('can be enabled only by an admin who has a second factor, so that nobody locks themselves out', async () => {
    await steps.goTo(first.page, 'Settings')
    await steps.openTab(first.page, 'Security')
    await policy().click()
    await setOneUp(first.page)
    await steps.goTo(first.page, 'Settings')
    await steps.openTab(first.page, 'Security')
    await expect.poll(() => policy().isChecked()).toBe(false)
    await policy().click()
    await expect.poll(() => policy().isChecked()).toBe(true)
  })

  const pages = ['Applications', 'Groups', 'Changes', 'Members']
  test.each(pages)('is explained on the page %s to a member without a second factor', async (label) => {
    await steps.goTo(second.page, label)
    // A reload makes the page load its data again.
    await second.page.reload()
    await asking(second.page).getByText('you have none yet').waitFor()
    expect(await axeProblems(second.page)).toEqual([])
    await second.page.keyboard.press('Escape')
    await second.page.getByRole('alert').getByText('This was not confirmed').first().waitFor()
    await second.page.getByRole('button', { name: 'Try again' }).first().click()
    await asking(second.page).getByRole('button', { name: 'Not now' }).click()
    await asking(second.page).waitFor({ state: 'hidden' })
  })

  test('lets a member in after they set up a second factor, which the page leads to', async () => {
    await second.page.getByRole('button', { name: 'Try again' }).first().click()
    await setOneUp(second.page)
    await steps.goTo(second.page, 'Members')
    await row(second.page, grace).waitFor()
    await expect.poll(() => asking(second.page).isVisible()).toBe(false)
  })

  test('can be disabled, and then lets in a member without a second factor', async () => {
    await policy().click()
    await expect.poll(() => policy().isChecked()).toBe(false)
    await steps.goTo(second.page, 'Signing in')
    await second.page.getByRole('button', { name: 'Remove', exact: true }).click()
    await dialog(second.page).getByRole('button', { name: 'Remove' }).click()
    await second.page.getByText('off', { exact: true }).waitFor()
    await openOrg(second.page)
    await second.page.reload()
    await second.page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor()
  })
})

describe('a role', () => {
  async function change(page: Page, of: string, role: string): Promise<void> {
    await choose(page, of, 'Change the role…')
    await dialog(page).getByLabel(role, { exact: true }).check()
    await dialog(page).getByRole('button', { name: 'Change the role' }).click()
  }
  const rowHas = (page: Page, name: string, role: string) =>
    row(page, name).getByRole('cell', { name: role, exact: true }).waitFor()

  test('of a member offers neither invitations nor role changes', async () => {
    await steps.goTo(second.page, 'Members')
    await rowHas(second.page, person.email, 'owner')
    await expect.poll(() => second.page.getByRole('button', { name: 'Invite', exact: true }).count()).toBe(0)
    await second.page.getByRole('button', { name: `Actions for ${person.name}` }).click()
    await second.page.getByRole('menuitem', { name: 'Compare the key…' }).waitFor()
    await expect.poll(() => second.page.getByRole('menuitem').count()).toBe(1)
    await second.page.keyboard.press('Escape')
  })

  test('of an admin can be given by an owner, and allows invitations', async () => {
    await steps.goTo(first.page, 'Members')
    await change(first.page, grace, 'admin')
    await rowHas(first.page, grace, 'admin')
    await second.page.reload()
    await invite(second.page, 'ben@example.com')
  })

  test('of an owner cannot be given or taken away by an admin', async () => {
    await choose(second.page, grace, 'Change the role…')
    await expect.poll(() => dialog(second.page).getByLabel('owner', { exact: true }).isDisabled()).toBe(true)
    await dialog(second.page).getByRole('button', { name: 'Cancel' }).click()
    await second.page.getByRole('button', { name: `Actions for ${person.name}` }).click()
    await second.page.getByRole('menuitem', { name: 'Compare the key…' }).waitFor()
    await expect
      .poll(() => second.page.getByRole('menuitem').allTextContents())
      .toEqual(['Compare the key…', 'Grant access…'])
    await second.page.keyboard.press('Escape')
  })

  test('of the last owner cannot be changed, and the dialog says so', async () => {
    await change(first.page, person.name, 'member')
    await dialog(first.page).getByRole('alert').getByText('This is the last owner').waitFor()
    await dialog(first.page).getByRole('button', { name: 'Cancel' }).click()
  })

  test('of an owner can be given up after there is another owner, and the admin pages then close', async () => {
    await change(first.page, grace, 'owner')
    await rowHas(first.page, grace, 'owner')
    await change(first.page, person.name, 'member')
    await rowHas(first.page, person.email, 'member')
    await expect.poll(() => first.page.getByRole('button', { name: 'Invite', exact: true }).count()).toBe(0)
    await first.page.goto('/orgs/acme-co/settings')
    await first.page.getByText('This is for owners and admins').waitFor()
  })
})

describe('a member who is removed', () => {
  test('is removed after an owner types their address', async () => {
    await second.page.reload()
    await choose(second.page, person.name, 'Remove…')
    await dialog(second.page).getByLabel(`Type ${person.email}`).fill(person.email)
    await dialog(second.page).getByRole('button', { name: 'Remove' }).click()
    await row(second.page, person.email).waitFor({ state: 'detached' })
  })

  test('sees that the organization is gone for them, and can start again', async () => {
    await first.page.reload()
    await first.page.getByText('There is no such page').waitFor()
    await first.page.getByRole('link', { name: 'Go to the start' }).click()
    await first.page.getByText('You are in no organization yet').waitFor()
  })
})

test('the page caused no console warnings and no Content-Security-Policy violations', () => {
  expect([first.complaints, second.complaints]).toEqual([[], []])
})
