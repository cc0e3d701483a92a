import { secrets } from '@skerry/contract/secrets/endpoints'
import type { Route } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import {
  addSecret,
  dialogOf,
  edit,
  expectShown,
  openEnvironment,
  pickTool,
  placeOf,
  save,
  value,
} from './apps-steps.ts'
import { lookAgain, openChange, protect } from './changes-steps.ts'
import { leaks, openShop } from './scene.ts'
import { goTo } from './steps.ts'

// A secret is renamed in all environments that store it, and its history opens under the former name.

const { world, owner, page } = await openShop('Production', 'Staging')
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

async function hideFormerNames(route: Route) {
  const response = await route.fetch()
  await route.fulfill({ response, json: { ...(await response.json()), formerNames: null } })
}

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
    await edit(page, 'SHOP_KEY', 'Staging', 'planted-third')
    await save(page)
    await value(page, 'SHOP_KEY', 'Staging').waitFor()
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

describe('a proposed restore of a version from before a rename', () => {
  test('cannot be approved if the proposer encrypted another value', async () => {
    const { orgId, envs } = await placeOf(world, owner.bearer(), 'web-shop')
    const params = { orgId, envId: envs.staging as string, name: 'SHOP_KEY' }
    const { body } = await world.call(secrets.versions, { as: owner.bearer(), params })
    const ciphertext = body.versions[0]?.ciphertext as string
    await world.call(secrets.restore, { as: owner.bearer(), params, body: { version: 1, ciphertext } })
    await openChange(page, /SHOP_KEY/)
    await page.getByText('The proposed value is not that of version 1').waitFor()
    expect(await page.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true)
  })

  test('asks once more before it is approved if nothing proves the version', async () => {
    await page.route('**/secrets/SHOP_KEY/versions*', hideFormerNames)
    await lookAgain(page)
    const approve = () => page.getByRole('button', { name: 'Approve without a comparison' })
    await approve().click()
    await dialogOf(page).getByText('The proposer may have encrypted another value.').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Do not approve' }).click()
    await dialogOf(page).waitFor({ state: 'detached' })
    expect(await approve().isEnabled()).toBe(true)
    await approve().click()
    await dialogOf(page).getByRole('button', { name: 'Approve without a comparison' }).click()
    await dialogOf(page).waitFor({ state: 'detached' })
    await approve().waitFor({ state: 'detached' })
    await page.unrouteAll({ behavior: 'wait' })
    const { orgId, envs } = await placeOf(world, owner.bearer(), 'web-shop')
    const params = { orgId, envId: envs.staging as string, name: 'SHOP_KEY' }
    const { body } = await world.call(secrets.versions, { as: owner.bearer(), params })
    expect(body.versions[0]).toMatchObject({ version: 4 })
  })
})

describe('the history of a renamed secret', () => {
  test('names the versions that nothing proves, if the record of former names is wrong', async () => {
    await goTo(page, 'Applications')
    await page.getByRole('link', { name: 'Web shop' }).click()
    await page.route('**/secrets/STORE_KEY/versions*', hideFormerNames)
    await pickTool(page, 'STORE_KEY', 'Details of STORE_KEY in Production')
    await dialogOf(page).getByText('Nothing proves that this is a version of STORE_KEY').first().waitFor()
    await dialogOf(page).getByRole('button', { name: 'Reveal version 1' }).click()
    await dialogOf(page).getByText('sealed under an earlier key, or altered').waitFor()
    expect(await dialogOf(page).getByRole('button', { name: 'Restore version 1' }).isDisabled()).toBe(true)
    await page.unrouteAll({ behavior: 'wait' })
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'detached' })
  })
})

test('no value has left the browser', async () => {
  expect(await leaks(world, { owner })).toEqual([])
})
