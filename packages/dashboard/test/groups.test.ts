import { describe, expect, test } from 'vitest'
import {
  addSecret,
  compose,
  create,
  createApp,
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
} from './apps-journey.ts'
import * as journey from './journey.ts'
import { axeProblems } from './org-journey.ts'
import { beginWalk, leaks } from './walk.ts'

// Groups: a matrix of their own, and what they give where they are composed in.

const { world, owner, page } = await beginWalk()
await createApp(page, 'Web shop')
await create(page, 'New environment', 'Production')
await addSecret(page, 'API_KEY', 'planted-of-the-shop', ['Production'])

const row = (name: string) => page.getByRole('row', { name: new RegExp(name) })

async function makeGroup(name: string) {
  await journey.goTo(page, 'Groups')
  await create(page, 'New group', name)
  await page.getByRole('heading', { name, level: 1 }).waitFor()
}

describe('a group', () => {
  test('takes several secrets in several environments, which are edited there', async () => {
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

  test('takes a pasted file', async () => {
    await openColumnMenu(page, 'Staging', 'Paste .env…')
    await dialogOf(page)
      .getByLabel('Text of the file')
      .fill('MAIL_HOST=planted-host-of-staging\nMAIL_KEY=planted-mail-of-staging\nMAIL_PORT=25\n')
    await dialogOf(page).getByText('2 added, 1 unchanged').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Store 2 secrets' }).click()
    await dialogOf(page).waitFor({ state: 'hidden' })
    await expectShown(page, 'MAIL_HOST', 'Staging', 'planted-host-of-staging')
  })

  test('has a history, out of which a version is shown and restored', async () => {
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

  test('loses a secret for good when that is confirmed, and keeps it when not', async () => {
    await pickTool(page, 'MAIL_PORT', 'Details of MAIL_PORT in Staging')
    await dialogOf(page).getByRole('button', { name: 'Delete…' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('dialog', { name: 'Delete MAIL_PORT' }).waitFor({ state: 'detached' })
    await deleteFromDrawer(page, 'MAIL_PORT')
    await row('MAIL_PORT').waitFor({ state: 'detached' })
  })
})

describe('what a group gives', () => {
  test('is marked with the group where it is composed in', async () => {
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

  test('is overridden for one application, and comes back when that is deleted', async () => {
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

  test('is part of what references expand to', async () => {
    await addSecret(page, 'URL', 'planted://${MAIL_KEY}@${MAIL_HOST}', ['Production'])
    await pickTool(page, 'URL', 'Details of URL in Production')
    await dialogOf(page).getByRole('switch', { name: 'Expand' }).click()
    await dialogOf(page).getByRole('button', { name: 'Show what programs get' }).click()
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
  /** What a screen reader is told: it is said when the page has taken in where things are. */
  const said = (text: string) => page.getByRole('status').getByText(text).waitFor()
  /** A list in which something is picked up begins to take keys in a timer. It was set earlier than this one, and fires earlier. */
  const takesKeys = () => page.evaluate(() => new Promise((resolve) => setTimeout(resolve)))

  async function take(name: string, over: string) {
    // What is still being loaded above would move the list away from under the mouse.
    await expect.poll(() => page.getByRole('main').locator('[aria-busy=true]').count()).toBe(0)
    await handle(name).hover()
    await page.mouse.down()
    const to = await handle(over).boundingBox()
    if (!to) throw new Error('a handle is out of sight')
    await page.mouse.move(to.x + to.width / 2, to.y + to.height / 2, { steps: 12 })
  }

  /** For a moment after a drag, a click is kept from the page, so that letting go clicks nothing: a link would load it anew. */
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

  test('is changed with the mouse, and decides which value counts', async () => {
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

  test('stays when a drag is given up', async () => {
    await openEnvironment(page, 'Production', 'Composition')
    await expectOrder('Shared', 'Company')
    await take('Company', 'Shared')
    await said('Company is at place 1 of 2.')
    await page.keyboard.press('Escape')
    await said('Company stays where it was.')
    await drop()
    await expectOrder('Shared', 'Company')
  })

  test('is changed with the keyboard, and kept', async () => {
    await handle('Shared').focus()
    await page.keyboard.press('Space')
    await said('Shared is at place 1 of 2.')
    await takesKeys()
    await page.keyboard.press('ArrowDown')
    await said('Shared is at place 2 of 2.')
    await page.keyboard.press('Space')
    await expectOrder('Company', 'Shared')
    expect(await axeProblems(page)).toEqual([])
    // Stored: what is on its way when one leaves may not arrive.
    await expect.poll(() => handle('Company').getAttribute('aria-disabled')).toBe('false')
    await page.reload()
    await expectOrder('Company', 'Shared')
  })

  test('is stored before another one can be made', async () => {
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

  test('loses a group that is taken out, and with it what it gave', async () => {
    await page.getByRole('button', { name: 'Take Shared out' }).click()
    await expectOrder('Company')
    await page.getByRole('link', { name: 'Web shop' }).click()
    await row('MAIL_KEY').getByTitle('from company').waitFor()
    await expect.poll(() => row('MAIL_HOST').count()).toBe(0)
    await journey.unlockWithPassphrase(page)
    await value(page, 'API_KEY', 'Production').waitFor()
  })
})

test('no value was sent or kept', async () => {
  expect(await leaks(world, { owner })).toEqual([])
})

test('nothing was complained about by the console or the Content-Security-Policy', () => {
  expect(owner.complaints).toEqual([])
})
