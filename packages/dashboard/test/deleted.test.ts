import { secrets } from '@skerry/contract/secrets/endpoints'
import { importDek, newDek, sealSecret } from '@skerry/crypto/secret'
import type { Locator } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import {
  addSecret,
  deleteFromDrawer,
  dialogOf,
  edit,
  expectShown,
  pickTool,
  placeOf,
  save,
  value,
} from './apps-steps.ts'
import { told } from './browser.ts'
import { openChange } from './changes-steps.ts'
import { axeProblems, protect } from './org-steps.ts'
import { leaks, openShop } from './scene.ts'
import * as steps from './steps.ts'

// Deleted secrets are kept for 30 days. The toast after a deletion restores them, and so does the list of the application.

const { world, owner, page } = await openShop('Production', 'Staging')
await addSecret(page, 'API_KEY', 'planted-api-key', ['Production', 'Staging'])
await addSecret(page, 'OLD_KEY', 'planted-old-key', ['Staging'])
await edit(page, 'OLD_KEY', 'Staging', 'planted-newer-key')
await save(page)
await value(page, 'OLD_KEY', 'Staging').waitFor()
const { orgId, envs } = await placeOf(world, owner.bearer(), 'web-shop')
const production = { orgId, envId: envs.production as string }
const staging = { orgId, envId: envs.staging as string }

const list = () => page.getByRole('dialog', { name: 'Deleted secrets' })
const listed = (name: string): Locator => list().getByRole('row', { name })
const openList = async () => {
  await page.getByRole('button', { name: 'Deleted', exact: true }).click()
  await list().waitFor()
}
const closeList = async () => {
  await page.keyboard.press('Escape')
  await list().waitFor({ state: 'detached' })
}
const remove = async (name: string, environment: string) => {
  await pickTool(page, name, `Details of ${name} in ${environment}`)
  await deleteFromDrawer(page, name)
  await told(page, `Deleted ${name} from ${environment}.`)
}
const undo = () => page.locator('.mantine-Notification-root').getByRole('button', { name: 'Undo' }).last()

describe('a deleted secret', () => {
  test('is back with its history after Undo in the toast', async () => {
    await remove('OLD_KEY', 'Staging')
    await value(page, 'OLD_KEY', 'Staging').waitFor({ state: 'detached' })
    await undo().click()
    await told(page, 'Restored OLD_KEY in Staging.')
    await expectShown(page, 'OLD_KEY', 'Staging', 'planted-newer-key')
    const { body } = await world.call(secrets.versions, {
      as: owner.bearer(),
      params: { ...staging, name: 'OLD_KEY' },
    })
    expect(body.versions.map(({ version }) => version)).toEqual([3, 2, 1])
  })

  test('is listed with its environment, its version, the person and the last day', async () => {
    await remove('OLD_KEY', 'Staging')
    await openList()
    await listed('OLD_KEY').waitFor()
    const cells = await listed('OLD_KEY').getByRole('cell').allInnerTexts()
    expect(cells.slice(0, 3)).toEqual(['OLD_KEY', 'Staging', '3'])
    expect(cells[3]).toMatch(/^(just now|in a moment) by .*\S/)
    const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium' })
    expect(cells[4]).toBe(day.format(new Date(world.clock.now().getTime() + 30 * 86_400_000)))
    expect(await list().innerText()).not.toContain('planted')
    expect(await axeProblems(page)).toEqual([])
  })

  test('can be restored from the list with the keyboard', async () => {
    await list().getByRole('button', { name: 'Restore OLD_KEY in Staging' }).press('Enter')
    await told(page, 'Restored OLD_KEY in Staging.')
    await list().getByText('No deleted secret').waitFor()
    await closeList()
    await expectShown(page, 'OLD_KEY', 'Staging', 'planted-newer-key')
  })

  test('is not restored while a secret has its name again, and the refusal says what to do', async () => {
    await remove('OLD_KEY', 'Staging')
    await addSecret(page, 'OLD_KEY', 'planted-another', ['Staging'])
    await openList()
    await list().getByRole('button', { name: 'Restore OLD_KEY in Staging' }).click()
    await list().getByText('Staging has a secret OLD_KEY again. Delete it there, then restore this one').waitFor()
    expect(await axeProblems(page)).toEqual([])
    await closeList()
    await expectShown(page, 'OLD_KEY', 'Staging', 'planted-another')
  })

  test('is not shown by name if the key does not open it', async () => {
    const ciphertext = await sealSecret('planted-elsewhere', await importDek(newDek()), staging.envId, 'INVENTED')
    const params = { ...staging, name: 'INVENTED' }
    await world.call(secrets.put, { as: owner.bearer(), params, body: { ciphertext } })
    await world.call(secrets.delete, { as: owner.bearer(), params, query: { keepFor: '30d' } })
    await openList()
    await listed('OLD_KEY').waitFor()
    await list().getByText('your key does not decrypt it').waitFor()
    expect(await list().innerText()).not.toContain('INVENTED')
    await closeList()
  })

  test('is shown by name only while the keyring is unlocked', async () => {
    await steps.lock(page)
    await openList()
    await list().getByText('Unlock it to see the names').waitFor()
    expect(await list().innerText()).not.toContain('OLD_KEY')
    await list().getByRole('button', { name: 'Unlock' }).click()
    const asked = page.getByRole('dialog', { name: 'Unlock your keyring' })
    await asked.getByLabel('Passphrase', { exact: true }).fill(steps.person.passphrase)
    await asked.getByRole('button', { name: 'Unlock', exact: true }).click()
    await listed('OLD_KEY').waitFor()
    await closeList()
  })

  test('fits on a phone', async () => {
    await page.setViewportSize({ width: 360, height: 740 })
    await openList()
    await listed('OLD_KEY').waitFor()
    expect(await list().evaluate((element) => element.scrollWidth - element.clientWidth)).toBeLessThanOrEqual(0)
    expect(await axeProblems(page)).toEqual([])
    await closeList()
    await page.setViewportSize({ width: 1280, height: 800 })
  })

  test('waits for approval before it returns to a protected environment', async () => {
    await remove('API_KEY', 'Production')
    await protect(world, owner.bearer(), production as Parameters<typeof protect>[2])
    await page.reload()
    await steps.unlockWithPassphrase(page)
    await openList()
    await list().getByLabel('Reason').fill('it is needed again')
    await list().getByRole('button', { name: 'Propose to restore API_KEY in Production' }).click()
    await told(page, 'Restoring API_KEY in Production waits for approval.')
    await closeList()
    await page
      .getByRole('row', { name: /API_KEY/ })
      .getByText('queued', { exact: true })
      .waitFor()
    await openChange(page, 'Restore the deleted secret API_KEY')
    await page.getByText('The secret does not exist yet.').waitFor()
  })
})

test('the page neither sent nor stored a secret value', async () => {
  expect(await leaks(world, { owner })).toEqual([])
  expect(await dialogOf(page).count()).toBe(0)
})

test('the page caused no console warnings and no Content-Security-Policy violations', () => {
  expect(owner.complaints).toEqual([])
})
