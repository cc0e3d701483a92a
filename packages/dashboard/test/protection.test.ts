import { invites } from '@skerry/contract/members/endpoints'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import {
  acceptReaders,
  create,
  dialogOf,
  edit,
  expectShown,
  openApp,
  openEnvironment,
  save,
  value,
} from './apps-steps.ts'
import { told } from './browser.ts'
import { choose, lookAgain, openChange, protect, queued, row, withdraw } from './changes-steps.ts'
import { axeProblems, joinsWithKey, putSecret } from './org-steps.ts'
import { grantTo, leaks, openPair } from './scene.ts'
import * as steps from './steps.ts'

// The effects of the protection settings, also on changes that wait while the settings change.

const planted = {
  first: 'planted-first-22c9d0',
  own: 'planted-own-8be7f1',
  ownAgain: 'planted-own-again-6a03c5',
  waiting: 'planted-waiting-f19e44',
  direct: 'planted-direct-0c7d38',
  branch: 'planted-branch-b52a90',
  group: 'planted-group-e8641f',
}

const walk = await openPair()
const { world, owner, member, place } = walk
await grantTo(walk, place, member)
for (const name of ['API_KEY', 'MAIL_KEY', 'OTHER']) await putSecret(world, owner.bearer(), place, name, planted.first)
await openApp(owner.page, 'Web shop')
await openEnvironment(owner.page, 'Production')

async function propose(page: Page, name: string, environment: string, text: string): Promise<void> {
  await edit(page, name, environment, text)
  await page.getByRole('button', { name: 'Propose' }).click()
  await queued(page, new RegExp(name)).waitFor()
}

const approve = (page: Page) => page.getByRole('button', { name: 'Approve' })

describe('the proposer’s own approval', () => {
  test('does not count by default, and the page says why', async () => {
    const { page } = owner
    await protect(page, {})
    await openApp(page, 'Web shop')
    await propose(page, 'API_KEY', 'Production', planted.own)
    await openChange(page, 'Change API_KEY')
    await page.getByText('You proposed this, so someone else must approve it.').waitFor()
    await expect.poll(() => approve(page).isDisabled()).toBe(true)
  })

  test('counts for changes proposed after the setting is enabled, not for earlier ones', async () => {
    const { page } = owner
    await openApp(page, 'Web shop')
    await openEnvironment(page, 'Production')
    await protect(page, { ownCounts: true })
    await page.getByText('Needs one approval. Admins may approve their own changes. One change waits.').waitFor()
    await openChange(page, 'Change API_KEY')
    await page.getByText('You proposed this, so someone else must approve it.').waitFor()
    await expect.poll(() => approve(page).isDisabled()).toBe(true)
    await withdraw(page)
    await page.getByText('withdrawn', { exact: true }).waitFor()
    await openApp(page, 'Web shop')
    await propose(page, 'API_KEY', 'Production', planted.ownAgain)
    await openChange(page, 'Change API_KEY')
    await approve(page).click()
    await page.getByText('applied', { exact: true }).waitFor()
    await openApp(page, 'Web shop')
    await expectShown(page, 'API_KEY', 'Production', planted.ownAgain)
  })

  test('is not enough if two approvals are needed, and the dialog refuses settings that nobody could meet', async () => {
    const { page } = owner
    await openEnvironment(page, 'Production', 'Protection')
    await page.getByRole('button', { name: 'Change' }).click()
    await dialogOf(page).getByLabel('Approvals that a change needs').fill('2')
    await dialogOf(page).getByText('Nobody could approve a change').waitFor()
    await dialogOf(page).getByText('This organization has one admin. Make another member an admin').waitFor()
    await expect.poll(() => dialogOf(page).getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
    expect(await axeProblems(page)).toEqual([])
    await dialogOf(page).getByLabel('Approvals that a change needs').fill('1')
    await dialogOf(page).getByLabel('Admins may approve their own changes').uncheck()
    await dialogOf(page).getByText('Nobody could approve a change that an admin proposes').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Cancel' }).click()
    await dialogOf(page).waitFor({ state: 'hidden' })
  })

  test('is one of two needed approvals, if there is another admin', async () => {
    const { page } = owner
    const params = { orgId: place.orgId }
    const body = { email: 'linus@example.com', role: 'admin' } as const
    await world.call(invites.create, { as: owner.bearer(), params, body })
    await joinsWithKey(world, 'linus@example.com')
    await protect(page, { approvals: 2 })
    await page.getByText('Needs 2 approvals. Admins may approve their own changes. No change waits.').waitFor()
    await openApp(page, 'Web shop')
    await propose(page, 'OTHER', 'Production', planted.own)
    await openChange(page, 'Change OTHER')
    await approve(page).click()
    await page.getByText('1 of 2 needed approvals.').waitFor()
    await page.getByText('open', { exact: true }).waitFor()
    await withdraw(page)
    await page.getByText('withdrawn', { exact: true }).waitFor()
  })
})

describe('ending the protection', () => {
  test('applies no waiting change', async () => {
    await lookAgain(member.page)
    await openApp(member.page, 'Web shop')
    await propose(member.page, 'API_KEY', 'Production', planted.waiting)
    await propose(member.page, 'MAIL_KEY', 'Production', planted.waiting)
    const { page } = owner
    await openApp(page, 'Web shop')
    await openEnvironment(page, 'Production', 'Protection')
    await page.getByRole('button', { name: 'Stop protecting' }).click()
    await dialogOf(page).getByText('Changes that already wait still need their approvals').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Stop protecting' }).click()
    await page.getByText('Not protected: changes take effect at once, without approval. 2 changes wait.').waitFor()
    await openApp(page, 'Web shop')
    await queued(page, /MAIL_KEY/).waitFor()
    await expectShown(page, 'API_KEY', 'Production', planted.ownAgain)
  })

  test('lets a member store values directly', async () => {
    const { page } = member
    await lookAgain(page)
    await edit(page, 'API_KEY', 'Production', planted.direct)
    await save(page)
    await value(page, 'API_KEY', 'Production').waitFor()
    await expectShown(page, 'API_KEY', 'Production', planted.direct)
    await queued(page, /API_KEY/).waitFor()
  })

  test('keeps an outdated change, which the page marks and which an approval closes', async () => {
    const { page } = owner
    await lookAgain(page)
    await openChange(page, 'Change API_KEY')
    await page.getByText('The secret has changed since this was proposed.').waitFor()
    expect(await axeProblems(page)).toEqual([])
    await approve(page).click()
    await page.getByText('superseded', { exact: true }).waitFor()
    await page.getByText('This change was not applied').waitFor()
    await openApp(page, 'Web shop')
    await expectShown(page, 'API_KEY', 'Production', planted.direct)
  })

  test('keeps the number of approvals that a change needed when it was proposed', async () => {
    const { page } = owner
    await openChange(page, 'Change MAIL_KEY')
    await page.getByText('0 of 2 needed approvals.').waitFor()
    await approve(page).click()
    await page.getByText('1 of 2 needed approvals.').waitFor()
    await openApp(page, 'Web shop')
    await expectShown(page, 'MAIL_KEY', 'Production', planted.first)
  })
})

describe('a branch', () => {
  test('can be protected without its environment', async () => {
    const { page } = owner
    await openEnvironment(page, 'Production', 'Branches')
    await page.getByRole('button', { name: 'Fork a branch' }).click()
    await dialogOf(page).getByLabel('Slug').fill('pr-7')
    await dialogOf(page).getByRole('button', { name: 'Fork' }).click()
    await acceptReaders(page)
    await page.getByRole('link', { name: 'pr-7' }).click()
    await page.getByRole('heading', { name: 'pr-7', level: 1 }).waitFor()
    await protect(page, { ownCounts: true })
    await openApp(page, 'Web shop')
    await page.getByRole('button', { name: 'Branches' }).click()
    await page.getByRole('menuitem', { name: 'pr-7' }).click()
    await page.keyboard.press('Escape')
    await propose(page, 'OTHER', 'pr-7', planted.branch)
    await openChange(page, 'Create OTHER')
    await page.getByText('The secret does not exist yet.').waitFor()
    await approve(page).click()
    await page.getByText('applied', { exact: true }).waitFor()
    await openApp(page, 'Web shop')
    await page.getByRole('button', { name: 'Branches' }).click()
    await page.getByRole('menuitem', { name: 'pr-7' }).click()
    await page.keyboard.press('Escape')
    await expectShown(page, 'OTHER', 'pr-7', planted.branch)
    await expectShown(page, 'OTHER', 'Production', planted.first)
  })
})

describe('an environment of a group', () => {
  test('can be protected like any other, starting with its first secret', async () => {
    const { page } = owner
    await steps.goTo(page, 'Groups')
    await create(page, 'New group', 'Shared')
    await create(page, 'New environment', 'Staging')
    await page.getByRole('link', { name: 'Staging' }).click()
    await page.getByRole('heading', { name: 'Staging', level: 1 }).waitFor()
    await protect(page, { ownCounts: true })
    await steps.goTo(page, 'Groups')
    await page.getByRole('link', { name: 'Shared', exact: true }).click()
    await page.getByRole('button', { name: 'Add secret' }).click()
    await dialogOf(page).getByLabel('Name').fill('GROUP_KEY')
    await dialogOf(page).getByLabel('Value').fill(planted.group)
    await dialogOf(page).getByLabel('Reason').fill('first of all')
    await dialogOf(page).getByRole('button', { name: 'Propose' }).click()
    await told(page, 'GROUP_KEY waits for approval in Staging.')
    await queued(page, /GROUP_KEY/).waitFor()
    await steps.goTo(page, 'Changes')
    await choose(page, 'Environment', 'Shared / Staging')
    await row(page, /Create GROUP_KEY/)
      .getByText('first of all')
      .waitFor()
    await page.getByRole('link', { name: 'Create GROUP_KEY' }).click()
    await approve(page).click()
    await page.getByText('applied', { exact: true }).waitFor()
    await steps.goTo(page, 'Groups')
    await page.getByRole('link', { name: 'Shared', exact: true }).click()
    await expectShown(page, 'GROUP_KEY', 'Staging', planted.group)
  })
})

describe('the pages', () => {
  test('neither sent nor stored a secret value', async () => {
    expect(owner.sent.some((text) => text.includes('GROUP_KEY'))).toBe(true)
    expect(await leaks(world, { owner, member })).toEqual([])
  })

  test('caused no console warnings and no Content-Security-Policy violations', () => {
    expect([owner.complaints, member.complaints]).toEqual([[], []])
  })
})
