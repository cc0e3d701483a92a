import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { dialogOf } from './apps-steps.ts'
import type { Visitor } from './browser.ts'
import { openPalette } from './page-steps.ts'
import { openSite, type Site } from './site.ts'
import { lock, unlockWithPasskey } from './steps.ts'

// Finding things: the search, the filter and the open secret of a matrix, the palette, and the navigation on a phone.

let site: Site
let owner: Visitor

beforeAll(async () => {
  site = await openSite()
  owner = site.visitors.owner
})
afterAll(() => site?.close())

const shop = '/orgs/harbour/apps/web-shop'
const names = () => owner.page.locator('.matrix-name .mono').allInnerTexts()

describe('a matrix', () => {
  beforeEach(async () => {
    await owner.page.goto(shop)
    await unlockWithPasskey(owner.page)
  })

  test('finds a secret by its value, which neither the address nor a request contains', async () => {
    const { page } = owner
    const sent: string[] = []
    page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`))
    await page.getByLabel('Find by name or value').fill('db.staging')
    await expect.poll(names).toEqual(['DATABASE_URL'])
    await page.reload()
    expect([page.url(), ...sent].filter((text) => text.includes('db.staging'))).toEqual([])
    expect(sent).not.toEqual([])
  })

  test('marks a value that two of three environments share, and finds those shared with production', async () => {
    const { page } = owner
    const row = page.getByRole('row', { name: /LOG_LEVEL/ })
    await expect.poll(() => row.locator('.matrix-letter').allInnerTexts()).toEqual(['A', 'A'])
    await page.getByLabel('Show').getByText('Shared with production').click()
    await expect.poll(names).toEqual(['LOG_LEVEL'])
    await page.getByLabel('Show').getByText('Shared with production 1', { exact: true }).waitFor()
    await expect.poll(() => new URL(page.url()).search).toBe('?show=production')
  })

  test('counts the secrets of each filter, and while it is locked only those that need no comparison', async () => {
    const { page } = owner
    const filters = page.getByLabel('Show').locator('label')
    const counted = async () => (await filters.allInnerTexts()).filter((text) => /\d/.test(text))
    for (const filter of ['Missing', 'Differs', 'Same']) {
      await filters.getByText(filter).click()
      await expect
        .poll(async () => (await counted()).includes(`${filter} ${await page.locator('.matrix-row').count()}`))
        .toBe(true)
    }
    await page.getByLabel('Find by name or value').fill('LOG_LEVEL')
    await expect.poll(counted).toEqual(['All 1', 'Differs 1', 'Shared with production 1'])
    await lock(page)
    await page.getByLabel('Find by name').fill('STORAGE_BUCKET')
    await expect.poll(counted).toEqual(['All 1', 'Missing 1'])
  })

  test('opens with the filter and the secret of its address', async () => {
    const { page } = owner
    await page.goto(`${shop}?show=missing&secret=LOG_LEVEL&in=development`)
    await dialogOf(page).getByText('LOG_LEVEL').first().waitFor()
    await dialogOf(page).getByText('Development').first().waitFor()
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'detached' })
    expect(new URL(page.url()).search).toBe('?show=missing')
    await unlockWithPasskey(page)
    await expect.poll(names).toContain('STORAGE_BUCKET')
    expect(await names()).not.toContain('LOG_LEVEL')
  })
})

describe('the palette', () => {
  test('loads secrets only for a search, and puts what was chosen last above the rest', async () => {
    const { page } = owner
    await page.goto('/account/keyring')
    await page.getByText('Passphrase').first().waitFor()
    const loaded: string[] = []
    page.on('request', (request) => request.url().endsWith('/secrets') && loaded.push(request.url()))
    await openPalette(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Web shop' }).first().waitFor()
    expect(loaded).toEqual([])
    await page.getByLabel('Find or do').fill('TAX_SERV')
    await page.getByRole('dialog').getByRole('button', { name: 'TAX_SERVICE_URL' }).click()
    await page.waitForURL('**/apps/web-shop?secret=TAX_SERVICE_URL')
    expect(loaded).not.toEqual([])
    await dialogOf(page).getByText('TAX_SERVICE_URL').first().waitFor()
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'detached' })
    await openPalette(page)
    await page.getByLabel('Find or do').fill('billing')
    await page.getByRole('dialog').getByRole('button', { name: 'Billing' }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/apps/billing')
    await openPalette(page)
    await expect.poll(() => page.getByRole('dialog').getByRole('button').first().innerText()).toContain('Billing')
    expect(await page.evaluate(() => localStorage.getItem('skerry-recent'))).not.toContain('TAX_SERVICE_URL')
    await page.keyboard.press('Escape')
  })
})

test('on a phone the open navigation holds the focus, and gives it back', async () => {
  const { page } = owner
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto('/orgs/harbour/members')
  const button = page.getByRole('button', { name: 'Navigation', exact: true })
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
  await button.click()
  await expect.poll(focused).toBe('Close the navigation')
  await page.keyboard.press('Shift+Tab')
  expect(await page.evaluate(() => document.activeElement?.closest('main') ?? null)).toBeNull()
  await page.keyboard.press('Escape')
  await expect.poll(focused).toBe('Navigation')
})
