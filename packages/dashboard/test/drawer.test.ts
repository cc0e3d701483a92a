import { sealDetails } from '@skerry/crypto/details'
import { openSecret } from '@skerry/crypto/secret'
import { createClient } from '@skerry/sdk/client'
import { describeSecret, listDetails } from '@skerry/sdk/secret-details'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { create, dialogOf, edit, expectShown, openApp, pickTool, value } from './apps-steps.ts'
import { told } from './browser.ts'
import { lookAgain, openChange, queued } from './changes-steps.ts'
import { axeProblems, protect, putSecret, unprotect } from './org-steps.ts'
import { leaks, openPair } from './scene.ts'
import * as steps from './steps.ts'

// The drawer of a secret: values of any length, their history and what people note about them.

const walk = await openPair()
const { world, owner, member, place } = walk
const { page } = owner
const { orgId, envId, dek } = place

const lines = 'planted-one\n\tplanted-two, after a tab\n\nplanted-four'
for (const text of ['planted-first\nplanted-kept\nplanted-end', 'planted-second\nplanted-kept\nplanted-end', lines])
  await putSecret(world, owner.bearer(), place, 'CONFIG', text)
await putSecret(world, owner.bearer(), place, 'API_KEY', 'planted-short')
await putSecret(world, owner.bearer(), place, 'WINDOWS', 'planted-a\r\nplanted-b\r\n')

/** The SDK of another client of the owner. */
const sdk = () => createClient({ baseUrl: world.url, credential: { bearer: owner.bearer().replace('Bearer ', '') } })

/** Returns the stored value, decrypted. */
async function stored(name: string): Promise<string> {
  const { secrets } = await sdk().secrets.list({ params: { orgId, envId } })
  return openSecret(secrets.find((one) => one.name === name)?.ciphertext ?? '', dek, envId, name)
}

const noted = async (name: string) => (await listDetails(sdk(), { orgId, envId }, dek)).find((one) => one.name === name)

const address = (name: string, environment = 'production') =>
  new RegExp(`/apps/web-shop\\?secret=${name}&in=${environment}$`)

const drawer = (at: Page, name: string) => at.getByRole('dialog', { name, exact: true })
const config = drawer(page, 'CONFIG')
const field = (name: string) => page.getByLabel(`Value of ${name} in Production`)
const press = (name: string) => dialogOf(page).getByRole('button', { name, exact: true }).click()

/** Unlocks the keyring in the dialog that is above the drawer. */
async function unlockAbove() {
  await dialogOf(page).getByLabel('Passphrase', { exact: true }).fill(steps.person.passphrase)
  await press('Unlock')
}

async function openDrawer(name: string) {
  await pickTool(page, name, `Details of ${name} in Production`)
  await drawer(page, name).waitFor()
}

async function closeDrawer() {
  await page.keyboard.press('Escape')
  await dialogOf(page).waitFor({ state: 'detached' })
}

describe('the drawer', () => {
  test('opens by its address, and closes with Escape', async () => {
    await openApp(page, 'Web shop')
    await create(page, 'New environment', 'Staging')
    const { pathname } = new URL(page.url())
    await page.goto(`${pathname}?secret=CONFIG&in=production`)
    await config.waitFor()
    expect(await page.content()).not.toContain('planted')
    await closeDrawer()
    await expect.poll(() => page.url()).toMatch(/web-shop$/)
  })

  test('shows all lines of a value as they are, once they are revealed', async () => {
    await page.goto(`${new URL(page.url()).pathname}?secret=CONFIG&in=production`)
    await press('Reveal the value of CONFIG')
    await unlockAbove()
    const shown = config.locator('.mono').filter({ hasText: 'planted-one' })
    await shown.waitFor()
    expect(await shown.textContent()).toBe(lines)
    await config.getByRole('button', { name: 'Hide the value of CONFIG' }).click()
    await config
      .getByText(/^.+ by ada/i)
      .first()
      .waitFor()
    await closeDrawer()
  })

  test('goes on to the next secret with J, back with K, and to another environment', async () => {
    await openDrawer('API_KEY')
    await expect.poll(() => page.url()).toMatch(address('API_KEY'))
    await page.keyboard.press('j')
    await config.waitFor()
    await expect.poll(() => page.url()).toMatch(address('CONFIG'))
    await config.getByRole('button', { name: 'Staging' }).click()
    await config.getByText('Staging has no CONFIG.').waitFor()
    await expect.poll(() => page.url()).toMatch(address('CONFIG', 'staging'))
    await config.getByRole('button', { name: 'Production' }).click()
    await page.keyboard.press('k')
    await drawer(page, 'API_KEY').waitFor()
    await closeDrawer()
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label')))
      .toBe('Details of API_KEY in Production')
  })

  test('is as wide as a phone, and has no problem of accessibility', async () => {
    const { width, height } = page.viewportSize() ?? { width: 1280, height: 720 }
    await openDrawer('CONFIG')
    await config.getByText('Version 3').waitFor()
    await press('Edit')
    await field('CONFIG').waitFor()
    await press('Edit details')
    expect(await axeProblems(page)).toEqual([])
    await page.setViewportSize({ width: 360, height: 740 })
    await expect.poll(async () => (await config.boundingBox())?.width).toBe(360)
    const overflow = () => config.evaluate((node) => node.scrollWidth - node.clientWidth)
    await expect.poll(overflow).toBe(0)
    expect(await axeProblems(page)).toEqual([])
    await page.setViewportSize({ width, height })
    await closeDrawer()
  })
})

describe('a value of several lines', () => {
  test('is edited in the drawer, also from its cell, and stored with its tabs and line breaks', async () => {
    const text = '{\n\t"key": "planted-json"\n}\n'
    await edit(page, 'CONFIG', 'Production', text)
    await config.getByText('4 lines, 27 characters · ends with a line break · valid JSON').waitFor()
    await field('CONFIG').press('Control+Enter')
    await field('CONFIG').waitFor({ state: 'detached' })
    expect(await stored('CONFIG')).toBe(text)
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Edit')
    await closeDrawer()
  })

  test('has numbered lines until they are wrapped, is loaded from a file byte for byte, and formats JSON', async () => {
    const load = (buffer: string) =>
      config.locator('input[type=file]').setInputFiles({ name: 'key.json', mimeType: '', buffer: Buffer.from(buffer) })
    await openDrawer('CONFIG')
    await press('Edit')
    const numbers = config.locator('.line-numbers')
    await expect.poll(() => numbers.textContent()).toBe('1\n2\n3\n4\n')
    await config.getByLabel('Wrap lines').check()
    await numbers.waitFor({ state: 'detached' })
    await load('\uFEFF\0')
    await config.getByText('The file is not UTF-8 text.').waitFor()
    await load('{"a":[1.50],\r\n"b":"planted"}\r\n')
    await config.getByText('Windows line breaks (CR LF), which are kept').waitFor()
    // Writing 1.50 again would make it 1.5.
    expect(await config.getByRole('button', { name: 'Format JSON' }).count()).toBe(0)
    await press('Save to Production')
    await field('CONFIG').waitFor({ state: 'detached' })
    expect(await stored('CONFIG')).toBe('{"a":[1.50],\r\n"b":"planted"}\r\n')
    await press('Edit')
    await field('CONFIG').fill('{"a":[1],"b":"planted  {"}')
    await press('Format JSON')
    const formatted = '{\n  "a": [\n    1\n  ],\n  "b": "planted  {"\n}'
    await expect.poll(() => field('CONFIG').inputValue()).toBe(formatted)
    await load('{\n\t"key": "planted-json"\n}\n')
    await press('Save to Production')
    await field('CONFIG').waitFor({ state: 'detached' })
    await closeDrawer()
  })

  test('keeps the line breaks of Windows', async () => {
    await openDrawer('WINDOWS')
    await press('Edit')
    await dialogOf(page).getByText('Windows line breaks (CR LF), which are kept').waitFor()
    await field('WINDOWS').fill('planted-a\nplanted-b\nplanted-c\n')
    await press('Save to Production')
    await field('WINDOWS').waitFor({ state: 'detached' })
    expect(await stored('WINDOWS')).toBe('planted-a\r\nplanted-b\r\nplanted-c\r\n')
    await closeDrawer()
  })

  test('stays typed when the drawer is closed, and nothing stays if nothing was typed', async () => {
    await openDrawer('API_KEY')
    await press('Edit')
    await field('API_KEY').waitFor()
    await closeDrawer()
    await value(page, 'API_KEY', 'Production').waitFor()
    await openDrawer('API_KEY')
    await press('Edit')
    await field('API_KEY').fill('planted-typed\nplanted-more')
    await closeDrawer()
    await page
      .getByRole('row', { name: /API_KEY/ })
      .getByText('edited', { exact: true })
      .waitFor()
    await pickTool(page, 'API_KEY', 'Edit API_KEY in Production')
    await expect.poll(() => field('API_KEY').inputValue()).toBe('planted-typed\nplanted-more')
    await press('Discard')
    await closeDrawer()
    await expectShown(page, 'API_KEY', 'Production', 'planted-short')
  })

  test('stays sealed while the keyring is locked', async () => {
    await openDrawer('API_KEY')
    await press('Edit')
    await field('API_KEY').fill('planted-sealed\nplanted-more')
    await steps.lock(page)
    await field('API_KEY').waitFor({ state: 'detached' })
    await press('Reveal the value of API_KEY')
    await unlockAbove()
    await expect.poll(() => field('API_KEY').inputValue()).toBe('planted-sealed\nplanted-more')
    await press('Discard')
    await closeDrawer()
  })

  test('can be generated, and the generated one taken back', async () => {
    await openDrawer('API_KEY')
    await press('Edit')
    await press('Generate')
    await expect.poll(() => field('API_KEY').inputValue()).toMatch(/^[A-Za-z0-9]{32}$/)
    await press('Undo')
    await expect.poll(() => field('API_KEY').inputValue()).toBe('planted-short')
    await closeDrawer()
  })

  test('that somebody else stored meanwhile is compared above the drawer', async () => {
    await openDrawer('API_KEY')
    await press('Edit')
    await field('API_KEY').fill('planted-mine\nplanted-more')
    await putSecret(world, owner.bearer(), place, 'API_KEY', 'planted-theirs')
    await press('Save to Production')
    await press('Compare')
    const comparing = page.getByRole('dialog', { name: 'API_KEY changed meanwhile' })
    await comparing.getByLabel('Theirs').getByText('planted-theirs').waitFor()
    await comparing.getByRole('button', { name: 'Keep mine' }).click()
    await field('API_KEY').waitFor({ state: 'detached' })
    expect(await stored('API_KEY')).toBe('planted-mine\nplanted-more')
    await closeDrawer()
  })
})

describe('the history', () => {
  test('shows the lines that a version changed, and those since any other version', async () => {
    await openDrawer('CONFIG')
    await config.getByRole('button', { name: 'Difference of version 2', exact: true }).click()
    await config.getByLabel('Removed').getByText('planted-first').waitFor()
    await config.getByLabel('Added').getByText('planted-second').waitFor()
    expect(await config.getByLabel('Unchanged').allInnerTexts()).toEqual([
      expect.stringContaining('planted-kept'),
      expect.stringContaining('planted-end'),
    ])
    await config.getByRole('combobox', { name: 'Compared with' }).click()
    await page.getByRole('option', { name: 'Version 4' }).click()
    await config.getByLabel('Removed').getByText('planted-json').waitFor()
    expect(await axeProblems(page)).toEqual([])
    await steps.lock(page)
    await config.getByLabel('Removed').first().waitFor({ state: 'detached' })
    expect(await page.content()).not.toContain('planted')
  })

  test('restores an earlier version', async () => {
    await config.getByRole('button', { name: 'Restore version 1' }).click()
    await config.getByText('restored from version 1').waitFor()
    expect(await stored('CONFIG')).toBe('planted-first\nplanted-kept\nplanted-end')
    await closeDrawer()
    await steps.unlockWithPassphrase(page)
  })
})

describe('the details', () => {
  test('are written in the drawer, and the SDK reads them', async () => {
    await openDrawer('CONFIG')
    await press('Edit details')
    await config.getByLabel('Description').fill('planted-description\nof the shop')
    await config.getByLabel('Tags').fill('planted-tag')
    await config.getByLabel('Tags').press('Enter')
    await config.getByRole('combobox', { name: 'Owner' }).click()
    await page.getByRole('option', { name: 'grace@example.com' }).click()
    await config.getByLabel('Expires').fill('2099-05-04')
    await config.getByText('Encrypted: only').waitFor()
    await config.getByText('Not encrypted: the server reads this').waitFor()
    await press('Save details')
    await told(page, 'Saved the details of CONFIG.')
    await config.getByText('planted-description').waitFor()
    await config.getByText('4 May 2099').or(config.getByText('May 4, 2099')).waitFor()
    expect(await noted('CONFIG')).toMatchObject({
      description: 'planted-description\nof the shop',
      tags: ['planted-tag'],
      ownerId: expect.stringMatching(/^usr_/),
      expiresAt: '2099-05-04T00:00:00.000Z',
      notNeeded: false,
    })
  })

  test('are refused at the field', async () => {
    await press('Edit details')
    await config.getByLabel('Expires').fill('2001-05-04')
    await press('Save details')
    await config.getByText('Must be in the future.').waitFor()
    await config.getByLabel('Description').fill('planted '.repeat(70))
    await config.getByText('A description has at most 500 characters.').waitFor()
    await press('Cancel')
  })

  test('are not replaced if somebody else described the secret meanwhile', async () => {
    await press('Edit details')
    await config.getByLabel('Description').fill('planted-of-ada')
    await describeSecret(sdk(), { orgId, envId, name: 'CONFIG' }, { description: 'planted-of-grace' }, dek)
    await press('Save details')
    await config.getByText('Stored now: planted-of-grace').waitFor()
    expect(await noted('CONFIG')).toMatchObject({ description: 'planted-of-grace' })
    await press('Save details')
    await told(page, 'Saved the details of CONFIG.')
    expect(await noted('CONFIG')).toMatchObject({ description: 'planted-of-ada', tags: ['planted-tag'] })
    await closeDrawer()
  })

  test('are not replaced either if the page has loaded the newer ones behind the form', async () => {
    await openDrawer('CONFIG')
    await press('Edit details')
    await config.getByLabel('Description').fill('planted-again-of-ada')
    await describeSecret(sdk(), { orgId, envId, name: 'CONFIG' }, { description: 'planted-later-of-grace' }, dek)
    const isDetails = ({ pathname }: URL) => pathname.endsWith(`/envs/${envId}/secret-details`)
    // A request that the page gave up for a newer one does not finish.
    const loaded = page.waitForEvent('requestfinished', (request) => isDetails(new URL(request.url())))
    let isLoaded = false
    void loaded.then(() => (isLoaded = true))
    // The page loads again what is older than a second when a person comes back to it.
    const comeBack = () => page.evaluate(() => void dispatchEvent(new Event('visibilitychange'))).then(() => isLoaded)
    await expect.poll(comeBack).toBe(true)
    await press('Save details')
    await config.getByText('Stored now: planted-later-of-grace').waitFor()
    expect(await noted('CONFIG')).toMatchObject({ description: 'planted-later-of-grace' })
    await press('Cancel')
    await closeDrawer()
  })

  test('say that a name is not needed in an environment that lacks it', async () => {
    await openDrawer('CONFIG')
    await config.getByRole('button', { name: 'Staging' }).click()
    await press('Edit details')
    await config.getByLabel('Not needed here').check()
    await press('Save details')
    await config.getByText('missing in this environment on purpose').waitFor()
    await closeDrawer()
  })

  test('a name that is not needed in an environment does not count as missing there', async () => {
    await page.getByRole('button', { name: 'Set CONFIG in Staging, which is not needed' }).waitFor()
    expect(
      await page
        .getByRole('row', { name: /^CONFIG/ })
        .getByText('missing')
        .count(),
    ).toBe(0)
    await page.getByRole('columnheader', { name: 'Staging' }).getByLabel('2 missing').waitFor()
    await page.getByLabel('Show').getByText('Missing 2', { exact: true }).waitFor()
    await pickTool(page, 'CONFIG', 'Details of CONFIG in Staging')
    await press('Edit details')
    await config.getByLabel('Not needed here').uncheck()
    await press('Save details')
    await closeDrawer()
    await page.getByLabel('Show').getByText('Missing 3', { exact: true }).waitFor()
  })

  test('of another secret do not open, and saving other details keeps them', async () => {
    const sealed = await sealDetails({ description: 'planted-moved', tags: [] }, dek, envId, 'CONFIG')
    const params = { orgId, envId, name: 'WINDOWS' }
    await sdk().secretDetails.update({ params, body: { sealed } })
    await lookAgain(page)
    await openDrawer('WINDOWS')
    const opened = drawer(page, 'WINDOWS')
    await opened.getByText('The description cannot be decrypted').waitFor()
    await press('Edit details')
    await opened.getByText('The description cannot be decrypted').waitFor()
    expect(await opened.getByLabel('Description').count()).toBe(0)
    await opened.getByLabel('Expires').fill('2099-05-04')
    await press('Save details')
    await told(page, 'Saved the details of WINDOWS.')
    const { details } = await sdk().secretDetails.list({ params })
    expect(details.find(({ name }) => name === 'WINDOWS')?.sealed).toBe(sealed)
    await closeDrawer()
  })
})

describe('a protected environment', () => {
  test('gets a proposal from the drawer, and keeps its value', async () => {
    await protect(world, owner.bearer(), place)
    await lookAgain(page)
    await page.getByLabel('Protected', { exact: true }).waitFor()
    await openDrawer('API_KEY')
    await press('Edit')
    await field('API_KEY').fill('planted-proposed\nplanted-lines')
    await dialogOf(page).getByLabel('Why API_KEY changes').fill('the old one leaked')
    await press('Propose for Production')
    await told(page, 'The change of API_KEY waits for approval.')
    await dialogOf(page).getByText('a change waits for approval').waitFor()
    await closeDrawer()
    await queued(page, /API_KEY/).waitFor()
    expect(await stored('API_KEY')).toBe('planted-mine\nplanted-more')
    await openChange(page, 'Change API_KEY')
    await page.getByText('the old one leaked').waitFor()
    await unprotect(world, owner.bearer(), place)
  })
})

describe('a person without the key', () => {
  test('sees no value, and can ask for access', async () => {
    const { page } = member
    await openApp(page, 'Web shop')
    await page.goto(`${new URL(page.url()).pathname}?secret=CONFIG&in=production`)
    const opened = drawer(page, 'CONFIG')
    await opened.getByText('You hold no key of Production, so its values cannot be shown.').waitFor()
    expect(await opened.getByRole('button', { name: /Reveal|Edit|Restore/ }).count()).toBe(0)
    await opened.getByRole('button', { name: 'Ask for access' }).click()
    await page.getByRole('dialog', { name: 'Ask for access' }).getByLabel('Production of Web shop').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Ask for access' }).waitFor({ state: 'detached' })
    await opened.waitFor()
  })
})

describe('the pages', () => {
  test('neither sent nor stored a value or a description', async () => {
    expect(await leaks(world, { owner })).toEqual([])
  })

  test('caused no console warnings and no Content-Security-Policy violations', () => {
    expect([owner.complaints, member.complaints]).toEqual([[], []])
  })
})
