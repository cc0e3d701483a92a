import { describe, expect, test } from 'vitest'
import { addSecret, dialogOf, edit, expectShown, openEnvironment, save, value } from './apps-steps.ts'
import { told } from './browser.ts'
import { axeProblems } from './org-steps.ts'
import { leaks, openShop } from './scene.ts'
import * as steps from './steps.ts'

const { world, owner, page } = await openShop('Production')
await addSecret(page, 'API_KEY', 'planted-api-key', ['Production'])
await value(page, 'API_KEY', 'Production').waitFor()

const row = (name: string) => page.getByRole('row', { name: new RegExp(name) })

describe('a branch', () => {
  test('can be forked, and expires by itself', async () => {
    await openEnvironment(page, 'Production', 'Branches')
    await page.getByRole('button', { name: 'Fork a branch' }).first().click()
    await dialogOf(page).getByLabel('Slug').fill('PR 7')
    await dialogOf(page).getByText('Becomes pr-7').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Fork' }).click()
    await told(page, 'Forked pr-7 from Production.')
    await page.getByText('in 7 days').waitFor()
  })

  test('cannot have the slug of another environment, and the dialog keeps the typed text', async () => {
    await page.getByRole('button', { name: 'Fork a branch' }).click()
    await dialogOf(page).getByLabel('Slug').fill('pr-7')
    await dialogOf(page).getByRole('button', { name: 'Fork' }).click()
    await dialogOf(page).getByText('Another environment uses it.').waitFor()
    await expect.poll(() => dialogOf(page).getByLabel('Slug', { exact: true }).inputValue()).toBe('pr-7')
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'detached' })
    expect(await axeProblems(page)).toEqual([])
  })

  test('appears beside its environment, with its inherited values marked', async () => {
    await page.getByRole('link', { name: 'Web shop' }).click()
    await page.getByRole('button', { name: 'Branches' }).click()
    await page.getByRole('menuitem', { name: 'pr-7' }).click()
    await page.keyboard.press('Escape')
    await row('API_KEY').getByTitle('from production').waitFor()
    await row('API_KEY').getByText('same').waitFor()
    await expectShown(page, 'API_KEY', 'pr-7', 'planted-api-key')
  })

  test('stores only values that differ', async () => {
    await edit(page, 'API_KEY', 'pr-7', 'planted-branch')
    await save(page)
    await row('API_KEY').getByTitle('from production').waitFor({ state: 'detached' })
    await expectShown(page, 'API_KEY', 'pr-7', 'planted-branch')
    await expectShown(page, 'API_KEY', 'Production', 'planted-api-key')
  })

  test('is named when somebody makes a token, which cannot read it', async () => {
    await steps.goTo(page, 'Service tokens')
    await page.getByRole('button', { name: 'New token' }).click()
    await dialogOf(page).getByLabel('Reads').fill('Produc')
    await page.getByRole('option', { name: 'Web shop / Production' }).click()
    await dialogOf(page).getByText('The token cannot read branches that exist already').waitFor()
    await dialogOf(page).getByRole('link', { name: 'pr-7' }).waitFor()
    expect(await axeProblems(page)).toEqual([])
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'detached' })
    await steps.goTo(page, 'Applications')
    await page.getByRole('link', { name: 'Web shop' }).click()
    await page.getByRole('button', { name: 'Branches' }).click()
    await page.getByRole('menuitem', { name: 'pr-7' }).click()
    await page.keyboard.press('Escape')
  })

  test('gets its own secret even if it has the same name as its environment', async () => {
    await openEnvironment(page, 'pr-7', 'Settings')
    await page.getByRole('button', { name: 'Rename…' }).click()
    await dialogOf(page).getByLabel('Name').fill('Production')
    await dialogOf(page).getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('heading', { name: 'Production', level: 1 }).waitFor()
    await page.getByRole('link', { name: 'Web shop' }).click()
    await page.getByRole('button', { name: 'Branches' }).click()
    await page.getByRole('menuitem', { name: 'Show pr-7' }).click()
    await page.keyboard.press('Escape')
    await addSecret(page, 'IN_BOTH', 'planted-in-both', ['Production'])
    await row('IN_BOTH').getByText('same').waitFor()
    await expect.poll(() => row('IN_BOTH').getByTitle(/^from/).count()).toBe(0)
  })

  test('can be deleted without a change to its environment', async () => {
    await page.getByRole('link', { name: 'Production' }).first().click()
    await steps.openTab(page, 'Branches')
    await page.getByRole('button', { name: /^Delete/ }).click()
    await dialogOf(page).getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No branch').waitFor()
    await page.getByRole('link', { name: 'Web shop' }).click()
    await expectShown(page, 'API_KEY', 'Production', 'planted-api-key')
    await expect.poll(() => page.getByRole('button', { name: 'Branches' }).count()).toBe(0)
  })
})

test('the page neither sent nor stored a secret value', async () => {
  expect(await leaks(world, { owner })).toEqual([])
})

test('the page caused no console warnings and no Content-Security-Policy violations', () => {
  expect(owner.complaints).toEqual([])
})
