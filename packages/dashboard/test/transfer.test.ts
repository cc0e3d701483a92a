import { secrets } from '@skerry/contract/secrets/endpoints'
import { describe, expect, test } from 'vitest'
import {
  addSecret,
  deleteFromDrawer,
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
import { leaks, openShop } from './scene.ts'
import * as steps from './steps.ts'

// Many values at once: a pasted file, and a copy of one environment into another. The dialogs show the changes before
// anything is stored.

const { world, owner, page } = await openShop('Production', 'Staging')
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

  test('is refused with the number of the invalid line, and the dialog keeps the text', async () => {
    const broken = 'NEW_ONE="planted-new"\nthis is nothing\nAPI_KEY=planted-api-key-of-staging\n'
    await openColumnMenu(page, 'Staging', 'Import a file…')
    await text().fill(broken)
    await dialogOf(page).getByText('Line 2: the line is neither NAME=value nor a comment').waitFor()
    await expect.poll(() => storing().isDisabled()).toBe(true)
    await expect.poll(() => text().inputValue()).toBe(broken)
  })

  test('is shown as a list of changes, and can be stored', async () => {
    await text().fill('NEW_ONE="planted-new"\nAPI_KEY=planted-api-key-of-staging\nDATABASE_URL=planted-staging\n')
    await dialogOf(page).getByText('2 added, 1 unchanged').waitFor()
    await store('Store 2 secrets')
    await expectShown(page, 'NEW_ONE', 'Staging', 'planted-new')
  })

  test('replaces only the values that the person chooses, and none by default', async () => {
    await openColumnMenu(page, 'Staging', 'Import a file…')
    await text().fill('NEW_ONE=planted-newer\nDATABASE_URL=planted-not-this\n')
    await dialogOf(page).getByText('2 changed').waitFor()
    await expect.poll(() => storing().isDisabled()).toBe(true)
    await dialogOf(page).getByLabel('Replace all 2 values that Staging has now').waitFor()
    await dialogOf(page).getByLabel('NEW_ONE', { exact: true }).check()
    await store('Store 1 secret')
    await expectShown(page, 'NEW_ONE', 'Staging', 'planted-newer')
    await expectShown(page, 'DATABASE_URL', 'Staging', 'planted-staging')
  })

  test('with a value above the limit has that name reported, and the rest is stored', async () => {
    await openColumnMenu(page, 'Staging', 'Import a file…')
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

describe('a dropped file', () => {
  /** Drops a file on the matrix. Its content is not on the page before. */
  const drop = async (name: string, content: string | number[], times = 1) => {
    const bytes = typeof content === 'string' ? [...Buffer.from(content)] : content
    const dataTransfer = await page.evaluateHandle(
      ({ name, bytes, times }) => {
        const data = new DataTransfer()
        const content = Array.from({ length: times }, () => new Uint8Array(bytes))
        data.items.add(new File(content, name))
        return data
      },
      { name, bytes, times },
    )
    await page.locator('.matrix').dispatchEvent('dragover', { dataTransfer })
    await page.getByText('Drop a .env or JSON file to store its values').waitFor()
    await page.locator('.matrix').dispatchEvent('drop', { dataTransfer })
    await page.getByText('Drop a .env or JSON file to store its values').waitFor({ state: 'detached' })
  }
  const dialog = () => page.getByRole('dialog', { name: 'Import secrets' })

  test('opens the dialog with its content, and is stored in the environment that the person chooses', async () => {
    await drop('.env', '\ufeffDROPPED="planted-dropped"\nFITS=planted-fits\n')
    await expect.poll(() => dialog().getByLabel('Text of the file').inputValue()).toContain('planted-dropped')
    await expect.poll(() => dialog().getByRole('button', { name: 'Store 0 secrets' }).isDisabled()).toBe(true)
    expect(await axeProblems(page)).toEqual([])
    const into = dialog().getByRole('combobox', { name: 'Into' })
    expect(await into.inputValue()).toBe('')
    await into.click()
    await page.getByRole('option', { name: 'Staging' }).click()
    await dialog().getByText('1 added, 1 unchanged').waitFor()
    await into.click()
    await page.getByRole('option', { name: 'Production' }).click()
    await dialog().getByText('2 added').waitFor()
    await into.click()
    await page.getByRole('option', { name: 'Staging' }).click()
    await dialog().getByText('1 added, 1 unchanged').waitFor()
    await store('Store 1 secret')
    await expectShown(page, 'DROPPED', 'Staging', 'planted-dropped')
  })

  test('can be a JSON object, whose mistakes are named by line', async () => {
    await drop('values.json', '{\n  "FROM_JSON": "planted-json\\nsecond line",\n  "NUMBER": 5\n}\n')
    await dialog().getByText('Line 3: the value of NUMBER is not a text: put it in quotes').waitFor()
    await dialog().getByRole('combobox', { name: 'Into' }).click()
    await page.getByRole('option', { name: 'Staging' }).click()
    await dialog().getByText('1 added').waitFor()
    const text = dialog().getByLabel('Text of the file')
    await text.fill((await text.inputValue()).replace('5', '"5"'))
    await dialog().getByText('2 added').waitFor()
    await store('Store 2 secrets')
    await expectShown(page, 'NUMBER', 'Staging', '5')
    await expectShown(page, 'FROM_JSON', 'Staging', 'planted-json ↵')
    const { orgId, envs } = await placeOf(world, owner.bearer(), 'web-shop')
    const params = { orgId, envId: envs.staging as string }
    for (const name of ['FROM_JSON', 'NUMBER'])
      await world.call(secrets.delete, { as: owner.bearer(), params: { ...params, name } })
    await value(page, 'NUMBER', 'Staging').waitFor({ state: 'detached' })
  })

  test('is forgotten when the dialog closes', async () => {
    await drop('.env', 'FORGOTTEN=planted-forgotten\n')
    await expect.poll(() => dialog().getByLabel('Text of the file').inputValue()).toContain('planted-forgotten')
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
    expect(await page.content()).not.toContain('planted-forgotten')
    await openColumnMenu(page, 'Staging', 'Import a file…')
    expect(await dialogOf(page).getByLabel('Text of the file').inputValue()).toBe('')
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'detached' })
  })

  test('that is too large or no text is refused, and the message says what to do', async () => {
    await drop('large.env', 'A=planted-large\n', 400_000)
    await told(page, 'The file is larger than 5 MB.')
    await drop('photo.png', [0x89, 0x50, 0x4e, 0x47, 0xff, 0xfe])
    await told(page, 'The file is not UTF-8 text.')
    await drop('binary', [65, 0, 66])
    await told(page, 'The file is not UTF-8 text.')
    await drop('values.yaml', 'A: planted\n')
    await told(page, 'Import YAML with `skerry secrets import`.')
    expect(await dialogOf(page).count()).toBe(0)
  })

  test('can also be chosen with the keyboard', async () => {
    await openColumnMenu(page, 'Staging', 'Import a file…')
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      dialogOf(page).getByRole('button', { name: 'Choose a file' }).press('Enter'),
    ])
    await chooser.setFiles({ name: '.env', mimeType: 'text/plain', buffer: Buffer.from('DROPPED=planted-chosen\n') })
    await dialogOf(page).getByText('1 changed').waitFor()
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'detached' })
    await pickTool(page, 'DROPPED', 'Details of DROPPED in Staging')
    await deleteFromDrawer(page, 'DROPPED')
  })
})

describe('an environment', () => {
  const copying = () => dialogOf(page).getByRole('button', { name: /^Copy \d/ })
  const begin = async () => {
    await openColumnMenu(page, 'Staging', 'Copy to another…')
    await dialogOf(page).getByRole('combobox', { name: 'Into' }).click()
    await page.getByRole('option', { name: 'Production' }).click()
  }

  test('is not copied until the person chooses a target', async () => {
    await openColumnMenu(page, 'Staging', 'Copy to another…')
    const into = dialogOf(page).getByRole('combobox', { name: 'Into' })
    expect(await into.inputValue()).toBe('')
    await expect.poll(() => copying().isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'detached' })
  })

  test('replaces no value by default, and both values of a name can be revealed', async () => {
    await begin()
    await dialogOf(page).getByText('2 added, 2 changed').waitFor()
    const chosen = (name: string) => dialogOf(page).getByLabel(name, { exact: true }).isChecked()
    expect([await chosen('NEW_ONE'), await chosen('FITS')]).toEqual([true, true])
    expect([await chosen('API_KEY'), await chosen('DATABASE_URL')]).toEqual([false, false])
    expect(await dialogOf(page).innerText()).not.toContain('planted')
    await dialogOf(page).getByRole('button', { name: 'Reveal both values of API_KEY' }).click()
    await dialogOf(page).getByLabel('Now').getByText('planted-api-key', { exact: true }).waitFor()
    await dialogOf(page).getByLabel('Afterwards').getByText('planted-api-key-of-staging').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Hide both values of API_KEY' }).click()
    expect(await axeProblems(page)).toEqual([])
  })

  test('is copied with the chosen values', async () => {
    await dialogOf(page).getByLabel('API_KEY', { exact: true }).check()
    await store('Copy 3 secrets')
    await page.getByText('3 secrets copied to Production.').first().waitFor()
    await expectShown(page, 'API_KEY', 'Production', 'planted-api-key-of-staging')
    await expectShown(page, 'NEW_ONE', 'Production', 'planted-newer')
    await expectShown(page, 'DATABASE_URL', 'Production', 'planted-postgres-production')
  })

  test('is restored by Undo, except for a name that was changed since', async () => {
    await edit(page, 'NEW_ONE', 'Production', 'planted-typed-since')
    await save(page)
    await value(page, 'NEW_ONE', 'Production').waitFor()
    await page.reload()
    await steps.unlockWithPassphrase(page)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page
      .getByText('Earlier value of 1 secret restored in Production. 1 secret deleted from Production. Not undone')
      .waitFor()
    await expectShown(page, 'API_KEY', 'Production', 'planted-api-key')
    await expectShown(page, 'NEW_ONE', 'Production', 'planted-typed-since')
    await page.getByRole('button', { name: 'Set FITS in Production, which is missing' }).waitFor()
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await page.getByText('Earlier value of 1 secret restored in Production.').waitFor({ state: 'detached' })
  })

  test('has nothing to copy if all values are equal', async () => {
    await begin()
    await dialogOf(page).getByLabel('Replace all 3 values that Production has now').check()
    await store('Copy 4 secrets')
    await begin()
    await dialogOf(page).getByText('4 unchanged').waitFor()
    await expect.poll(() => copying().isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'detached' })
  })
})

test('a single secret can be copied from its drawer', async () => {
  await edit(page, 'DATABASE_URL', 'Production', 'planted-postgres-production')
  await save(page)
  await value(page, 'DATABASE_URL', 'Production').waitFor()
  await pickTool(page, 'DATABASE_URL', 'Details of DATABASE_URL in Production')
  await dialogOf(page).getByRole('button', { name: 'Copy to another environment…' }).click()
  const copying = page.getByRole('dialog', { name: 'Copy DATABASE_URL of Production' })
  await copying.getByRole('combobox', { name: 'Into' }).click()
  await page.getByRole('option', { name: 'Staging' }).click()
  await copying.getByText('1 changed').waitFor()
  await copying.getByLabel('DATABASE_URL', { exact: true }).check()
  await copying.getByRole('button', { name: 'Copy 1 secret' }).click()
  await copying.waitFor({ state: 'detached' })
  await page.keyboard.press('Escape')
  await dialogOf(page).waitFor({ state: 'detached' })
  await expectShown(page, 'DATABASE_URL', 'Staging', 'planted-postgres-production')
})

test('the page neither sent nor stored a secret value', async () => {
  expect(await leaks(world, { owner })).toEqual([])
})

test('the page caused no console warnings and no Content-Security-Policy violations', () => {
  expect(owner.complaints).toEqual([])
})
