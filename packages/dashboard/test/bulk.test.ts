import { changes } from '@skerry/contract/changes/endpoints'
import type { Page, Route } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import {
  addSecret,
  create,
  dialogOf,
  edit,
  expectShown,
  openApp,
  openEnvironment,
  placeOf,
  save,
  value,
} from './apps-steps.ts'
import { told } from './browser.ts'
import { axeProblems, protect, putSecret } from './org-steps.ts'
import { grantTo, leaks, openPair } from './scene.ts'
import * as steps from './steps.ts'

// Several secrets at once: they are selected in the matrix, and copied, moved or deleted together.

const walk = await openPair()
const { world, owner, member, place } = walk
const { page } = owner
await grantTo(walk, place, member)
await openApp(page, 'Web shop')
await create(page, 'New environment', 'Staging')
await create(page, 'New environment', 'Development')
for (const [name, environments] of [
  ['ALPHA', ['Production', 'Staging']],
  ['BETA', ['Staging']],
  ['DELTA', ['Staging']],
  ['GAMMA', ['Staging']],
] as const)
  await addSecret(page, name, `planted-${name.toLowerCase()}`, [...environments])
await edit(page, 'ALPHA', 'Production', 'planted-alpha-of-production')
await save(page)
await value(page, 'ALPHA', 'Production').waitFor()
const { orgId, envs } = await placeOf(world, owner.bearer(), 'web-shop')

const box = (name: string, on: Page = page) => on.getByRole('checkbox', { name: `Select ${name}`, exact: true })
const bar = (on: Page = page) => on.getByRole('region', { name: 'Selected secrets' })
const act = (label: string) => bar().getByRole('button', { name: label }).click()
const choose = async (label: 'From' | 'To', environment: string) => {
  await dialogOf(page).getByRole('combobox', { name: label }).click()
  await page.getByRole('option', { name: environment, exact: true }).click()
}
const submit = (label: string) => dialogOf(page).getByRole('button', { name: label, exact: true })
const finish = async (label: string) => {
  await submit(label).click()
  await dialogOf(page).waitFor({ state: 'detached' })
}
const absent = (name: string, environment: string) =>
  page.getByRole('button', { name: `Set ${name} in ${environment}, which is missing` })
const undoToast = () => page.locator('.mantine-Notification-root').getByRole('button', { name: 'Undo' }).last()

/** Makes the first request of this kind fail, as a network does. */
const failFirst = async (method: string, name: string) => {
  const path = new RegExp(`/secrets/${name}(\\?|$)`)
  const fail = async (route: Route) => {
    if (route.request().method() !== method) return route.continue()
    await route.abort()
    await page.unroute(path, fail)
  }
  await page.route(path, fail)
}

/** Somebody else changes the secret right before the first deletion of it reaches the server. */
const changeBeforeDelete = async (name: string, value: string) => {
  const path = new RegExp(`/secrets/${name}(\\?|$)`)
  let isChanged = false
  const change = async (route: Route) => {
    if (!isChanged && route.request().method() === 'DELETE') {
      isChanged = true
      await putSecret(world, owner.bearer(), place, name, value)
    }
    await route.continue()
  }
  await page.route(path, change)
}

describe('the selection', () => {
  test('takes one row, a range with Shift, or all rows of the filter', async () => {
    await box('ALPHA').check()
    await bar().getByText('1 selected').waitFor()
    await box('DELTA').click({ modifiers: ['Shift'] })
    await bar().getByText('3 selected').waitFor()
    expect(await box('GAMMA').isChecked()).toBe(false)
    await act('Clear')
    await bar().waitFor({ state: 'detached' })
    await page.getByLabel('Find by name').fill('ta')
    await box('ALPHA').waitFor({ state: 'detached' })
    await page.getByLabel('Select all secrets that are shown').check()
    await bar().getByText('2 selected').waitFor()
    await page.getByLabel('Find by name').fill('')
    await box('ALPHA').waitFor()
    expect([await box('ALPHA').isChecked(), await box('BETA').isChecked()]).toEqual([false, true])
    expect(await axeProblems(page)).toEqual([])
    await act('Clear')
  })

  test('can be made with the keyboard', async () => {
    await box('ALPHA').press('Space')
    await box('BETA').press('Shift+Space')
    await bar().getByText('2 selected').waitFor()
    await act('Clear')
  })

  test('counts only rows that the filter shows', async () => {
    await box('ALPHA').check()
    await box('GAMMA').check()
    await page.getByLabel('Find by name').fill('GAMMA')
    await bar().getByText('1 selected').waitFor()
    await page.getByLabel('Find by name').fill('')
    await bar().getByText('2 selected').waitFor()
    await act('Clear')
  })

  test('fits on a phone', async () => {
    await page.setViewportSize({ width: 360, height: 740 })
    await box('ALPHA').check()
    await bar().getByText('1 selected').waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
    expect(await axeProblems(page)).toEqual([])
    await act('Copy to…')
    await dialogOf(page).getByRole('combobox', { name: 'To' }).waitFor()
    expect(await axeProblems(page)).toEqual([])
    await page.keyboard.press('Escape')
    await act('Clear')
    await page.setViewportSize({ width: 1280, height: 800 })
  })
})

describe('a copy of selected secrets', () => {
  test('has no target at first, and replaces no value unless the person chooses it', async () => {
    await box('ALPHA').check()
    await box('BETA').check()
    await act('Copy to…')
    await expect.poll(() => submit('Copy 0 secrets').isDisabled()).toBe(true)
    await choose('From', 'Staging')
    await choose('To', 'Production')
    await dialogOf(page).getByText('1 added, 1 changed').waitFor()
    expect(await dialogOf(page).getByLabel('ALPHA', { exact: true }).isChecked()).toBe(false)
    expect(await axeProblems(page)).toEqual([])
    await finish('Copy 1 secret')
    await told(page, '1 secret copied to Production.')
    await expectShown(page, 'BETA', 'Production', 'planted-beta')
    await expectShown(page, 'ALPHA', 'Production', 'planted-alpha-of-production')
    await bar().waitFor({ state: 'detached' })
  })
})

describe('a move of selected secrets', () => {
  test('stores them in the other environment and deletes them where they were', async () => {
    await box('BETA').check()
    await box('GAMMA').check()
    await act('Move to…')
    await choose('From', 'Staging')
    await choose('To', 'Development')
    await dialogOf(page).getByText('Staging keeps the moved secrets with their history for 30 days').waitFor()
    await finish('Move 2 secrets')
    await told(page, '2 secrets moved to Development.')
    await expectShown(page, 'GAMMA', 'Development', 'planted-gamma')
    await absent('GAMMA', 'Staging').waitFor()
    await absent('BETA', 'Staging').waitFor()
    await expectShown(page, 'BETA', 'Production', 'planted-beta')
  })

  test('is undone in both environments', async () => {
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('2 secrets restored in Staging. 2 secrets deleted from Development.').waitFor()
    await expectShown(page, 'GAMMA', 'Staging', 'planted-gamma')
    await expectShown(page, 'BETA', 'Staging', 'planted-beta')
    await absent('GAMMA', 'Development').waitFor()
    await page.getByRole('button', { name: 'Dismiss' }).first().click()
  })

  test('that failed for one secret is tried again for that one alone, and Undo covers both attempts', async () => {
    await box('DELTA').check()
    await box('GAMMA').check()
    await act('Move to…')
    await choose('From', 'Staging')
    await choose('To', 'Development')
    await failFirst('PUT', 'DELTA')
    await submit('Move 2 secrets').click()
    await dialogOf(page).getByText('1 could not be stored; 1 are.').waitFor()
    await finish('Move 1 secret')
    await page.getByRole('paragraph').filter({ hasText: '2 secrets moved to Development.' }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('2 secrets restored in Staging. 2 secrets deleted from Development.').waitFor()
    await expectShown(page, 'GAMMA', 'Staging', 'planted-gamma')
    await absent('GAMMA', 'Development').waitFor()
    await absent('DELTA', 'Development').waitFor()
    await page.getByRole('button', { name: 'Dismiss' }).first().click()
  })

  test('only deletes a secret that the target has already', async () => {
    await box('BETA').check()
    await act('Move to…')
    await choose('From', 'Staging')
    await choose('To', 'Production')
    await dialogOf(page).getByText('Production already has the same value of BETA. The move only deletes it').waitFor()
    await finish('Move 1 secret')
    await told(page, '1 secret moved to Production.')
    await absent('BETA', 'Staging').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('1 secret restored in Staging.').waitFor()
    await expectShown(page, 'BETA', 'Staging', 'planted-beta')
    await expectShown(page, 'BETA', 'Production', 'planted-beta')
    await page.getByRole('button', { name: 'Dismiss' }).first().click()
  })
})

describe('a deletion of selected secrets', () => {
  test('asks once with their number, and Undo restores all of them', async () => {
    await box('ALPHA').check()
    await box('BETA').click({ modifiers: ['Shift'] })
    await act('Delete…')
    await expect.poll(() => submit('Delete 0 secrets').isDisabled()).toBe(true)
    await dialogOf(page).getByRole('checkbox', { name: 'Production' }).check()
    await dialogOf(page).getByRole('checkbox', { name: 'Staging' }).check()
    expect(await dialogOf(page).getByRole('checkbox', { name: 'Development' }).isDisabled()).toBe(true)
    expect(await axeProblems(page)).toEqual([])
    await finish('Delete 4 secrets')
    await told(page, 'Deleted 4 secrets.')
    await box('ALPHA').waitFor({ state: 'detached' })
    await undoToast().click()
    await told(page, 'Restored 4 secrets.')
    await expectShown(page, 'ALPHA', 'Production', 'planted-alpha-of-production')
    await expectShown(page, 'ALPHA', 'Staging', 'planted-alpha')
    await expectShown(page, 'BETA', 'Staging', 'planted-beta')
  })

  test('says which were deleted and which were not, if somebody has changed one meanwhile', async () => {
    await box('ALPHA').check()
    await box('BETA').check()
    await act('Delete…')
    await dialogOf(page).getByRole('checkbox', { name: 'Production' }).check()
    await changeBeforeDelete('BETA', 'planted-beta-since')
    await submit('Delete 2 secrets').click()
    await dialogOf(page).getByText('Deleted from Production: ALPHA').waitFor()
    await dialogOf(page).getByText('Not deleted from Production: BETA. Someone else changed it meanwhile.').waitFor()
    expect(await axeProblems(page)).toEqual([])
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'detached' })
    await undoToast().click()
    await told(page, 'Restored ALPHA in Production.')
    await expectShown(page, 'BETA', 'Production', 'planted-beta-since')
    await act('Clear')
  })
})

describe('a move of a secret that somebody changes meanwhile', () => {
  test('keeps the newer value where it is, and says so', async () => {
    await box('ALPHA').check()
    await act('Move to…')
    await choose('From', 'Production')
    await choose('To', 'Development')
    await dialogOf(page).getByText('1 added').waitFor()
    await changeBeforeDelete('ALPHA', 'planted-alpha-since')
    await submit('Move 1 secret').click()
    await dialogOf(page).getByText('Not deleted from Production: ALPHA. Someone else changed it meanwhile.').waitFor()
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'detached' })
    await expectShown(page, 'ALPHA', 'Production', 'planted-alpha-since')
    await page.getByText('1 secret copied to Development.').waitFor()
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await absent('ALPHA', 'Development').waitFor()
    await page.getByRole('button', { name: 'Dismiss' }).first().click()
    await act('Clear')
  })
})

describe('in a protected environment', () => {
  const open = async () => {
    const query = { status: 'open' as const, envId: place.envId }
    const { body } = await world.call(changes.list, { as: owner.bearer(), params: { orgId }, query })
    return body.changeRequests
  }

  test('copied secrets are proposed as one change', async () => {
    expect(envs.production).toBe(place.envId)
    await protect(world, owner.bearer(), place)
    await page.reload()
    await steps.unlockWithPassphrase(page)
    await page.getByLabel('Protected', { exact: true }).waitFor()
    await box('DELTA').check()
    await box('GAMMA').check()
    await act('Move to…')
    await choose('To', 'Production')
    await dialogOf(page).getByText('Production is protected, so the new values wait for approval').waitFor()
    await dialogOf(page).getByLabel('Reason').fill('for the release')
    await finish('Propose 2 secrets')
    await told(page, '2 changes wait for approval.')
    const proposed = await open()
    expect(proposed.map(({ secretName, action }) => [secretName, action]).sort()).toEqual([
      ['DELTA', 'put'],
      ['GAMMA', 'put'],
    ])
    expect(new Set(proposed.map(({ groupId }) => groupId)).size).toBe(1)
    expect(proposed[0]?.groupSize).toBe(2)
    await expectShown(page, 'GAMMA', 'Staging', 'planted-gamma')
  })

  test('deletions are proposed as one change that keeps the secrets for 30 days', async () => {
    await box('ALPHA').check()
    await box('BETA').check()
    await act('Delete…')
    await dialogOf(page).getByRole('checkbox', { name: 'Production' }).check()
    await finish('Propose to delete 2 secrets')
    await told(page, 'The deletion of 2 secrets waits for approval.')
    const deletions = (await open()).filter(({ action }) => action === 'delete')
    expect(deletions.map(({ secretName, keepFor, groupSize }) => [secretName, keepFor, groupSize]).sort()).toEqual([
      ['ALPHA', '30d', 2],
      ['BETA', '30d', 2],
    ])
  })
})

describe('another attempt after a failure', () => {
  const countDeletions = async (name: string) => {
    const query = { status: 'open' as const, envId: place.envId }
    const { body } = await world.call(changes.list, { as: owner.bearer(), params: { orgId }, query })
    return body.changeRequests.filter(({ action, secretName }) => action === 'delete' && secretName === name).length
  }

  test('proposes no deletion again, and Undo restores what all attempts deleted', async () => {
    const before = await countDeletions('ALPHA')
    await box('ALPHA').check()
    await box('GAMMA').check()
    await act('Delete…')
    await dialogOf(page).getByRole('checkbox', { name: 'Production' }).check()
    await dialogOf(page).getByRole('checkbox', { name: 'Staging' }).check()
    await failFirst('DELETE', 'GAMMA')
    await submit('Delete or propose to delete 3 secrets').click()
    await dialogOf(page).getByText('Waits for approval in Production: ALPHA').waitFor()
    await dialogOf(page).getByText('Not deleted from Staging: GAMMA').waitFor()
    await finish('Delete 1 secret')
    await told(page, 'Deleted 2 secrets. The deletion of 1 secret waits for approval.')
    expect(await countDeletions('ALPHA')).toBe(before + 1)
    expect(await undoToast().count()).toBe(1)
    await undoToast().click()
    await told(page, 'Restored 2 secrets.')
    await expectShown(page, 'ALPHA', 'Staging', 'planted-alpha')
    await expectShown(page, 'GAMMA', 'Staging', 'planted-gamma')
  })

  test('of a move proposes no deletion again', async () => {
    const before = [await countDeletions('ALPHA'), await countDeletions('BETA')]
    await box('ALPHA').check()
    await box('BETA').check()
    await act('Move to…')
    await choose('From', 'Production')
    await choose('To', 'Development')
    await failFirst('PUT', 'BETA')
    await submit('Move 2 secrets').click()
    await dialogOf(page).getByText('1 could not be stored; 1 are.').waitFor()
    await finish('Move 1 secret')
    await told(page, '1 change waits for approval.')
    expect([await countDeletions('ALPHA'), await countDeletions('BETA')]).toEqual(before.map((count) => count + 1))
  })
})

describe('a move from a branch', () => {
  test('takes its own secrets, and says which values it inherits', async () => {
    await openEnvironment(page, 'Staging', 'Branches')
    await page.getByRole('button', { name: 'Fork a branch' }).first().click()
    await dialogOf(page).getByLabel('Slug').fill('pr-7')
    await dialogOf(page).getByRole('button', { name: 'Fork' }).click()
    await told(page, 'Forked pr-7 from Staging.')
    await page.getByRole('link', { name: 'Web shop' }).click()
    await page.getByRole('button', { name: 'Branches' }).click()
    await page.getByRole('menuitem', { name: 'pr-7' }).click()
    await page.keyboard.press('Escape')
    await addSecret(page, 'OMEGA', 'planted-omega', ['pr-7'])
    await box('OMEGA').check()
    await box('GAMMA').check()
    await act('Move to…')
    await choose('From', 'pr-7')
    await choose('To', 'Development')
    await dialogOf(page)
      .getByText('GAMMA cannot be moved: pr-7 gets the value from a group or a parent environment.')
      .waitFor()
    await dialogOf(page).getByText('1 added', { exact: true }).waitFor()
    await finish('Move 1 secret')
    await told(page, '1 secret moved to Development.')
    await expectShown(page, 'OMEGA', 'Development', 'planted-omega')
    await absent('GAMMA', 'Development').waitFor()
    await expectShown(page, 'GAMMA', 'Staging', 'planted-gamma')
  })
})

describe('a person with the key of one environment', () => {
  test('reads why nothing can be copied, and which environments cannot be chosen', async () => {
    await openApp(member.page, 'Web shop')
    await box('ALPHA', member.page).check()
    await bar(member.page).getByText('You hold no key of another environment.').waitFor()
    for (const label of ['Copy to…', 'Move to…'])
      expect(await bar(member.page).getByRole('button', { name: label }).isDisabled()).toBe(true)
    await bar(member.page).getByRole('button', { name: 'Delete…' }).click()
    const dialog = dialogOf(member.page)
    expect(await dialog.getByRole('checkbox', { name: 'Staging' }).isDisabled()).toBe(true)
    await dialog.getByText('You do not have its key.').first().waitFor()
    expect(await axeProblems(member.page)).toEqual([])
    await member.page.keyboard.press('Escape')
  })
})

test('the pages neither sent nor stored a secret value', async () => {
  expect(await leaks(world, { owner, member })).toEqual([])
})

test('the pages caused only the expected console errors', () => {
  const complaints = [...owner.complaints, ...member.complaints]
  expect(complaints.filter((text) => !text.includes('ERR_FAILED'))).toEqual([])
})
