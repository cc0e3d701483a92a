import { sync } from '@skerry/contract/sync/endpoints'
import { syncProviders } from '@skerry/contract/sync/providers'
import { afterAll, describe, expect, test } from 'vitest'
import { startAppPlatform } from '../../server/test/services/app-platform.ts'
import { builtIn } from '../../server/test/world.ts'
import { dialogOf, openApp, openEnvironment, pickTool } from './apps-steps.ts'
import { choose as pick, row } from './changes-steps.ts'
import { axeProblems, choose, newPlace, putSecret } from './org-steps.ts'
import { leaks, openOwner } from './scene.ts'
import * as steps from './steps.ts'

// Sync from a credential to the pushed names. The destination is a strict fake of a platform.

const platform = await startAppPlatform('fm2_planted')
afterAll(() => platform.stop())
platform.values('shop').set('FOREIGN', 'theirs')

const { world, owner, page } = await openOwner({ ...builtIn, ...platform.settings })
const place = await newPlace(world, owner.bearer())
for (const name of ['DB_URL', 'DB_PASSWORD', 'FOREIGN', 'LOG_LEVEL'])
  await putSecret(world, owner.bearer(), place, name, `planted-${name}`)
const { orgId } = place
const where = 'Web shop / Production'
const dialog = () => dialogOf(page)
const closed = () => dialog().waitFor({ state: 'detached' })
const press = (name: string) => dialog().getByRole('button', { name, exact: true }).click()
const planned = () => page.getByRole('region', { name: 'What a push does' })
const isPlanned = (text: string) => planned().getByText(text, { exact: true }).waitFor()
const addTag = async (label: string, text: string) => {
  await dialog().getByLabel(label).fill(text)
  await dialog().getByLabel(label).press('Enter')
}
const held = () => [...platform.values('shop').keys()].sort()
const bindings = async () => (await world.call(sync.bindings, { as: owner.bearer(), params: { orgId } })).body.bindings

describe('connecting a destination', () => {
  test('starts with a searchable gallery of all kinds', async () => {
    await steps.goTo(page, 'Sync')
    await steps.openTab(page, 'Connections')
    await page.getByText('No connection yet').waitFor()
    await page.getByRole('button', { name: 'Connect a destination' }).click()
    await dialog().getByRole('button', { name: 'GitHub Actions' }).waitFor()
    expect(await dialog().locator('.sync-provider').count()).toBe(Object.keys(syncProviders).length)
    expect(await axeProblems(page)).toEqual([])
    await dialog().getByLabel('Find a destination').fill('fly')
    expect(await dialog().locator('.sync-provider').count()).toBe(1)
    await dialog().getByRole('button', { name: 'Fly.io' }).click()
  })

  test('asks for a credential, and warns that the server will be able to read it', async () => {
    await dialog().getByText('This server will be able to read it').waitFor()
    await dialog().getByText('fly tokens create deploy').waitFor()
    await dialog().getByLabel('Name').fill('shop hosting')
    const connect = dialog().getByRole('button', { name: 'Connect', exact: true })
    expect(await connect.isDisabled()).toBe(true)
    await dialog().getByLabel('Credential').fill('fm2_planted')
    expect(await axeProblems(page)).toEqual([])
    await connect.click()
    // The next step is to bind an environment.
    await page.getByRole('dialog', { name: 'Bind an environment' }).waitFor()
    expect(await dialog().getByLabel('Connection').inputValue()).toBe('shop hosting (Fly.io)')
  })
})

describe('binding an environment', () => {
  test('needs permission for the server to read it, and a valid destination', async () => {
    await pick(page, 'Environment', where)
    await dialog().getByText('This server will be able to read the whole environment').waitFor()
    const next = dialog().getByRole('button', { name: 'See what is pushed' })
    expect(await next.isDisabled()).toBe(true)
    await dialog().getByLabel('Give this server the key').check()
    await dialog().getByLabel('App name').fill('Not An App')
    await next.click()
    await dialog().getByText('Lowercase letters, digits and inner hyphens.').waitFor()
    expect(await bindings()).toEqual([])
    await dialog().getByLabel('App name').fill('shop')
    await next.click()
    await page.getByRole('dialog', { name: 'Look at what will be pushed' }).waitFor()
  })

  test('shows what a push would write and leave alone, and its effects, before anything is pushed', async () => {
    await isPlanned('3 new')
    await isPlanned('1 left out')
    await planned().getByText('Already there, not written by Skerry').waitFor()
    await planned().getByText('Effects of a push at the destination').waitFor()
    expect(await axeProblems(page)).toEqual([])
    expect(platform.pushes).toEqual([])
  })

  test('offers filters that list the matching names and update the plan', async () => {
    await dialog().getByText('4 of 4 names: DB_PASSWORD, DB_URL, FOREIGN, LOG_LEVEL').waitFor()
    await addTag('Include', 'DB_*')
    await dialog().getByText('2 of 4 names: DB_PASSWORD, DB_URL').waitFor()
    await isPlanned('2 new')
    await dialog().getByLabel('Prefix').fill('SHOP_')
    await isPlanned('SHOP_DB_URL')
    await dialog().getByLabel('Prefix').fill('a b')
    await dialog().getByText('Letters, digits, _, . and - only.').waitFor()
    await dialog().getByLabel('Prefix').fill('')
    await isPlanned('DB_URL')
  })

  test('leaves nothing behind if the person cancels', async () => {
    await press('Cancel')
    await closed()
    await expect.poll(bindings).toEqual([])
    expect([held(), platform.pushes]).toEqual([['FOREIGN'], []])
  })

  test('pushes after the person confirms', async () => {
    await page.getByRole('button', { name: 'Bind an environment' }).click()
    await pick(page, 'Environment', where)
    await dialog().getByLabel('App name').fill('shop')
    await dialog().getByLabel('Give this server the key').check()
    await press('See what is pushed')
    await isPlanned('3 new')
    await press('Start pushing')
    await closed()
    await row(page, where).getByText('succeeded').waitFor()
    await row(page, where).getByText('Fly.io (shop hosting)').waitFor()
    expect(held()).toEqual(['DB_PASSWORD', 'DB_URL', 'FOREIGN', 'LOG_LEVEL'])
    expect(platform.values('shop').get('FOREIGN')).toBe('theirs')
  })
})

describe('the drawer of a secret', () => {
  const synced = () => dialog().locator('.facts', { hasText: 'Synced to' })

  test('says where the value is synced to', async () => {
    await openApp(page, 'Web shop')
    await pickTool(page, 'DB_URL', 'Details of DB_URL in Production')
    await synced().getByText('Fly.io (shop hosting), shop').waitFor()
    expect(await synced().innerText()).not.toContain('not written')
  })

  test('says why a value was not pushed', async () => {
    await page.keyboard.press('J')
    await synced().getByText('was not written by this binding').waitFor()
    await page.keyboard.press('Escape')
    await closed()
    await steps.goTo(page, 'Sync')
  })
})

describe('a binding', () => {
  test('keeps each run with the result for each name', async () => {
    await choose(page, where, 'Runs')
    await row(page, where).getByText('3 pushed, 1 left alone').waitFor()
    await page.getByRole('button', { name: 'Show details' }).click()
    await page.getByText('was not written by this binding').waitFor()
    await page.getByText('LOG_LEVEL', { exact: true }).waitFor()
    expect(await axeProblems(page)).toEqual([])
  })

  test('can be pushed on request, and overwrites other people’s names only if the person chooses them', async () => {
    await steps.openTab(page, 'Bindings')
    await choose(page, where, 'Push now…')
    await dialog().getByText('A push would write nothing now.').waitFor()
    await dialog().getByLabel('Overwrite FOREIGN').check()
    await press('Push')
    const done = page.getByRole('dialog', { name: 'Pushed' })
    await done.getByText('1 pushed, 3 unchanged').waitFor()
    await done.getByText('FOREIGN', { exact: true }).waitFor()
    await done.getByRole('button', { name: 'Close' }).last().click()
    await closed()
    expect(platform.values('shop').get('FOREIGN')).toBe('planted-FOREIGN')
    await row(page, where).getByText('succeeded').waitFor()
  })

  test('deletes names at the destination only after the person confirms which ones', async () => {
    await choose(page, where, 'Edit…')
    await addTag('Exclude', 'LOG_*')
    await pick(page, 'A name that is no longer pushed', 'is deleted there')
    await isPlanned('1 deleted')
    const save = dialog().getByRole('button', { name: 'Save' })
    expect(await save.isDisabled()).toBe(true)
    await dialog().getByLabel('Delete LOG_LEVEL there with the next push').check()
    await save.click()
    await closed()
    await expect.poll(held).toEqual(['DB_PASSWORD', 'DB_URL', 'FOREIGN'])
    await row(page, where).getByText('all names, without LOG_*').waitFor()
  })

  test('shows why a push failed, and can be paused', async () => {
    platform.answer(() => ({ status: 401, body: { error: 'revoked' } }))
    await choose(page, where, 'Push now…')
    await dialog().getByRole('alert').getByText('401').waitFor()
    await press('Cancel')
    await closed()
    await choose(page, where, 'Pause')
    await row(page, where).getByText('paused').waitFor()
    await choose(page, where, 'Resume')
    await row(page, where).getByText('failed').waitFor()
    await row(page, where).getByText(/401/).waitFor()
    platform.answer(null)
  })
})

describe('a connection', () => {
  test('can be verified at a destination without a write', async () => {
    const before = platform.pushes.length
    await steps.openTab(page, 'Connections')
    await choose(page, 'shop hosting', 'Verify…')
    expect(await dialog().getByLabel('App name').inputValue()).toBe('shop')
    await press('Verify')
    await closed()
    await row(page, 'shop hosting').getByText('ready').waitFor()
    expect(platform.pushes).toHaveLength(before)
  })

  test('can get a new credential', async () => {
    await choose(page, 'shop hosting', 'Replace the credential…')
    await dialog().getByText('This server will be able to read it').waitFor()
    await dialog().getByLabel('Credential').fill('fm2_plantedwrong')
    await press('Replace')
    await closed()
    await choose(page, 'shop hosting', 'Verify…')
    await press('Verify')
    await dialog().getByRole('alert').getByText('401').waitFor()
    await press('Cancel')
    await closed()
    await row(page, 'shop hosting').getByText('failing').waitFor()
  })
})

describe('a synced environment', () => {
  test('has a badge in the matrix and on its page, which says that the server can read it', async () => {
    await openApp(page, 'Web shop')
    await page.getByLabel(/^Synced to one destination/).waitFor()
    await openEnvironment(page, 'Production')
    await page.getByLabel(/^Synced to one destination/).waitFor()
    await page.getByText('Someone gave the key to a sync connection.').waitFor()
    expect(await axeProblems(page)).toEqual([])
    await page.getByRole('link', { name: 'What it syncs' }).click()
    await page.getByRole('heading', { name: 'Sync', level: 1 }).waitFor()
  })

  test('is no longer synced after the connection is removed, and the pushed names stay there', async () => {
    await steps.openTab(page, 'Connections')
    await choose(page, 'shop hosting', 'Disconnect…')
    await dialog().getByText('Its binding is deleted, too.').waitFor()
    await press('Disconnect')
    await closed()
    await page.getByText('No connection yet').waitFor()
    expect([await bindings(), held()]).toEqual([[], ['DB_PASSWORD', 'DB_URL', 'FOREIGN']])
    await openApp(page, 'Web shop')
    await page.getByText('DB_URL').first().waitFor()
    expect(await page.getByLabel(/^Synced/).count()).toBe(0)
  })
})

test('the page neither sent nor stored a secret value, and caused no console warnings', async () => {
  expect(await leaks(world, { owner })).toEqual([])
  expect(owner.complaints).toEqual([])
})
