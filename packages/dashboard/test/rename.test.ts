import { describe, expect, test } from 'vitest'
import {
  addSecret,
  create,
  createApp,
  dialogOf,
  edit,
  expectShown,
  openEnvironment,
  pickTool,
  save,
  value,
} from './apps-steps.ts'
import { protect } from './changes-steps.ts'
import { leaks, openOwner } from './scene.ts'

// A secret is renamed in all environments that store it, and its history opens under the former name.

const { world, owner, page } = await openOwner()
await createApp(page, 'Web shop')
await create(page, 'New environment', 'Production')
await create(page, 'New environment', 'Staging')
await addSecret(page, 'API_KEY', 'planted-first', ['Production', 'Staging'])
await addSecret(page, 'API_URL', 'https://x/${API_KEY}', ['Staging'])
await addSecret(page, 'EXISTING', 'planted-other', ['Staging'])

const row = (name: string) => page.getByRole('row', { name: new RegExp(name) })

async function openRename(name: string) {
  await pickTool(page, name, `Details of ${name} in Production`)
  await dialogOf(page).getByRole('button', { name: 'Rename…' }).click()
  await page.getByRole('dialog', { name: `Rename ${name}` }).waitFor()
}
const submit = () => dialogOf(page).getByRole('button', { name: 'Rename', exact: true })

describe('a rename', () => {
  test('is not possible to a name that exists or does not fit', async () => {
    await openRename('API_KEY')
    await dialogOf(page).getByLabel('New name').fill('EXISTING')
    await dialogOf(page).getByText('Staging already has a secret EXISTING.').waitFor()
    expect(await submit().isDisabled()).toBe(true)
    await dialogOf(page).getByLabel('New name').fill('not a name')
    await dialogOf(page).getByText('not beginning with a digit').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Cancel' }).click()
    await dialogOf(page).waitFor({ state: 'detached' })
  })

  test('changes the name in all environments, and names the values that refer to it', async () => {
    await openRename('API_KEY')
    await dialogOf(page).getByText('In Production, Staging.').waitFor()
    await dialogOf(page).getByLabel('New name').fill('SHOP_KEY')
    await submit().click()
    await dialogOf(page).getByText('Values in Staging still refer to ${API_KEY}: API_URL. Change them.').waitFor()
    await page.getByText('Renamed API_KEY to SHOP_KEY in Production, Staging.').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Cancel' }).click()
    await row('SHOP_KEY').getByText('same').waitFor()
    await row('API_KEY').waitFor({ state: 'detached' })
    await expectShown(page, 'SHOP_KEY', 'Production', 'planted-first')
  })

  test('keeps the versions, which can be revealed and restored', async () => {
    await edit(page, 'SHOP_KEY', 'Production', 'planted-second')
    await save(page)
    await value(page, 'SHOP_KEY', 'Production').waitFor()
    await pickTool(page, 'SHOP_KEY', 'Details of SHOP_KEY in Production')
    await dialogOf(page).getByText('when it was called API_KEY').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Reveal version 1' }).click()
    await dialogOf(page).getByText('planted-first', { exact: true }).waitFor()
    await dialogOf(page).getByRole('button', { name: 'Restore version 1' }).click()
    await dialogOf(page).getByText('restored from version 1').waitFor()
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'detached' })
    await expectShown(page, 'SHOP_KEY', 'Production', 'planted-first')
  })

  test('leaves out a protected environment, and says what to do there', async () => {
    await openEnvironment(page, 'Staging')
    await protect(page, { ownCounts: true })
    await page.getByRole('link', { name: 'Web shop' }).click()
    await openRename('SHOP_KEY')
    await dialogOf(page).getByText('Staging needs approvals, so nothing is renamed there.').waitFor()
    await dialogOf(page).getByLabel('New name').fill('STORE_KEY')
    await submit().click()
    await dialogOf(page).waitFor({ state: 'detached' })
    await row('STORE_KEY').getByText('1 missing').waitFor()
    await row('SHOP_KEY').getByText('1 missing').waitFor()
  })
})

test('no value has left the browser', async () => {
  expect(await leaks(world, { owner })).toEqual([])
})
