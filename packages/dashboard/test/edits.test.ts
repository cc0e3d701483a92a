import { secrets } from '@skerry/contract/secrets/endpoints'
import type { Page, Route } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  addSecret,
  create,
  createApp,
  deleteFromDrawer,
  dialogOf,
  edit,
  expectShown,
  grantKey,
  openApp,
  openColumnMenu,
  openEnvironment,
  pickTool,
  placeOf,
  save,
  value,
} from './apps-steps.ts'
import type { Visitor } from './browser.ts'
import { axeProblems } from './org-steps.ts'
import { join, leaks, openOwner } from './scene.ts'
import * as steps from './steps.ts'

// Events that can happen between typing a value and storing it.

const grace = 'grace@example.com'

const walk = await openOwner()
const { world, owner, page } = walk
await createApp(page, 'Web shop')
await create(page, 'New environment', 'Production')
await create(page, 'New environment', 'Staging')
await addSecret(page, 'API_KEY', 'planted-api-key', ['Production', 'Staging'])
await addSecret(page, 'NEW_ONE', 'planted-new', ['Production'])

describe('two people who edit the same secret at once', () => {
  let second: Visitor

  beforeAll(async () => {
    second = await join(walk, grace)
    // After a reload, the page shows the new member and their key.
    await openEnvironment(page, 'Staging')
    await page.reload()
    await steps.unlockWithPassphrase(page)
    await grantKey(page, grace)
    await openApp(page, 'Web shop')
    await openApp(second.page, 'Web shop')
  })

  test('do not get a comparison of cells that they cannot read', async () => {
    const row = second.page.getByRole('row', { name: /API_KEY/ })
    await row.getByText('no key').waitFor()
    await row.getByText('1 unreadable').waitFor()
    expect(await row.getByText('same').count()).toBe(0)
    await second.page.getByText('1 secret, 1 cell unreadable').waitFor()
    await second.page.getByLabel('Show').getByText('Same').click()
    await second.page.getByText('Nothing matches.').waitFor()
    await second.page.getByLabel('Show').getByText('All').click()
    await page
      .getByRole('row', { name: /API_KEY/ })
      .getByText('same')
      .waitFor()
  })

  /** The second person stores a value while the first one is typing. */
  async function storeElsewhere(text: string) {
    await edit(second.page, 'API_KEY', 'Staging', text)
    await save(second.page)
    await value(second.page, 'API_KEY', 'Staging').waitFor()
  }

  const compare = async (at: Page, mine: string, theirs: string) => {
    await at.getByRole('button', { name: 'Compare' }).click()
    await dialogOf(at).getByLabel('Mine').getByText(mine, { exact: true }).waitFor()
    await dialogOf(at).getByLabel('Theirs').getByText(theirs, { exact: true }).waitFor()
  }

  test('see both values, and the slower one can take the other’s', async () => {
    await edit(page, 'API_KEY', 'Staging', 'planted-of-ada')
    await storeElsewhere('planted-of-grace')
    await save(page)
    await compare(page, 'planted-of-ada', 'planted-of-grace')
    await dialogOf(page).getByRole('button', { name: 'Take theirs' }).click()
    await expectShown(page, 'API_KEY', 'Staging', 'planted-of-grace')
  })

  test('can each keep their own value, and the other one then sees the same choice', async () => {
    await edit(page, 'API_KEY', 'Staging', 'planted-of-ada-again')
    await edit(second.page, 'API_KEY', 'Staging', 'planted-of-grace-too')
    await save(page)
    await value(page, 'API_KEY', 'Staging').waitFor()
    await save(second.page)
    await compare(second.page, 'planted-of-grace-too', 'planted-of-ada-again')
    await dialogOf(second.page).getByRole('button', { name: 'Keep mine' }).click()
    await expectShown(second.page, 'API_KEY', 'Staging', 'planted-of-grace-too')
  })

  test('lose nothing if they close the comparison without a decision', async () => {
    await edit(page, 'API_KEY', 'Staging', 'planted-undecided')
    await storeElsewhere('planted-of-grace-last')
    await save(page)
    await compare(page, 'planted-undecided', 'planted-of-grace-last')
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'detached' })
    await expect.poll(() => page.getByLabel('Value of API_KEY in Staging').inputValue()).toBe('planted-undecided')
    await page.getByRole('button', { name: 'Compare' }).click()
    await dialogOf(page).getByRole('button', { name: 'Keep mine' }).click()
    await expectShown(page, 'API_KEY', 'Staging', 'planted-undecided')
  })

  test('see the new value in place of a revealed value that was replaced', async () => {
    const shown = value(second.page, 'API_KEY', 'Staging')
    await shown.click()
    await expect.poll(() => shown.innerText()).toBe('planted-undecided')
    await edit(page, 'API_KEY', 'Staging', 'planted-replaced')
    await save(page)
    await expect.poll(() => shown.innerText()).toBe('planted-replaced')
    await shown.click()
    await expect.poll(() => shown.getAttribute('aria-pressed')).toBe('false')
  })

  test('get no conflict if they store the same value', async () => {
    await second.page.reload()
    await steps.unlockWithPassphrase(second.page)
    await edit(page, 'API_KEY', 'Staging', 'planted-the-same')
    await storeElsewhere('planted-the-same')
    await save(page)
    await expectShown(page, 'API_KEY', 'Staging', 'planted-the-same')
  })

  test('are told if the other one has created the same secret, and keep the typed value', async () => {
    await page.getByRole('button', { name: 'Add secret' }).click()
    const dialog = dialogOf(page)
    await dialog.getByLabel('Name').fill('FRESH')
    await dialog.getByLabel('Value').fill('planted-fresh-of-ada')
    await dialog.getByRole('checkbox', { name: 'Production' }).uncheck()
    await dialog.getByRole('checkbox', { name: 'Staging' }).check()
    // The page learns of the other secret only after it was refused.
    const { promise: refused, resolve: refuse } = Promise.withResolvers<void>()
    const isList = /\/envs\/[^/]+\/secrets(\?|$)/
    await page.route(isList, (route) => refused.then(() => route.continue()))
    await addSecret(second.page, 'FRESH', 'planted-fresh-of-grace', [])
    const answer = page.waitForResponse((response) => response.status() === 409)
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await answer
    refuse()
    await dialog.getByText('Staging already has a secret').waitFor()
    await page.unroute(isList)
    expect(await dialog.getByLabel('Value').inputValue()).toBe('planted-fresh-of-ada')
    await page.keyboard.press('Escape')
    await expectShown(page, 'FRESH', 'Staging', 'planted-fresh-of-grace')
  })

  test('are told if the other one has deleted the secret, and can leave it deleted or store it again', async () => {
    for (const choice of ['Keep mine', 'Leave it deleted']) {
      await second.page.reload()
      await steps.unlockWithPassphrase(second.page)
      await edit(page, 'API_KEY', 'Staging', `planted, ${choice}`)
      await pickTool(second.page, 'API_KEY', 'Details of API_KEY in Staging')
      await deleteFromDrawer(second.page, 'API_KEY')
      await save(page)
      await page.getByRole('button', { name: 'Compare' }).click()
      await dialogOf(page).getByText('Someone deleted it from Staging').waitFor()
      await dialogOf(page).getByRole('button', { name: choice }).click()
      if (choice === 'Keep mine') await expectShown(page, 'API_KEY', 'Staging', `planted, ${choice}`)
    }
    await page.getByRole('button', { name: 'Set API_KEY in Staging, which is missing' }).waitFor()
  })

  test('leave no secret value in requests or storage, and no warning in the console', async () => {
    expect(await leaks(world, { second })).toEqual([])
    expect(second.complaints).toEqual([])
  })
})

describe('a lost connection', () => {
  test('keeps the edit, shows that it is unsaved, and lets the person store it later', async () => {
    await edit(page, 'API_KEY', 'Production', 'planted-kept')
    await owner.context.setOffline(true)
    await save(page)
    await page.getByText('Not saved yet, and kept here').waitFor()
    await page.getByText('One change is not saved').waitFor()
    await owner.context.setOffline(false)
    await page.getByRole('button', { name: 'Save again' }).click()
    await value(page, 'API_KEY', 'Production').waitFor()
    await expectShown(page, 'API_KEY', 'Production', 'planted-kept')
  })
})

describe('a server that fails', () => {
  const failure = { status: 500, json: { error: { code: 'internal', message: 'something went wrong' } } }

  test('during a save causes an error message, even if the person pressed Escape meanwhile', async () => {
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
    const hold = async (route: Route) => {
      if (route.request().method() !== 'PUT') return route.continue()
      await answered
      return route.fulfill(failure)
    }
    await page.route('**/secrets/*', hold)
    await edit(page, 'API_KEY', 'Production', 'planted-edited')
    await save(page)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Add secret' }).click()
    await dialogOf(page).getByLabel('Name').fill('FAILING')
    await dialogOf(page).getByLabel('Value').fill('planted-failing')
    await dialogOf(page).getByRole('button', { name: 'Add', exact: true }).click()
    await page.keyboard.press('Escape')
    answer()
    await dialogOf(page).getByText('Something went wrong').waitFor()
    expect(await dialogOf(page).getByLabel('Value').inputValue()).toBe('planted-failing')
    await page.keyboard.press('Escape')
    await page.getByText('Not saved yet, and kept here').waitFor()
    await page.unroute('**/secrets/*', hold)
    await page.getByRole('button', { name: 'Save again' }).click()
    await expectShown(page, 'API_KEY', 'Production', 'planted-edited')
  })

  test('while secrets load causes an error message with a retry', async () => {
    const fail = (route: Route) => route.fulfill(failure)
    await page.route('**/secrets', fail)
    await page.reload()
    await page.getByText('Not all secrets of Production, Staging could be loaded').waitFor()
    await page.unroute('**/secrets', fail)
    await page.getByRole('button', { name: 'Try again' }).click()
    await value(page, 'API_KEY', 'Production').waitFor()
    await steps.unlockWithPassphrase(page)
  })
})

describe('saving an unchanged value', () => {
  test('creates no new version', async () => {
    const sent = owner.sent.length
    await edit(page, 'API_KEY', 'Production', 'planted-edited')
    await save(page)
    await value(page, 'API_KEY', 'Production').waitFor()
    expect(owner.sent.slice(sent).filter((text) => text.startsWith('PUT'))).toEqual([])
  })
})

describe('a ciphertext that was moved to another secret', () => {
  test('is marked in its cell, and the other secrets stay usable', async () => {
    const { orgId, envs } = await placeOf(world, owner.bearer(), 'web-shop')
    const params = { orgId, envId: envs.production as string }
    const { body } = await world.call(secrets.list, { as: owner.bearer(), params })
    const moved = body.secrets.find(({ name }) => name === 'API_KEY')?.ciphertext as string
    await world.call(secrets.put, {
      as: owner.bearer(),
      params: { ...params, name: 'NEW_ONE' },
      body: { ciphertext: moved },
    })
    await page.reload()
    await steps.unlockWithPassphrase(page)
    await page
      .getByRole('row', { name: /NEW_ONE/ })
      .getByRole('button', { name: 'does not open' })
      .waitFor()
    await expectShown(page, 'API_KEY', 'Production', 'planted-edited')
  })

  test('can be repaired by restoring a version from the history', async () => {
    await pickTool(page, 'NEW_ONE', 'Details of NEW_ONE in Production')
    await dialogOf(page).getByText('Version 1').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Restore' }).last().click()
    await dialogOf(page).getByText('restored from version 1').waitFor()
    await page.keyboard.press('Escape')
    await expectShown(page, 'NEW_ONE', 'Production', 'planted-new')
  })
})

describe('a name that makes programs load something', () => {
  const ofNode = /^NODE_OPTIONS: Node\.js loads code from it$/

  test('causes a warning when it is added, and when a file with it is pasted', async () => {
    await page.getByRole('button', { name: 'Add secret' }).click()
    await dialogOf(page).getByLabel('Name').fill('NODE_OPTION')
    expect(await dialogOf(page).getByRole('alert').count()).toBe(0)
    await dialogOf(page).getByLabel('Name').fill('NODE_OPTIONS')
    await dialogOf(page).getByRole('alert').getByText(ofNode).waitFor()
    expect(await axeProblems(page)).toEqual([])
    await page.keyboard.press('Escape')
    await openColumnMenu(page, 'Production', 'Import a file…')
    await dialogOf(page).getByLabel('Text of the file').fill('NODE_OPTIONS=planted\nORDINARY=planted\n')
    await dialogOf(page).getByRole('alert').getByText(ofNode).waitFor()
    await dialogOf(page).getByRole('alert').getByText('passes them to a program only if').waitFor()
    expect(await dialogOf(page).getByRole('listitem').filter({ hasText: 'ORDINARY:' }).count()).toBe(0)
    await dialogOf(page).getByRole('button', { name: 'Store 2 secrets' }).click()
    await dialogOf(page).waitFor({ state: 'hidden' })
  })

  test('causes a warning in the cell where its value is typed, and an ordinary name does not', async () => {
    const warning = page.locator('.matrix-editor').getByRole('alert')
    await edit(page, 'ORDINARY', 'Production', 'planted-ordinary')
    await edit(page, 'NODE_OPTIONS', 'Production', 'planted-options')
    await warning.getByText('Store NODE_OPTIONS only if you need it: Node.js loads code from it.').waitFor()
    expect(await warning.count()).toBe(1)
    for (const name of ['ORDINARY', 'NODE_OPTIONS'])
      await page.getByLabel(`Value of ${name} in Production`).press('Escape')
  })
})

describe('references', () => {
  test('are expanded on request, and missing names are listed', async () => {
    await addSecret(page, 'URL', 'planted://${API_KEY}/${NOWHERE}', ['Production'])
    await pickTool(page, 'URL', 'Details of URL in Production')
    await dialogOf(page).getByRole('switch').click()
    await dialogOf(page).getByRole('button', { name: 'Show the expanded value' }).click()
    await dialogOf(page).getByText('planted://planted-edited/${NOWHERE}').waitFor()
    await dialogOf(page).getByText('has no secret of this name: NOWHERE').waitFor()
  })

  test('do not prevent deleting the secret in its drawer', async () => {
    await deleteFromDrawer(page, 'URL')
    await page.getByRole('row', { name: /^URL/ }).waitFor({ state: 'hidden' })
  })
})

test('the page neither sent nor stored a secret value', async () => {
  expect(await leaks(world, { owner })).toEqual([])
})

test('the page caused only the expected console errors', () => {
  expect(owner.complaints.filter((text) => !/ERR_INTERNET_DISCONNECTED|status of 500/.test(text))).toEqual([])
})
