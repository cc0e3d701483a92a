import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { dialogOf, edit, expectShown, openApp, openColumnMenu, openEnvironment, pickTool } from './apps-steps.ts'
import { told } from './browser.ts'
import { choose, lookAgain, openChange, queued, row, withdraw } from './changes-steps.ts'
import { axeProblems, putSecret } from './org-steps.ts'
import { grantTo, leaks, openPair } from './scene.ts'
import * as steps from './steps.ts'

// Changes in a protected environment wait for another person's approval. The suite follows both people.

const planted = {
  first: 'planted-first-5d1c27',
  second: 'planted-second-90ab3e',
  proposed: 'planted-proposed-77f0c4',
  old: 'planted-old-1b6d82',
  pasted: 'planted-pasted-c3e911',
  alsoPasted: 'planted-also-pasted-04d7aa',
}

const walk = await openPair()
const { world, owner, member, place } = walk
await grantTo(walk, place, member)
for (const [name, text] of [
  ['API_KEY', planted.first],
  ['ROTATED', planted.first],
  ['ROTATED', planted.second],
  ['OLD_KEY', planted.old],
] as const)
  await putSecret(world, owner.bearer(), place, name, text)

const pastedTogether = /Change NEW_(ONE|TWO) and 1 more/

/** Runs `write`, and returns the status of the answer to it. */
async function answerTo(page: Page, name: string, write: () => Promise<unknown>): Promise<number> {
  const [answer] = await Promise.all([
    page.waitForResponse((one) => one.request().method() !== 'GET' && one.url().includes(`/secrets/${name}`)),
    write(),
  ])
  return answer.status()
}

describe('an owner', () => {
  test('can protect an environment on its page, which explains the settings', async () => {
    const { page } = owner
    await openApp(page, 'Web shop')
    await openEnvironment(page, 'Production', 'Protection')
    await page.getByText('Not protected: changes take effect at once, without approval.').waitFor()
    await page.getByRole('button', { name: 'Protect' }).click()
    await dialogOf(page).getByLabel('Admins may approve their own changes').waitFor()
    expect(await axeProblems(page)).toEqual([])
    await dialogOf(page).getByRole('button', { name: 'Save' }).click()
    await page.getByText('Needs one approval, and nobody approves their own changes. No change waits.').waitFor()
  })
})

describe('a member', () => {
  test('sees an empty queue, and that the environment is protected', async () => {
    const { page } = member
    await steps.goTo(page, 'Changes')
    await page.getByText('No change waits for approval').waitFor()
    await openApp(page, 'Web shop')
    await page.getByLabel('Protected', { exact: true }).waitFor()
  })

  test('cannot change the protection', async () => {
    const { page } = member
    await openEnvironment(page, 'Production', 'Protection')
    await page.getByText('Needs one approval').waitFor()
    await expect.poll(() => page.getByRole('button', { name: /^(Change|Stop protecting)$/ }).count()).toBe(0)
    await openApp(page, 'Web shop')
  })

  test('can propose a new value with a note, and the old value stays in use', async () => {
    const { page } = member
    await edit(page, 'API_KEY', 'Production', planted.proposed)
    await page.getByLabel('Why API_KEY changes').fill('the provider asks for ünique keys')
    const status = await answerTo(page, 'API_KEY', () => page.getByRole('button', { name: 'Propose' }).click())
    expect(status).toBe(202)
    await told(page, 'The change of API_KEY waits for approval.')
    await queued(page, /API_KEY/).waitFor()
    await expectShown(page, 'API_KEY', 'Production', planted.first)
  })

  test('can propose to delete a secret', async () => {
    const { page } = member
    await pickTool(page, 'OLD_KEY', 'Details of OLD_KEY in Production')
    await dialogOf(page).getByRole('button', { name: 'Delete…' }).click()
    const asked = page.getByRole('dialog', { name: 'Delete OLD_KEY' })
    await asked.getByLabel('Reason').fill('nobody reads it')
    const status = await answerTo(page, 'OLD_KEY', () => asked.getByRole('button', { name: 'Propose' }).click())
    expect(status).toBe(202)
    await told(page, 'The deletion of OLD_KEY waits for approval.')
    await queued(page, /OLD_KEY/).waitFor()
  })

  test('can propose to restore an old version, with a note', async () => {
    const { page } = member
    await pickTool(page, 'ROTATED', 'Details of ROTATED in Production')
    await dialogOf(page).getByLabel('Reason').fill('the new one is refused')
    const propose = dialogOf(page).getByRole('button', { name: 'Propose to restore version 1' })
    expect(await answerTo(page, 'ROTATED', () => propose.click())).toBe(202)
    await told(page, 'Restoring version 1 of ROTATED waits for approval.')
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'hidden' })
    await queued(page, /ROTATED/).waitFor()
  })

  test('can propose a whole .env file at once, and sees each name wait', async () => {
    const { page } = member
    await openColumnMenu(page, 'Production', 'Import a file…')
    const text = `NEW_ONE=${planted.pasted}\nNEW_TWO=${planted.alsoPasted}\nNEW_THREE=1\nROTATED=${planted.second}\nOLD_KEY=2\n`
    await dialogOf(page).getByLabel('Text of the file').fill(text)
    await dialogOf(page).getByText('3 added, 1 changed, 1 unchanged').waitFor()
    await dialogOf(page).getByLabel('NEW_THREE', { exact: true }).uncheck()
    expect(await dialogOf(page).getByLabel('OLD_KEY', { exact: true }).isChecked()).toBe(false)
    await dialogOf(page).getByLabel('Reason').fill('for the new partner')
    expect(await axeProblems(page)).toEqual([])
    await dialogOf(page).getByRole('button', { name: 'Propose 2 secrets' }).click()
    await told(page, '2 changes wait for approval.')
    await queued(page, /NEW_ONE/).waitFor()
    await queued(page, /NEW_TWO/).waitFor()
    await expect.poll(() => row(page, /NEW_THREE/).count()).toBe(0)
    expect(await axeProblems(page)).toEqual([])
  })

  test('sees all proposals in the queue at once', async () => {
    const { page } = member
    await steps.goTo(page, 'Changes')
    await row(page, /Change API_KEY/)
      .getByText('the provider asks for ünique keys')
      .waitFor()
    await row(page, /Delete OLD_KEY/)
      .getByText('nobody reads it')
      .waitFor()
    await row(page, /Restore version 1 of ROTATED/)
      .getByText('the new one is refused')
      .waitFor()
    await row(page, pastedTogether).getByText('for the new partner').waitFor()
    await expect.poll(() => page.getByRole('row').filter({ hasText: 'open' }).count()).toBe(4)
  })
})

describe('the owner as reviewer', () => {
  test('sees the number of waiting changes on the environment’s page', async () => {
    await lookAgain(owner.page)
    await owner.page.getByText('5 changes wait.').waitFor()
  })

  test('sees a masked difference, can reveal it, and approves', async () => {
    const { page } = owner
    await openChange(page, 'Change API_KEY')
    await page.getByText('the provider asks for ünique keys').waitFor()
    await page.getByText('The proposed value differs from the current one.').waitFor()
    expect(await page.content()).not.toContain('planted')
    await page.getByRole('button', { name: 'Reveal values' }).click()
    await page.getByLabel('Removed').getByText(planted.first).waitFor()
    await page.getByLabel('Added').getByText(planted.proposed).waitFor()
    await page.getByRole('button', { name: 'Hide values' }).click()
    expect(await page.content()).not.toContain('planted')
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('applied', { exact: true }).waitFor()
    await page.getByText('1 of 1 needed approvals.').waitFor()
  })

  test('can reject a deletion with a comment', async () => {
    const { page } = owner
    await openChange(page, 'Delete OLD_KEY')
    await page.getByText('The secret is deleted. Programs no longer get it.').waitFor()
    await page.getByLabel('Comment').fill('the old shop reads it until June')
    await page.getByRole('button', { name: 'Reject' }).click()
    await page.getByText('rejected', { exact: true }).first().waitFor()
    await page.getByText('the old shop reads it until June').waitFor()
  })

  test('sees both sides of a restoration, and approves it', async () => {
    const { page } = owner
    await openChange(page, 'Restore version 1 of ROTATED')
    await page.getByRole('button', { name: 'Reveal values' }).click()
    await page.getByLabel('Removed').getByText(planted.second).waitFor()
    await page.getByLabel('Added').getByText(planted.first).waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('applied', { exact: true }).waitFor()
  })

  test('sees the results in the matrix without a reload', async () => {
    const { page } = owner
    await openApp(page, 'Web shop')
    await expectShown(page, 'API_KEY', 'Production', planted.proposed)
    await expectShown(page, 'ROTATED', 'Production', planted.first)
    for (const name of [/API_KEY/, /ROTATED/, /OLD_KEY/]) await expect.poll(() => queued(page, name).count()).toBe(0)
    await queued(page, /NEW_ONE/).waitFor()
  })

  test('sees all changes that were proposed together, and decides once', async () => {
    const { page } = owner
    await openChange(page, pastedTogether)
    for (const name of ['Create NEW_ONE', 'Create NEW_TWO']) await page.getByText(name).waitFor()
    await expect.poll(() => page.getByText('The secret does not exist yet.').count()).toBe(2)
    expect(await axeProblems(page)).toEqual([])
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('applied', { exact: true }).waitFor()
    await page.getByText('NEW_ONE, NEW_TWO').waitFor()
    await openApp(page, 'Web shop')
    await expectShown(page, 'NEW_ONE', 'Production', planted.pasted)
    await expectShown(page, 'NEW_TWO', 'Production', planted.alsoPasted)
  })
})

describe('the member who proposed', () => {
  test('can withdraw a proposal, and is offered nothing else', async () => {
    const { page } = member
    await openApp(page, 'Web shop')
    await openColumnMenu(page, 'Production', 'Import a file…')
    await dialogOf(page).getByLabel('Text of the file').fill('NEW_THREE=3\n')
    await dialogOf(page).getByRole('button', { name: 'Propose 1 secret' }).click()
    await told(page, '1 change waits for approval.')
    await openChange(page, 'Create NEW_THREE')
    await page.getByText('You proposed this, so you can withdraw it.').waitFor()
    await expect.poll(() => page.getByRole('button', { name: /^(Approve|Reject)$/ }).count()).toBe(0)
    await withdraw(page)
    await page.getByText('withdrawn', { exact: true }).waitFor()
  })

  test('sees the result of each proposal, and the reviewer’s comment', async () => {
    const { page } = member
    await lookAgain(page)
    await steps.goTo(page, 'Changes')
    await page.getByText('No change waits for approval').waitFor()
    await choose(page, 'Status', 'all')
    await row(page, /Change API_KEY/)
      .getByText('applied')
      .waitFor()
    await row(page, /Restore version 1 of ROTATED/)
      .getByText('applied')
      .waitFor()
    await row(page, /Create NEW_THREE/)
      .getByText('withdrawn')
      .waitFor()
    await row(page, pastedTogether).getByText('applied').waitFor()
    await row(page, /Delete OLD_KEY/)
      .getByText('rejected')
      .waitFor()
    await page.getByRole('link', { name: 'Delete OLD_KEY' }).click()
    await page.getByText('the old shop reads it until June').waitFor()
  })

  test('can read the approved values, and has no waiting change', async () => {
    const { page } = member
    await openApp(page, 'Web shop')
    await expectShown(page, 'API_KEY', 'Production', planted.proposed)
    await expectShown(page, 'ROTATED', 'Production', planted.first)
    await expectShown(page, 'OLD_KEY', 'Production', planted.old)
    await expectShown(page, 'NEW_TWO', 'Production', planted.alsoPasted)
    await expect.poll(() => page.getByText('queued', { exact: true }).count()).toBe(0)
    await expect.poll(() => row(page, /NEW_THREE/).count()).toBe(0)
  })
})

describe('the pages', () => {
  test('neither sent nor stored a secret value', async () => {
    expect(member.sent.some((text) => text.includes('NEW_ONE'))).toBe(true)
    expect(await leaks(world, { owner, member })).toEqual([])
  })

  test('caused no console warnings and no Content-Security-Policy violations', () => {
    expect([owner.complaints, member.complaints]).toEqual([[], []])
  })
})
