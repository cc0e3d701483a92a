import { secrets } from '@skerry/contract/secrets'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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
  openEnvironment,
  pickTool,
  placeOf,
  save,
  value,
} from './apps-journey.ts'
import type { Visitor } from './browser.ts'
import * as journey from './journey.ts'
import { beginWalk, joinWalk, plantedIn, type Walk } from './walk.ts'

// What may come between a value that is typed and the one that is stored.

const grace = 'grace@example.com'

let walk: Walk
let page: Page

beforeAll(async () => {
  walk = await beginWalk()
  page = walk.page
  await createApp(page, 'Web shop')
  await create(page, 'New environment', 'Production')
  await create(page, 'New environment', 'Staging')
  await addSecret(page, 'API_KEY', 'planted-api-key', ['Production', 'Staging'])
  await addSecret(page, 'NEW_ONE', 'planted-new', ['Production'])
})
afterAll(() => walk?.close())

describe('two people who edit the same secret at once', () => {
  let second: Visitor

  beforeAll(async () => {
    second = await joinWalk(walk, grace)
    // Looks again, and so sees who has come and their key.
    await openEnvironment(page, 'Staging')
    await page.reload()
    await journey.unlockWithPassphrase(page)
    await grantKey(page, grace)
    await openApp(page, 'Web shop')
    await openApp(second.page, 'Web shop')
  })

  /** The second person stores a value, in front of whatever the first one is typing. */
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

  test('or keep their own, which the other one then meets in the same way', async () => {
    await edit(page, 'API_KEY', 'Staging', 'planted-of-ada-again')
    await edit(second.page, 'API_KEY', 'Staging', 'planted-of-grace-too')
    await save(page)
    await value(page, 'API_KEY', 'Staging').waitFor()
    await save(second.page)
    await compare(second.page, 'planted-of-grace-too', 'planted-of-ada-again')
    await dialogOf(second.page).getByRole('button', { name: 'Keep mine' }).click()
    await expectShown(second.page, 'API_KEY', 'Staging', 'planted-of-grace-too')
  })

  test('lose nothing when the comparison is closed undecided', async () => {
    await edit(page, 'API_KEY', 'Staging', 'planted-undecided')
    await save(page)
    await compare(page, 'planted-undecided', 'planted-of-grace-too')
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'detached' })
    await expect.poll(() => page.getByLabel('Value of API_KEY in Staging').inputValue()).toBe('planted-undecided')
    await page.getByRole('button', { name: 'Compare' }).click()
    await dialogOf(page).getByRole('button', { name: 'Keep mine' }).click()
    await expectShown(page, 'API_KEY', 'Staging', 'planted-undecided')
  })

  test('who write the same meet nothing at all', async () => {
    await second.page.reload()
    await journey.unlockWithPassphrase(second.page)
    await edit(page, 'API_KEY', 'Staging', 'planted-the-same')
    await storeElsewhere('planted-the-same')
    await save(page)
    await expectShown(page, 'API_KEY', 'Staging', 'planted-the-same')
  })

  test('are told of a deletion, and may leave it so or write it again', async () => {
    for (const choice of ['Keep mine', 'Leave it deleted']) {
      await second.page.reload()
      await journey.unlockWithPassphrase(second.page)
      await edit(page, 'API_KEY', 'Staging', 'planted-survivor')
      await pickTool(second.page, 'API_KEY', 'Details of API_KEY in Staging')
      await deleteFromDrawer(second.page, 'API_KEY')
      await save(page)
      await page.getByRole('button', { name: 'Compare' }).click()
      await dialogOf(page).getByText('Someone deleted it from Staging').waitFor()
      await dialogOf(page).getByRole('button', { name: choice }).click()
      if (choice === 'Keep mine') await expectShown(page, 'API_KEY', 'Staging', 'planted-survivor')
    }
    await page.getByRole('button', { name: 'Set API_KEY in Staging, which is missing' }).waitFor()
  })

  test('sent no value, kept none, and saw no complaint', async () => {
    expect(await plantedIn(second)).toEqual([])
    expect(second.complaints).toEqual([])
  })
})

describe('a lost connection', () => {
  test('keeps the edit, says so, and stores it afterwards', async () => {
    await edit(page, 'API_KEY', 'Production', 'planted-kept')
    await walk.visitor.context.setOffline(true)
    await save(page)
    await page.getByText('Not saved yet, and kept here').waitFor()
    await page.getByText('One change is not saved').waitFor()
    await walk.visitor.context.setOffline(false)
    await page.getByRole('button', { name: 'Save again' }).click()
    await value(page, 'API_KEY', 'Production').waitFor()
    await expectShown(page, 'API_KEY', 'Production', 'planted-kept')
  })
})

describe('a ciphertext that was moved', () => {
  test('is told in its cell, and the others stay of use', async () => {
    const { orgId, envs } = await placeOf(walk.world, walk.bearer(), 'web-shop')
    const params = { orgId, envId: envs.production as string }
    const { body } = await walk.world.call(secrets.list, { as: walk.bearer(), params })
    const moved = body.secrets.find(({ name }) => name === 'API_KEY')?.ciphertext as string
    await walk.world.call(secrets.put, {
      as: walk.bearer(),
      params: { ...params, name: 'NEW_ONE' },
      body: { ciphertext: moved },
    })
    await page.reload()
    await journey.unlockWithPassphrase(page)
    await page
      .getByRole('row', { name: /NEW_ONE/ })
      .getByRole('button', { name: 'does not open' })
      .waitFor()
    await expectShown(page, 'API_KEY', 'Production', 'planted-kept')
  })

  test('is mended from the history', async () => {
    await pickTool(page, 'NEW_ONE', 'Details of NEW_ONE in Production')
    await dialogOf(page).getByText('Version 1').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Restore' }).last().click()
    await dialogOf(page).getByText('restored from version 1').waitFor()
    await page.keyboard.press('Escape')
    await expectShown(page, 'NEW_ONE', 'Production', 'planted-new')
  })
})

describe('references', () => {
  test('are expanded when asked for, and what is not there is named', async () => {
    await addSecret(page, 'URL', 'planted://${API_KEY}/${NOWHERE}', ['Production'])
    await pickTool(page, 'URL', 'Details of URL in Production')
    await dialogOf(page).getByRole('switch').click()
    await dialogOf(page).getByRole('button', { name: 'Show what programs get' }).click()
    await dialogOf(page).getByText('planted://planted-kept/${NOWHERE}').waitFor()
    await dialogOf(page).getByText('left as written: NOWHERE').waitFor()
  })

  test('and a secret is deleted from there', async () => {
    await deleteFromDrawer(page, 'URL')
    await page.getByRole('row', { name: /^URL/ }).waitFor({ state: 'hidden' })
  })
})

test('no value was sent or kept', async () => {
  expect(await plantedIn(walk.visitor)).toEqual([])
})

test('nothing was complained about by the console or the Content-Security-Policy', () => {
  expect(walk.visitor.complaints.filter((text) => !text.includes('ERR_INTERNET_DISCONNECTED'))).toEqual([])
})
