import type { Locator } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import {
  addSecret,
  create,
  createApp,
  dialogOf,
  edit,
  expectShown,
  openColumnMenu,
  pickTool,
  placeOf,
  save,
  value,
} from './apps-steps.ts'
import { told } from './browser.ts'
import { axeProblems } from './org-steps.ts'
import { leaks, openOwner } from './scene.ts'
import * as steps from './steps.ts'

// The matrix of an application: what it shows and hides, and its keyboard control.

const { world, owner, page } = await openOwner()

const row = (name: string) => page.getByRole('row', { name: new RegExp(name) })
const shown = () => page.locator('.matrix-shown')
const expectMasked = async () => {
  await shown().first().waitFor({ state: 'detached' })
  expect(await page.locator('.matrix').innerText()).not.toContain('planted')
}
const isFocused = (locator: Locator) =>
  expect.poll(() => locator.evaluate((element) => element === document.activeElement)).toBe(true)

/**
 * Simulates a slow machine: it delays the page's zero-length timers until `catchUp` runs, after the person has moved
 * on.
 */
const putOff = () =>
  page.evaluate(() => {
    const timer = window.setTimeout
    const late: (() => void)[] = []
    window.setTimeout = ((then: () => void, ms?: number) => (ms ? timer(then, ms) : late.push(then))) as never
    Object.assign(window, {
      catchUp() {
        window.setTimeout = timer
        for (const then of late) then()
      },
    })
  })

describe('an application', () => {
  test('can be created with environments whose keys are made in the browser', async () => {
    await createApp(page, 'Web shop')
    await create(page, 'New environment', 'Production')
    await page.getByText('No secret yet').waitFor()
    await create(page, 'New environment', 'Staging')
    const { envs } = await placeOf(world, owner.bearer(), 'web-shop')
    expect(Object.keys(envs).sort()).toEqual(['production', 'staging'])
  })

  test('stores secrets, and masks them until the person reveals them', async () => {
    await addSecret(page, 'DATABASE_URL', 'planted-postgres-production', ['Production'])
    await addSecret(page, 'API_KEY', 'planted-api-key', ['Production', 'Staging'])
    await value(page, 'API_KEY', 'Staging').waitFor()
    await expectMasked()
    await value(page, 'API_KEY', 'Staging').click()
    await page.getByText('planted-api-key').waitFor()
    await value(page, 'API_KEY', 'Staging').click()
    await expectMasked()
  })

  test('marks missing, equal and different values without revealing them', async () => {
    await row('DATABASE_URL').getByText('1 missing').waitFor()
    await row('API_KEY').getByText('same').waitFor()
    await expect.poll(() => row('API_KEY').locator('[data-letter="="]').count()).toBe(2)
    await edit(page, 'API_KEY', 'Staging', 'planted-api-key-of-staging')
    await save(page)
    await row('API_KEY').getByText('same').waitFor({ state: 'detached' })
    await page.getByLabel('Show').getByText('Differs').click()
    await page.getByText('1 of 2 secrets').waitFor()
    expect(await row('API_KEY').locator('.matrix-letter').count()).toBe(0)
    await page.getByLabel('Show').getByText('Missing').click()
    await page.getByText('1 of 2 secrets').waitFor()
    await page.getByLabel('Show').getByText('All').click()
    await expectMasked()
  })

  test('copies a value without revealing it', async () => {
    await pickTool(page, 'API_KEY', 'Copy API_KEY in Staging')
    await told(page, 'Copied API_KEY of Staging.')
    await expectMasked()
    const search = page.getByLabel('Find by name')
    await search.focus()
    await page.keyboard.press('ControlOrMeta+V')
    await expect.poll(() => search.inputValue()).toBe('planted-api-key-of-staging')
    await search.fill('')
  })

  test('reveals a whole row, and hides it again', async () => {
    await pickTool(page, 'API_KEY', 'Reveal API_KEY everywhere')
    await expect.poll(() => shown().allInnerTexts()).toEqual(['planted-api-key', 'planted-api-key-of-staging'])
    await pickTool(page, 'API_KEY', 'Hide API_KEY everywhere')
    await expectMasked()
  })

  test('reveals a whole column, limited to the search, and hides it again', async () => {
    await openColumnMenu(page, 'Production', 'Reveal all')
    await expect.poll(() => shown().allInnerTexts()).toEqual(['planted-api-key', 'planted-postgres-production'])
    await openColumnMenu(page, 'Production', 'Hide all')
    await expectMasked()
    await page.getByLabel('Find by name').fill('database')
    await row('API_KEY').waitFor({ state: 'detached' })
    await openColumnMenu(page, 'Production', 'Reveal all')
    await expect.poll(() => shown().allInnerTexts()).toEqual(['planted-postgres-production'])
    await page.getByLabel('Find by name').fill('')
    await value(page, 'API_KEY', 'Production').waitFor()
    await expect.poll(() => shown().allInnerTexts()).toEqual(['planted-postgres-production'])
  })

  test('is masked after the keyring was locked, and compared again after it is unlocked', async () => {
    await steps.lock(page)
    await expectMasked()
    expect(await page.content()).not.toContain('planted')
    await page.getByLabel('Show').getByText('Differs').click()
    await page.getByText('0 of 2 secrets').waitFor()
    await steps.unlockWithPassphrase(page)
    await page.getByText('1 of 2 secrets').waitFor()
    await page.getByLabel('Show').getByText('All').click()
    await expectMasked()
  })
})

describe('the keyboard', () => {
  test('moves from value to value with the arrow keys, and stops at the edges', async () => {
    await value(page, 'API_KEY', 'Production').focus()
    for (const [key, name, environment] of [
      ['ArrowUp', 'API_KEY', 'Production'],
      ['ArrowLeft', 'API_KEY', 'Production'],
      ['ArrowRight', 'API_KEY', 'Staging'],
      ['ArrowRight', 'API_KEY', 'Staging'],
      ['ArrowLeft', 'API_KEY', 'Production'],
      ['ArrowDown', 'DATABASE_URL', 'Production'],
    ] as const) {
      await page.keyboard.press(key)
      await isFocused(value(page, name, environment))
    }
    await page.keyboard.press('ArrowRight')
    await isFocused(page.getByRole('button', { name: 'Set DATABASE_URL in Staging, which is missing' }))
  })

  test('reveals with Enter and reaches the tools with Tab', async () => {
    await value(page, 'DATABASE_URL', 'Production').focus()
    await page.keyboard.press('Enter')
    await page.getByText('planted-postgres-production').waitFor()
    await page.keyboard.press('Enter')
    await expectMasked()
    await page.keyboard.press('Tab')
    await isFocused(page.getByRole('button', { name: 'Copy DATABASE_URL in Production' }))
    await page.keyboard.press('Tab')
    await isFocused(page.getByRole('button', { name: 'Edit DATABASE_URL in Production' }))
  })

  test('edits a value, cancels with Escape and saves with Enter, and the focus stays in the cell', async () => {
    const field = page.getByLabel('Value of DATABASE_URL in Production')
    await page.keyboard.press('Enter')
    await isFocused(field)
    await page.keyboard.type('planted-never-stored')
    await page.keyboard.press('Escape')
    await isFocused(value(page, 'DATABASE_URL', 'Production'))
    await expectShown(page, 'DATABASE_URL', 'Production', 'planted-postgres-production')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await isFocused(page.getByLabel('Value of DATABASE_URL in Staging'))
    await page.keyboard.type('planted-first-line')
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.type('planted-second-line')
    await page.keyboard.press('Enter')
    await isFocused(value(page, 'DATABASE_URL', 'Staging'))
    await expectShown(page, 'DATABASE_URL', 'Staging', 'planted-first-line ↵')
  })

  test('returns to its place after a dialog closes, and Escape closes one dialog at a time', async () => {
    const details = page.getByRole('button', { name: 'Details of DATABASE_URL in Production' })
    await value(page, 'DATABASE_URL', 'Production').focus()
    await details.focus()
    await page.keyboard.press('Enter')
    // An opening drawer takes the focus, so the test waits for that before it moves the focus.
    await dialogOf(page).locator(':focus').waitFor()
    const deleting = dialogOf(page).getByRole('button', { name: 'Delete…' })
    await deleting.focus()
    await page.keyboard.press('Enter')
    const asked = page.getByRole('dialog', { name: 'Delete DATABASE_URL from' })
    await asked.locator(':focus').waitFor()
    await page.keyboard.press('Escape')
    await asked.waitFor({ state: 'detached' })
    await isFocused(deleting)
    await page.keyboard.press('Escape')
    await isFocused(details)
    const menu = page.getByRole('button', { name: 'Actions for Production' })
    await menu.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Import a file…' }).press('Enter')
    const text = dialogOf(page).getByLabel('Text of the file')
    await isFocused(text)
    await page.keyboard.type('A=planted')
    // Neither the command palette's shortcut nor a click beside the dialog may discard the typed text.
    await page.keyboard.press('Control+k')
    await isFocused(text)
    await page.mouse.click(5, 400)
    await expect.poll(() => text.inputValue()).toBe('A=planted')
    await page.keyboard.press('Escape')
    await isFocused(menu)
    await value(page, 'DATABASE_URL', 'Staging').focus()
  })

  test('stays in a field that the person moved to while a dialog was opening', async () => {
    await putOff()
    await page.getByRole('button', { name: 'Add secret' }).click()
    const dialog = dialogOf(page)
    await isFocused(dialog.getByLabel('Name'))
    await dialog.getByLabel('Value').focus()
    await page.evaluate('catchUp()')
    await page.keyboard.type('planted-typed-at-once')
    expect(await dialog.getByLabel('Value').inputValue()).toBe('planted-typed-at-once')
    expect(await dialog.getByLabel('Name').inputValue()).toBe('')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  })

  test('stays at an item that the person moved to while a menu was opening', async () => {
    await putOff()
    const menu = page.getByRole('button', { name: 'Actions for Production' })
    await menu.focus()
    await page.keyboard.press('Enter')
    await isFocused(page.getByRole('menuitem', { name: 'Reveal all' }))
    const item = page.getByRole('menuitem', { name: 'Import a file…' })
    await item.focus()
    await page.evaluate('catchUp()')
    await page.keyboard.press('Enter')
    await isFocused(dialogOf(page).getByLabel('Text of the file'))
    await page.keyboard.press('Escape')
    await isFocused(menu)
    await page.keyboard.press('Enter')
    await isFocused(page.getByRole('menuitem', { name: 'Reveal all' }))
    await page.keyboard.press('Escape')
    await isFocused(menu)
  })

  test('opens the command palette anywhere, runs the chosen command, and closes it with Escape', async () => {
    await page.keyboard.press('Control+k')
    const palette = page.getByLabel('Find or do')
    await palette.fill('nothing of that name')
    await page.getByText('Nothing by that name').waitFor()
    await page.keyboard.press('Escape')
    await palette.waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await palette.fill('lock the')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Unlock the keyring' }).waitFor()
    await steps.unlockWithPassphrase(page)
    await value(page, 'API_KEY', 'Staging').waitFor()
  })

  test('reaches an application and a group by name in the palette', async () => {
    await steps.goTo(page, 'Groups')
    await create(page, 'New group', 'Shared mail')
    await page.getByRole('heading', { name: 'Shared mail', level: 1 }).waitFor()
    await steps.goTo(page, 'Members')
    for (const [typed, name, kind] of [
      ['shared m', 'Shared mail', 'groups/shared-mail'],
      ['web-sh', 'Web shop', 'apps/web-shop'],
    ] as const) {
      await page.keyboard.press('Control+k')
      await page.getByLabel('Find or do').fill(typed)
      await page.getByRole('dialog').getByRole('button', { name }).waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/${kind}`)
      await page.getByRole('heading', { name, level: 1 }).waitFor()
    }
    await value(page, 'API_KEY', 'Staging').waitFor()
  })
})

describe('a very long name or value', () => {
  const name = `LONG_${'N'.repeat(250)}`
  const text = `planted-${'v'.repeat(100_000)}-end`

  test('is stored, shortened in its cell, and shown in full in its drawer', async () => {
    await addSecret(page, name, text, ['Production'])
    await value(page, name, 'Production').click()
    await shown().first().waitFor()
    expect((await shown().first().innerText()).length).toBe(401)
    await pickTool(page, name, `Details of ${name} in Production`)
    await dialogOf(page)
      .getByRole('button', { name: `Reveal the value of ${name}` })
      .click()
    await dialogOf(page).getByText(text).waitFor()
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'detached' })
  })

  test('does not widen the page', async () => {
    const overflow = () =>
      page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    expect(await overflow()).toBe(0)
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme })
      // Colours change gradually.
      await expect.poll(() => axeProblems(page)).toEqual([])
    }
    await value(page, name, 'Production').click()
  })

  test('is refused if the name has one character too many, with the rule beside the field', async () => {
    await page.getByRole('button', { name: 'Add secret' }).click()
    await dialogOf(page).getByLabel('Name').fill(`${name}N`)
    await dialogOf(page).getByText('at most 255').waitFor()
    await expect.poll(() => dialogOf(page).getByRole('button', { name: 'Add', exact: true }).isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
  })
})

test('the page neither sent nor stored a secret value', async () => {
  expect(await leaks(world, { owner })).toEqual([])
})

test('the page caused no console warnings and no Content-Security-Policy violations', () => {
  expect(owner.complaints).toEqual([])
})
