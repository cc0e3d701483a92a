import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { apps } from '@skerry/contract/apps'
import { me } from '@skerry/contract/me'
import { secrets } from '@skerry/contract/secrets'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { builtIn, openWorld, type World } from '../../server/test/world.ts'
import {
  addSecret,
  bearerOf,
  create,
  createApp,
  dialogOf,
  edit,
  openApp,
  openColumnMenu,
  openEnvironment,
  openOrg,
  pickTool,
  save,
  value,
} from './apps-journey.ts'
import { openBrowser, storedText, type Visitor, visit } from './browser.ts'
import * as journey from './journey.ts'

let world: World
let browser: Browser
let visitor: Visitor
let page: Page
let bearer: () => string

beforeAll(async () => {
  world = await openWorld(builtIn)
  browser = await openBrowser()
  visitor = await visit(browser, world.url)
  page = visitor.page
  page.setDefaultTimeout(8000)
  bearer = bearerOf(visitor)
  await journey.setUp(page, world)
  await journey.makeKeyring(page)
  await openOrg(page)
})
afterAll(async () => {
  await browser?.close()
  await world?.close()
})

/** The organization, and the environments of an application by slug, as another client of the same person sees them. */
async function placeOf(slug: string) {
  const { body: own } = await world.call(me.get, { as: bearer() })
  const orgId = own.orgs[0]?.id as string
  const { body: list } = await world.call(apps.list, { as: bearer(), params: { orgId } })
  const appId = list.apps.find((app) => app.slug === slug)?.id as string
  const { body: app } = await world.call(apps.get, { as: bearer(), params: { orgId, appId } })
  return { orgId, appId, envs: Object.fromEntries(app.environments.map((env) => [env.slug, env.id])) }
}

async function axeProblems(): Promise<string[]> {
  const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  // Through the debugger: the page's policy lets no such script in.
  const devTools = await visitor.context.newCDPSession(page)
  await devTools.send('Runtime.evaluate', { expression: source })
  const { result } = await devTools.send('Runtime.evaluate', {
    expression: `axe.run().then(({ violations }) => JSON.stringify(violations
      .filter(({ impact }) => ['serious', 'critical'].includes(impact))
      .map(({ id, nodes }) => id + ' ' + nodes.map(({ html }) => html.slice(0, 160)).join(' | '))))`,
    awaitPromise: true,
    returnByValue: true,
  })
  return JSON.parse(String(result.value))
}

describe('an application', () => {
  test('is made, with environments whose keys are made in the browser', async () => {
    await createApp(page, 'Web shop')
    await create(page, 'New environment', 'Production')
    await page
      .getByRole('columnheader')
      .filter({ hasText: 'Production' })
      .or(page.getByText('No secret yet'))
      .first()
      .waitFor()
    await create(page, 'New environment', 'Staging')
    const { envs } = await placeOf('web-shop')
    expect(Object.keys(envs).sort()).toEqual(['production', 'staging'])
  })

  test('takes secrets, and shows them masked until asked', async () => {
    await addSecret(page, 'DATABASE_URL', 'planted-postgres-production', ['Production'])
    await addSecret(page, 'API_KEY', 'planted-api-key', ['Production', 'Staging'])
    await value(page, 'API_KEY', 'Staging').waitFor()
    expect(await page.locator('.matrix').innerText()).not.toContain('planted')
    await value(page, 'API_KEY', 'Staging').click()
    await page.getByText('planted-api-key').waitFor()
    await value(page, 'API_KEY', 'Staging').click()
    expect(await page.locator('.matrix').innerText()).not.toContain('planted')
  })

  test('tells what is missing, the same and different without showing it', async () => {
    await page
      .getByRole('row', { name: /DATABASE_URL/ })
      .getByText('1 missing')
      .waitFor()
    await page
      .getByRole('row', { name: /API_KEY/ })
      .getByText('same')
      .waitFor()
    await edit(page, 'API_KEY', 'Staging', 'planted-api-key-of-staging')
    await save(page)
    await page
      .getByRole('row', { name: /API_KEY/ })
      .locator('[data-letter=B]')
      .waitFor()
    await page.getByLabel('Show').getByText('Missing').click()
    await page.getByText('1 of 2 secrets').waitFor()
    await page.getByLabel('Show').getByText('All').click()
    expect(await page.locator('.matrix').innerText()).not.toContain('planted')
  })

  test('copies a value without showing it', async () => {
    await pickTool(page, 'API_KEY', 'Copy API_KEY in Staging')
    await page.getByText('Copied API_KEY of Staging.').waitFor()
    expect(await page.locator('.matrix').innerText()).not.toContain('planted')
    const search = page.getByLabel('Search secrets by name')
    await search.focus()
    await page.keyboard.press('ControlOrMeta+V')
    expect(await search.inputValue()).toBe('planted-api-key-of-staging')
    await search.fill('')
  })

  test('is compared and edited again after the keyring was locked', async () => {
    await value(page, 'API_KEY', 'Staging').click()
    await page.getByText('planted-api-key-of-staging').waitFor()
    await journey.lock(page)
    expect(await page.content()).not.toContain('planted')
    expect(await page.locator('.matrix-letter').count()).toBe(0)
    await journey.unlockWithPassphrase(page)
    await page.locator('.matrix-letter').first().waitFor()
  })

  test('has a list that is free of serious faults of accessibility, as its matrix is', async () => {
    await value(page, 'API_KEY', 'Staging').waitFor()
    expect(await axeProblems()).toEqual([])
  })
})

describe('a pasted .env file', () => {
  test('is refused with the line that is wrong, and shown as changes when it is right', async () => {
    await openColumnMenu(page, 'Staging', 'Paste .env…')
    const text = dialogOf(page).getByLabel('Text of the file')
    await text.fill('NEW_ONE="planted-new"\nthis is nothing\nAPI_KEY=planted-api-key-of-staging\n')
    await dialogOf(page).getByText('Line 2: is not NAME=value and not a comment').waitFor()
    expect(
      await dialogOf(page)
        .getByRole('button', { name: /^Store/ })
        .isDisabled(),
    ).toBe(true)
    await text.fill('NEW_ONE="planted-new"\nAPI_KEY=planted-api-key-of-staging\nDATABASE_URL=planted-staging\n')
    await dialogOf(page).getByText('2 added, 1 unchanged').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Store 2 secrets' }).click()
    await dialogOf(page).waitFor({ state: 'hidden' })
    await page.getByRole('row', { name: /NEW_ONE/ }).waitFor()
  })
})

describe('a column', () => {
  test('is copied into another environment, sealed anew', async () => {
    await openColumnMenu(page, 'Staging', 'Copy to another…')
    await dialogOf(page).getByText('1 added, 2 changed').waitFor()
    await dialogOf(page).getByLabel('API_KEY').uncheck()
    await dialogOf(page).getByLabel('DATABASE_URL').uncheck()
    await dialogOf(page).getByRole('button', { name: 'Store 1 secret' }).click()
    await dialogOf(page).waitFor({ state: 'hidden' })
    await value(page, 'NEW_ONE', 'Production').click()
    await page.getByText('planted-new').waitFor()
    await value(page, 'NEW_ONE', 'Production').click()
  })
})

describe('a value that someone else changed meanwhile', () => {
  test('is shown beside mine, and theirs can be taken', async () => {
    await edit(page, 'API_KEY', 'Staging', 'planted-mine')
    await changeElsewhere()
    await save(page)
    await page.getByRole('button', { name: 'Compare' }).click()
    await dialogOf(page).getByLabel('Mine').getByText('planted-mine').waitFor()
    await dialogOf(page).getByLabel('Theirs').getByText('planted-api-key').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Take theirs' }).click()
    await value(page, 'API_KEY', 'Staging').click()
    await page.getByText('planted-api-key', { exact: true }).waitFor()
  })

  test('gives way to mine when I say so', async () => {
    await edit(page, 'API_KEY', 'Staging', 'planted-mine')
    await changeElsewhere(2)
    await save(page)
    await page.getByRole('button', { name: 'Compare' }).click()
    await dialogOf(page).getByRole('button', { name: 'Keep mine' }).click()
    await value(page, 'API_KEY', 'Staging').waitFor()
    await expectShown('API_KEY', 'Staging', 'planted-mine')
  })

  async function changeElsewhere(version = 1) {
    const { orgId, envs } = await placeOf('web-shop')
    const params = { orgId, envId: envs.staging as string, name: 'API_KEY' }
    const { status } = await world.call(secrets.restore, { as: bearer(), params, body: { version } })
    expect(status).toBe(200)
  }
})

async function expectShown(name: string, environment: string, text: string) {
  const button = value(page, name, environment)
  if ((await button.getAttribute('aria-pressed')) === 'false') await button.click()
  await page.locator('.matrix-shown', { hasText: text }).first().waitFor()
  await button.click()
}

describe('a lost connection', () => {
  test('keeps the edit, says so, and stores it afterwards', async () => {
    await edit(page, 'DATABASE_URL', 'Staging', 'planted-kept')
    await visitor.context.setOffline(true)
    await save(page)
    await page.getByText('Not saved yet, and kept here').waitFor()
    await page.getByText('One change is not saved').waitFor()
    await visitor.context.setOffline(false)
    await page.getByRole('button', { name: 'Save again' }).click()
    await value(page, 'DATABASE_URL', 'Staging').waitFor()
    await expectShown('DATABASE_URL', 'Staging', 'planted-kept')
  })
})

describe('a ciphertext that was moved', () => {
  test('is told in its cell, and the others stay of use', async () => {
    const { orgId, envs } = await placeOf('web-shop')
    const params = { orgId, envId: envs.production as string }
    const { body } = await world.call(secrets.list, { as: bearer(), params })
    const moved = body.secrets.find(({ name }) => name === 'API_KEY')?.ciphertext as string
    await world.call(secrets.put, { as: bearer(), params: { ...params, name: 'NEW_ONE' }, body: { ciphertext: moved } })
    await journey.goTo(page, 'Groups')
    world.clock.advance(1)
    await page.waitForTimeout(10_500)
    await openApp(page, 'Web shop')
    await page
      .getByRole('row', { name: /NEW_ONE/ })
      .getByRole('button', { name: 'does not open' })
      .waitFor()
    await expectShown('API_KEY', 'Production', 'planted-api-key')
  })

  test('is mended from the history', async () => {
    await pickTool(page, 'NEW_ONE', 'Details of NEW_ONE in Production')
    await dialogOf(page).getByText('Version 1').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Restore' }).last().click()
    await dialogOf(page).getByText('restored from version 1').waitFor()
    await page.keyboard.press('Escape')
    await expectShown('NEW_ONE', 'Production', 'planted-new')
  })
})

describe('references', () => {
  test('are expanded when asked for, and what is not there is named', async () => {
    await addSecret(page, 'URL', 'planted://${API_KEY}/${NOWHERE}', ['Production'])
    await pickTool(page, 'URL', 'Details of URL in Production')
    await dialogOf(page).getByRole('switch').click()
    await dialogOf(page).getByRole('button', { name: 'Show what programs get' }).click()
    await dialogOf(page).getByText('planted://planted-api-key/${NOWHERE}').waitFor()
    await dialogOf(page).getByText('left as written: NOWHERE').waitFor()
  })

  test('and a secret is deleted from there', async () => {
    await dialogOf(page).getByRole('button', { name: 'Delete…' }).click()
    await page
      .getByRole('dialog', { name: /Delete URL/ })
      .getByRole('button', { name: 'Delete', exact: true })
      .click()
    await page.getByRole('row', { name: /^URL/ }).waitFor({ state: 'hidden' })
  })
})

describe('a group', () => {
  test('has a matrix of its own, and what it gives is marked where it is composed in', async () => {
    await journey.goTo(page, 'Groups')
    await create(page, 'New group', 'Shared')
    await create(page, 'New environment', 'Production')
    await addSecret(page, 'MAIL_KEY', 'planted-mail', ['Production'])
    await journey.goTo(page, 'Groups')
    await create(page, 'New group', 'Company')
    await openApp(page, 'Web shop')
    await openEnvironment(page, 'Production')
    for (const name of ['Shared', 'Company']) {
      await page.getByRole('button', { name: 'Add a group' }).click()
      await dialogOf(page).getByLabel('Group').click()
      await page.getByRole('option', { name }).click()
      await dialogOf(page).getByRole('button', { name: 'Add', exact: true }).click()
      await dialogOf(page).waitFor({ state: 'hidden' })
    }
    await page.getByRole('link', { name: 'Web shop' }).click()
    await page
      .getByRole('row', { name: /MAIL_KEY/ })
      .getByText('shared')
      .waitFor()
    await expectShown('MAIL_KEY', 'Production', 'planted-mail')
  })

  test('is put in another order with the keyboard', async () => {
    await openEnvironment(page, 'Production')
    const order = () =>
      page
        .getByRole('list', { name: /Groups, lowest/ })
        .getByRole('listitem')
        .allInnerTexts()
    await page.getByRole('button', { name: 'Move Shared' }).focus()
    expect((await order())[0]).toContain('Shared')
    await page.keyboard.press('Space')
    await page.waitForTimeout(200)
    await page.keyboard.press('ArrowDown')
    await page.waitForTimeout(200)
    await page.keyboard.press('Space')
    await expect.poll(order).toEqual([expect.stringContaining('Company'), expect.stringContaining('Shared')])
    await page.reload()
    await expect.poll(order).toEqual([expect.stringContaining('Company'), expect.stringContaining('Shared')])
  })
})

describe('a branch', () => {
  test('is forked, shown beside its environment with what it inherits, and torn down', async () => {
    await page.getByRole('button', { name: 'Fork a branch' }).first().click()
    await dialogOf(page).getByLabel('Slug').fill('pr-7')
    await dialogOf(page).getByRole('button', { name: 'Fork' }).click()
    await journey.unlockWithPassphrase(page)
    await page.getByText('Forked pr-7 from Production.').waitFor()
    await page.getByText('in 7 days').waitFor()
    await page.getByRole('link', { name: 'Web shop' }).click()
    await page.getByRole('button', { name: 'Branches' }).click()
    await page.getByRole('menuitem', { name: 'pr-7' }).click()
    await page.keyboard.press('Escape')
    await page
      .getByRole('row', { name: /API_KEY/ })
      .getByText('production')
      .waitFor()
    await edit(page, 'API_KEY', 'pr-7', 'planted-branch')
    await save(page)
    await expectShown('API_KEY', 'pr-7', 'planted-branch')
    await openEnvironment(page, 'Production')
    await page.getByRole('button', { name: 'Tear down' }).click()
    await dialogOf(page).getByRole('button', { name: 'Tear down' }).click()
    await page.getByText('No branch').waitFor()
  })

  test('and the environment’s page is free of serious faults of accessibility', async () => {
    expect(await axeProblems()).toEqual([])
  })
})

describe('an application that is no longer needed', () => {
  test('is renamed, and deleted once its slug was typed', async () => {
    await journey.goTo(page, 'Applications')
    await page.getByRole('button', { name: 'What can be done with Web shop' }).click()
    await page.getByRole('menuitem', { name: 'Rename…' }).click()
    await dialogOf(page).getByLabel('Name').fill('Old shop')
    await dialogOf(page).getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('link', { name: 'Old shop' }).waitFor()
    expect(await axeProblems()).toEqual([])
    await page.getByRole('button', { name: 'What can be done with Old shop' }).click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    expect(await dialogOf(page).getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true)
    await dialogOf(page).getByRole('textbox').fill('web-shop')
    await dialogOf(page).getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No application yet').waitFor()
  })
})

describe('all of this', () => {
  test('sent no value and kept none', async () => {
    expect(visitor.sent.length).toBeGreaterThan(50)
    for (const text of [...visitor.sent, ...(await storedText(visitor))]) expect(text).not.toContain('planted')
  })

  test('was seen without complaint by the console and the Content-Security-Policy', () => {
    expect(visitor.complaints.filter((text) => !text.includes('ERR_INTERNET_DISCONNECTED'))).toEqual([])
  })
})
