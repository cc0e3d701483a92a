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
  save,
  value,
} from './apps-journey.ts'
import { beginWalk, leaks } from './walk.ts'

// Many values at once: a pasted file, and one environment copied into another. What would change is shown first.

const { world, owner, page } = await beginWalk()
await createApp(page, 'Web shop')
await create(page, 'New environment', 'Production')
await create(page, 'New environment', 'Staging')
await addSecret(page, 'API_KEY', 'planted-api-key', ['Production', 'Staging'])
await addSecret(page, 'DATABASE_URL', 'planted-postgres-production', ['Production'])
await edit(page, 'API_KEY', 'Staging', 'planted-api-key-of-staging')
await save(page)
await value(page, 'API_KEY', 'Staging').waitFor()

const storing = () => dialogOf(page).getByRole('button', { name: /^Store/ })
const store = async (what: string) => {
  await dialogOf(page).getByRole('button', { name: what }).click()
  await dialogOf(page).first().waitFor({ state: 'detached' })
}

describe('a pasted .env file', () => {
  const text = () => dialogOf(page).getByLabel('Text of the file')

  test('is refused with the line that is wrong, and nothing of it is lost', async () => {
    const broken = 'NEW_ONE="planted-new"\nthis is nothing\nAPI_KEY=planted-api-key-of-staging\n'
    await openColumnMenu(page, 'Staging', 'Paste .env…')
    await text().fill(broken)
    await dialogOf(page).getByText('Line 2: is not NAME=value and not a comment').waitFor()
    await expect.poll(() => storing().isDisabled()).toBe(true)
    await expect.poll(() => text().inputValue()).toBe(broken)
  })

  test('is shown as changes when it is right, and stored', async () => {
    await text().fill('NEW_ONE="planted-new"\nAPI_KEY=planted-api-key-of-staging\nDATABASE_URL=planted-staging\n')
    await dialogOf(page).getByText('2 added, 1 unchanged').waitFor()
    await store('Store 2 secrets')
    await expectShown(page, 'NEW_ONE', 'Staging', 'planted-new')
  })

  test('overwrites only what is chosen', async () => {
    await openColumnMenu(page, 'Staging', 'Paste .env…')
    await text().fill('NEW_ONE=planted-newer\nDATABASE_URL=planted-not-this\n')
    await dialogOf(page).getByText('2 changed').waitFor()
    await dialogOf(page).getByLabel('DATABASE_URL').uncheck()
    await store('Store 1 secret')
    await expectShown(page, 'NEW_ONE', 'Staging', 'planted-newer')
    await expectShown(page, 'DATABASE_URL', 'Staging', 'planted-staging')
  })

  test('with a value above the limit has that one named, and the rest stored', async () => {
    await openColumnMenu(page, 'Staging', 'Paste .env…')
    await text().fill(`FITS=planted-fits\nTOO_LONG=${'planted-'.repeat(100_000)}\n`)
    await dialogOf(page).getByText('2 added').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Store 2 secrets' }).click()
    await dialogOf(page).getByText('1 could not be stored; 1 are.').waitFor()
    await dialogOf(page).getByText('TOO_LONG: The value is too long').waitFor()
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'detached' })
    await expectShown(page, 'FITS', 'Staging', 'planted-fits')
  })
})

describe('an environment', () => {
  test('is copied into another one, overwriting what was left checked in the preview', async () => {
    await openColumnMenu(page, 'Staging', 'Copy to another…')
    await dialogOf(page).getByText('2 added, 2 changed').waitFor()
    await dialogOf(page).getByLabel('DATABASE_URL').uncheck()
    expect(await dialogOf(page).innerText()).not.toContain('planted')
    await store('Store 3 secrets')
    await expectShown(page, 'API_KEY', 'Production', 'planted-api-key-of-staging')
    await expectShown(page, 'NEW_ONE', 'Production', 'planted-newer')
    await expectShown(page, 'DATABASE_URL', 'Production', 'planted-postgres-production')
  })

  test('has nothing to copy where all is the same', async () => {
    await openColumnMenu(page, 'Staging', 'Copy to another…')
    await dialogOf(page).getByText('1 changed, 3 unchanged').waitFor()
    await dialogOf(page).getByLabel('DATABASE_URL').uncheck()
    await expect.poll(() => storing().isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'detached' })
  })
})

test('one secret alone is copied from its drawer', async () => {
  await pickTool(page, 'DATABASE_URL', 'Details of DATABASE_URL in Production')
  await dialogOf(page).getByRole('button', { name: 'Copy to another environment…' }).click()
  const copying = page.getByRole('dialog', { name: 'Copy DATABASE_URL of Production' })
  await copying.getByText('1 changed').waitFor()
  await copying.getByRole('button', { name: 'Store 1 secret' }).click()
  await copying.waitFor({ state: 'detached' })
  await page.keyboard.press('Escape')
  await dialogOf(page).waitFor({ state: 'detached' })
  await expectShown(page, 'DATABASE_URL', 'Staging', 'planted-postgres-production')
})

test('no value was sent or kept', async () => {
  expect(await leaks(world, { owner })).toEqual([])
})

test('nothing was complained about by the console or the Content-Security-Policy', () => {
  expect(owner.complaints).toEqual([])
})
