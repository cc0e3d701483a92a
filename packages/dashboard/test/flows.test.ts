import { beforeAll, describe, expect, test } from 'vitest'
import { dialogOf, edit, openColumnMenu, value } from './apps-steps.ts'
import { protect } from './changes-steps.ts'
import { countPresses } from './presses.ts'
import { leaks, openScene } from './scene.ts'
import * as steps from './steps.ts'

// The ways that people go every day, with the presses of a pointer that each needs. README.md of this package has the
// same figures; `invited.test.ts` counts the way of an invited person.

const { world, arrive } = await openScene()
const visitor = await arrive()
const { page } = visitor
await page.goto(world.server.setUpLink as string)
const total = await countPresses(page)
let before = 0

/** Returns the presses since the last call. */
const presses = () => {
  const count = total() - before
  before = total()
  return count
}

const longUrl = `postgres://planted@localhost/shop?options=${'long'.repeat(20)}`
const file = ['# the shop', `DATABASE_URL=${longUrl}`, 'LOG_LEVEL=debug', ''].join('\n')

/** Drops a file as a person does with the mouse from a folder. */
async function dropFile(text: string) {
  const data = await page.evaluateHandle((content) => {
    const transfer = new DataTransfer()
    transfer.items.add(new File([content], '.env', { type: 'text/plain' }))
    return transfer
  }, text)
  await page.locator('.drop').dispatchEvent('drop', { dataTransfer: data })
}

/** Holds the answers for Development back until the returned function is called. The other environments are made at once. */
async function holdDevelopment() {
  const made = Promise.withResolvers<void>()
  const loaded = Promise.withResolvers<void>()
  let development = ''
  await page.route(/\/apps\/[^/]+\/envs$/, async (route) => {
    if (route.request().postDataJSON()?.slug !== 'development') return route.continue()
    await made.promise
    const response = await route.fetch()
    development = (await response.json()).environment.id
    await route.fulfill({ response })
  })
  await page.route(/\/envs\/[^/]+\/secrets(\?|$)/, async (route) => {
    if (
      route
        .request()
        .url()
        .includes(development || 'none')
    )
      await loaded.promise
    await route.continue()
  })
  return { make: made.resolve, load: loaded.resolve }
}

test('the first ten minutes: from the link of the console to the first revealed secret in 5 presses', async () => {
  const { email, name, org, passphrase } = steps.person
  await page.getByLabel('Your e-mail').fill(email)
  await page.getByLabel('Your name').fill(name)
  await page.getByLabel('Organization').fill(org)
  await page.getByRole('button', { name: 'Set up' }).click()
  await page.getByLabel('Passphrase', { exact: true }).fill(passphrase)
  await page.getByLabel('Passphrase again').fill(passphrase)
  await page.getByRole('button', { name: 'Make the keyring' }).click()
  await page.getByLabel('Name').fill('Web shop')
  const development = await holdDevelopment()
  const shown = page.waitForResponse((answer) => /\/apps\/[^/]+$/.test(answer.url()) && answer.ok())
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await shown
  development.make()
  await page.getByText('Loading…').waitFor()
  development.load()
  await page.getByText('Drop a .env or JSON file here.').waitFor()
  await dropFile(file)
  await dialogOf(page).getByRole('button', { name: 'Store 2 secrets' }).click()
  await dialogOf(page).waitFor({ state: 'detached' })
  await page.getByText('The first secrets are stored').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByLabel('Find or do').fill('web shop')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Web shop', level: 1 }).waitFor()
  await value(page, 'LOG_LEVEL', 'Development').click()
  await page.locator('.matrix-shown', { hasText: 'debug' }).waitFor()
  expect(presses()).toBe(5)
})

test('a secret anywhere is found and opened without a press', async () => {
  await steps.goTo(page, 'Members')
  presses()
  await page.keyboard.press('Control+k')
  await page.getByLabel('Find or do').fill('database_u')
  await page.getByRole('dialog').getByRole('button', { name: 'DATABASE_URL' }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/apps/web-shop?secret=DATABASE_URL')
  await dialogOf(page).getByText('DATABASE_URL').first().waitFor()
  await page.keyboard.press('Escape')
  await dialogOf(page).waitFor({ state: 'detached' })
  expect(presses()).toBe(0)
})

test('a long value is edited in the drawer with 2 presses', async () => {
  presses()
  await edit(page, 'DATABASE_URL', 'Development', `${longUrl}&more`)
  await dialogOf(page).getByRole('button', { name: 'Save to Development' }).click()
  await page.getByLabel('Value of DATABASE_URL in Development').waitFor({ state: 'detached' })
  expect(presses()).toBe(2)
  await page.keyboard.press('Escape')
  await dialogOf(page).waitFor({ state: 'detached' })
})

test('the values of an environment are copied to another one with 5 presses, and taken back with 1', async () => {
  presses()
  await openColumnMenu(page, 'Development', 'Copy to another…')
  await dialogOf(page).getByRole('combobox', { name: 'Into' }).click()
  await page.getByRole('option', { name: 'Staging' }).click()
  await dialogOf(page).getByRole('button', { name: 'Copy 2 secrets' }).click()
  await value(page, 'LOG_LEVEL', 'Staging').waitFor()
  expect(presses()).toBe(5)
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('button', { name: 'Set LOG_LEVEL in Staging, which is missing' }).waitFor()
  expect(presses()).toBe(1)
})

describe('a change of a protected environment', () => {
  beforeAll(async () => {
    await openColumnMenu(page, 'Development', 'Access and settings')
    await protect(page, { ownCounts: true })
    await steps.goTo(page, 'Applications')
    await page.getByRole('link', { name: 'Web shop' }).click()
  })

  test('is proposed with 2 presses', async () => {
    presses()
    await edit(page, 'LOG_LEVEL', 'Development', 'warn')
    await page.getByRole('button', { name: 'Propose' }).click()
    await page
      .getByRole('row', { name: /LOG_LEVEL/ })
      .getByText('queued')
      .waitFor()
    expect(presses()).toBe(2)
  })

  test('is seen and approved with 4 presses', async () => {
    presses()
    await steps.goTo(page, 'Changes')
    await page.getByRole('link', { name: 'Change LOG_LEVEL' }).click()
    await page.getByRole('button', { name: 'Reveal values' }).click()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('applied', { exact: true }).waitFor()
    expect(presses()).toBe(4)
  })
})

test('no page sent or stored a value, or the passphrase', async () => {
  expect(await leaks(world, { visitor })).toEqual([])
  expect(visitor.complaints).toEqual([])
})
