import { describe, expect, test } from 'vitest'
import {
  addSecret,
  compose,
  create,
  deleteFromDrawer,
  dialogOf,
  edit,
  expectShown,
  openApp,
  openColumnMenu,
  openEnvironment,
  pickTool,
  save,
  value,
} from './apps-steps.ts'
import { axeProblems } from './org-steps.ts'
import { leaks, openShop } from './scene.ts'
import * as steps from './steps.ts'

// Groups: their own matrix, and the values that they give to environments.

const { world, owner, page } = await openShop('Production')
await addSecret(page, 'API_KEY', 'planted-of-the-shop', ['Production'])

const row = (name: string) => page.getByRole('row', { name: new RegExp(name) })

async function makeGroup(name: string) {
  await steps.goTo(page, 'Groups')
  await create(page, 'New group', name)
  await page.getByRole('heading', { name, level: 1 }).waitFor()
}

describe('a group', () => {
  test('stores several secrets in several environments, which can be edited there', async () => {
    await makeGroup('Shared')
    await create(page, 'New environment', 'Production')
    await page.getByText('No secret yet').waitFor()
    await create(page, 'New environment', 'Staging')
    await addSecret(page, 'MAIL_KEY', 'planted-mail', ['Production', 'Staging'])
    await addSecret(page, 'MAIL_HOST', 'planted-host', ['Production'])
    await row('MAIL_KEY').getByText('same').waitFor()
    await row('MAIL_HOST').getByText('1 missing').waitFor()
    await edit(page, 'MAIL_KEY', 'Staging', 'planted-mail-of-staging')
    await save(page)
    await expectShown(page, 'MAIL_KEY', 'Staging', 'planted-mail-of-staging')
  })

  test('accepts a pasted .env file', async () => {
    await openColumnMenu(page, 'Staging', 'Import a file…')
    await dialogOf(page)
      .getByLabel('Text of the file')
      .fill('MAIL_HOST=planted-host-of-staging\nMAIL_KEY=planted-mail-of-staging\nMAIL_PORT=25\n')
    await dialogOf(page).getByText('2 added, 1 unchanged').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Store 2 secrets' }).click()
    await dialogOf(page).waitFor({ state: 'hidden' })
    await expectShown(page, 'MAIL_HOST', 'Staging', 'planted-host-of-staging')
  })

  test('has a history, from which a version can be revealed and restored', async () => {
    await pickTool(page, 'MAIL_KEY', 'Details of MAIL_KEY in Staging')
    await dialogOf(page).getByRole('button', { name: 'Reveal version 1' }).click()
    await dialogOf(page).getByText('planted-mail', { exact: true }).waitFor()
    await dialogOf(page).getByRole('button', { name: 'Restore' }).click()
    await dialogOf(page).getByText('restored from version 1').waitFor()
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'detached' })
    await expectShown(page, 'MAIL_KEY', 'Staging', 'planted-mail')
    await row('MAIL_KEY').getByText('same').waitFor()
  })

  test('loses a secret only after a confirmation', async () => {
    await pickTool(page, 'MAIL_PORT', 'Details of MAIL_PORT in Staging')
    await dialogOf(page).getByRole('button', { name: 'Delete…' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog', { name: 'Delete MAIL_PORT' }).waitFor({ state: 'detached' })
    await deleteFromDrawer(page, 'MAIL_PORT')
    await row('MAIL_PORT').waitFor({ state: 'detached' })
  })
})

describe('a secret of a group', () => {
  test('is marked with its group in an environment that composes the group', async () => {
    await makeGroup('Company')
    await create(page, 'New environment', 'Production')
    await addSecret(page, 'MAIL_KEY', 'planted-mail-of-the-company', ['Production'])
    await openApp(page, 'Web shop')
    await openEnvironment(page, 'Production', 'Composition')
    for (const name of ['Company', 'Shared']) await compose(page, name)
    await page.getByRole('link', { name: 'Web shop' }).click()
    await row('MAIL_KEY').getByTitle('from shared').waitFor()
    await row('MAIL_HOST').getByTitle('from shared').waitFor()
    await expect.poll(() => row('API_KEY').getByTitle(/^from/).count()).toBe(0)
    await expectShown(page, 'MAIL_KEY', 'Production', 'planted-mail')
  })

  test('can be overridden in one application, and returns when the override is deleted', async () => {
    await pickTool(page, 'MAIL_HOST', 'Details of MAIL_HOST in Production')
    await dialogOf(page).getByText('This value comes from shared').waitFor()
    await expect.poll(() => dialogOf(page).getByRole('button', { name: 'Delete…' }).count()).toBe(0)
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'detached' })
    await edit(page, 'MAIL_HOST', 'Production', 'planted-host-of-the-shop')
    await save(page)
    await row('MAIL_HOST').getByTitle('from shared').waitFor({ state: 'detached' })
    await expectShown(page, 'MAIL_HOST', 'Production', 'planted-host-of-the-shop')
    await pickTool(page, 'MAIL_HOST', 'Details of MAIL_HOST in Production')
    await deleteFromDrawer(page, 'MAIL_HOST')
    await row('MAIL_HOST').getByTitle('from shared').waitFor()
    await expectShown(page, 'MAIL_HOST', 'Production', 'planted-host')
  })

  test('is used when references are expanded', async () => {
    await addSecret(page, 'URL', 'planted://${MAIL_KEY}@${MAIL_HOST}', ['Production'])
    await pickTool(page, 'URL', 'Details of URL in Production')
    await dialogOf(page).getByRole('switch', { name: 'Expand' }).click()
    await dialogOf(page).getByRole('button', { name: 'Show the expanded value' }).click()
    await dialogOf(page).getByText('planted://planted-mail@planted-host', { exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'detached' })
  })
})

describe('the order of groups', () => {
  const handle = (name: string) => page.getByRole('button', { name: `Move ${name}` })
  const order = () =>
    page
      .getByRole('list', { name: /Groups, lowest/ })
      .getByRole('listitem')
      .allInnerTexts()
  const expectOrder = (...names: string[]) =>
    expect.poll(order).toEqual(names.map((name) => expect.stringContaining(name)))
  /** Waits for an announcement to screen readers. It comes after the page has measured the positions. */
  const said = (text: string) => page.getByRole('status').getByText(text).waitFor()
  /**
   * After an item is picked up, the list starts to listen for keys in a timer. That timer was set before this one, and
   * fires before it.
   */
  const takesKeys = () => page.evaluate(() => new Promise((resolve) => setTimeout(resolve)))

  async function take(name: string, over: string) {
    // Content that is still loading above would move the list away from under the mouse.
    await expect.poll(() => page.getByRole('main').locator('[aria-busy=true]').count()).toBe(0)
    await handle(name).hover()
    await page.mouse.down()
    const to = await handle(over).boundingBox()
    if (!to) throw new Error('a handle is out of sight')
    await page.mouse.move(to.x + to.width / 2, to.y + to.height / 2, { steps: 12 })
  }

  /**
   * Ends a drag. For a moment afterwards the page ignores clicks, so that releasing the mouse clicks nothing. A link
   * clicked too early would reload the page.
   */
  async function drop() {
    await page.mouse.up()
    const isClickHeard = () => {
      let isHeard = false
      const hear = () => {
        isHeard = true
      }
      addEventListener('click', hear, { once: true })
      document.body.click()
      return isHeard
    }
    await expect.poll(() => page.evaluate(isClickHeard)).toBe(true)
  }

  test('can be changed with the mouse, and decides which value applies', async () => {
    await openEnvironment(page, 'Production', 'Composition')
    await expectOrder('Company', 'Shared')
    await take('Company', 'Shared')
    await said('Company is at place 2 of 2.')
    await drop()
    await expectOrder('Shared', 'Company')
    await expect.poll(() => handle('Company').getAttribute('aria-disabled')).toBe('false')
    await page.getByRole('link', { name: 'Web shop' }).click()
    await row('MAIL_KEY').getByTitle('from company').waitFor()
    await expectShown(page, 'MAIL_KEY', 'Production', 'planted-mail-of-the-company')
  })

  test('stays the same if a drag is cancelled', async () => {
    await openEnvironment(page, 'Production', 'Composition')
    await expectOrder('Shared', 'Company')
    await take('Company', 'Shared')
    await said('Company is at place 1 of 2.')
    await page.keyboard.press('Escape')
    await said('Company stays where it was.')
    await drop()
    await expectOrder('Shared', 'Company')
  })

  test('can be changed with the keyboard, and is stored', async () => {
    await handle('Shared').focus()
    await page.keyboard.press('Space')
    await said('Shared is at place 1 of 2.')
    await takesKeys()
    await page.keyboard.press('ArrowDown')
    await said('Shared is at place 2 of 2.')
    await page.keyboard.press('Space')
    await expectOrder('Company', 'Shared')
    expect(await axeProblems(page)).toEqual([])
    // Waits until the order is stored, because a reload may cancel a running request.
    await expect.poll(() => handle('Company').getAttribute('aria-disabled')).toBe('false')
    await page.reload()
    await expectOrder('Company', 'Shared')
  })

  test('must be stored before the person can change it again', async () => {
    let store = () => {}
    const stored = new Promise<void>((resolve) => {
      store = resolve
    })
    await page.route(/\/envs\/\w+\/groups$/, async (route) => {
      if (route.request().method() === 'POST') await stored
      await route.continue()
    })
    await take('Company', 'Shared')
    await said('Company is at place 2 of 2.')
    await drop()
    await expect.poll(() => handle('Company').getAttribute('aria-disabled')).toBe('true')
    await take('Company', 'Shared')
    await drop()
    await expectOrder('Shared', 'Company')
    store()
    await expect.poll(() => handle('Company').getAttribute('aria-disabled')).toBe('false')
    await page.unrouteAll({ behavior: 'wait' })
    await page.reload()
    await expectOrder('Shared', 'Company')
  })

  test('no longer contains a removed group, and its values disappear', async () => {
    await page.getByRole('button', { name: 'Take Shared out' }).click()
    await expectOrder('Company')
    await page.getByRole('link', { name: 'Web shop' }).click()
    await row('MAIL_KEY').getByTitle('from company').waitFor()
    await expect.poll(() => row('MAIL_HOST').count()).toBe(0)
    await steps.unlockWithPassphrase(page)
    await value(page, 'API_KEY', 'Production').waitFor()
  })
})

test('the page neither sent nor stored a secret value', async () => {
  expect(await leaks(world, { owner })).toEqual([])
})

test('the page caused no console warnings and no Content-Security-Policy violations', () => {
  expect(owner.complaints).toEqual([])
})
