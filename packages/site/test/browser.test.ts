import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { missingChromium, type Visitor, visit } from '../../dashboard/test/browser.ts'
import { axeProblems } from '../../dashboard/test/org-steps.ts'
import { openWorld, type World } from '../../server/test/world.ts'

// The built site in a browser, as a server sends it: under the policy of its pages.

describe.skipIf(missingChromium())('a reader', () => {
  let world: World
  let reader: Visitor
  beforeAll(async () => {
    world = await openWorld()
    reader = await visit(world.url)
  })
  afterAll(async () => {
    await reader?.close()
    await world?.close()
  })

  const search = async (words: string) => {
    const { page } = reader
    await page.goto('/docs/')
    await page.keyboard.press('/')
    await page.keyboard.type(words)
    await page.locator('.hit').first().waitFor()
    return page.locator('.hit').allInnerTexts()
  }

  test.each([
    ['give CI a token that reads only production', 'Secrets in CI'],
    ['how do I restore a backup', 'Backup and restore'],
    ['what does the server see', 'See what the server and its operator can read'],
    ['what happens when I lose my passphrase', 'Recover from a forgotten passphrase'],
    ['move from Doppler', 'Move from Doppler'],
    ['rotate a leaked token', 'Replace a leaked token'],
    ['which ports', 'Ports'],
    ['run two servers', 'Several servers'],
    ['HA', 'Several servers'],
    ['uninstall', 'Remove Skerry'],
    ['two-person approval', 'Approvals'],
    ['second person approve', 'Approvals'],
    ['what can the operator read', 'See what the server and its operator can read'],
    ['operator read secrets', 'See what the server and its operator can read'],
    ['make a secret file for docker', 'Secrets in Docker Compose'],
    ['quota_exceeded', 'Troubleshooting'],
    ['SKERRY_SMTP_URL', 'SKERRY_SMTP_URL'],
    ['createSkerry', 'createSkerry'],
    ['tokens.create', 'tokens.create'],
    ['nextjs', 'Secrets in Next.js'],
  ])('who searches for "%s" finds %s at the top', async (words, expected) => {
    const found = await search(words)
    expect(found[0]).toMatch(new RegExp(expected))
  })

  test('a task and the section that it leads to are one result', async () => {
    await search('rotate a database password')
    const addresses = await reader.page.locator('.hit').evaluateAll((links) => links.map((link) => `${link}`))
    expect(addresses.length).toBeGreaterThan(3)
    expect(new Set(addresses).size).toBe(addresses.length)
  })

  test('Enter opens the first result at its heading', async () => {
    await search('forgot passphrase')
    await reader.page.keyboard.press('Enter')
    await reader.page.waitForURL(/\/docs\/recovery\/#i-forgot-my-passphrase$/)
  })

  test('arrow keys choose another result, and Escape closes the list', async () => {
    await search('token')
    await reader.page.keyboard.press('ArrowDown')
    await reader.page.keyboard.press('ArrowDown')
    expect(
      await reader.page
        .locator('.hit')
        .nth(1)
        .evaluate((link) => link === document.activeElement),
    ).toBe(true)
    await reader.page.keyboard.press('Escape')
    expect(await reader.page.locator('.results').isHidden()).toBe(true)
  })

  test.each(['', 'concepts/', 'threat-model/', 'api/tokens/', 'sdk-reference/'])(
    '/docs/%s has no accessibility fault, light or dark',
    async (path) => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await reader.page.emulateMedia({ colorScheme })
        await reader.page.goto(`/docs/${path}`)
        expect(await axeProblems(reader.page)).toEqual([])
      }
    },
  )

  test('on a phone nothing but code and tables scrolls sideways, and the list of pages begins closed', async () => {
    await reader.page.setViewportSize({ width: 360, height: 740 })
    for (const path of ['quick-start/', 'settings/', 'concepts/', 'api/']) {
      await reader.page.goto(`/docs/${path}`)
      const width = await reader.page.evaluate(() => document.documentElement.scrollWidth)
      expect([path, width]).toEqual([path, 360])
    }
    expect(await reader.page.locator('.menu').getAttribute('open')).toBeNull()
    await reader.page.setViewportSize({ width: 1280, height: 800 })
  })

  test('the browser asked only this server, and complained about nothing', () => {
    const origin = world.url.replace('127.0.0.1', 'localhost')
    const urls = reader.sent.map((line) => line.replace(/^[A-Z]+ /, '').split(' ', 1)[0] as string)
    expect(urls.length).toBeGreaterThan(20)
    expect(urls.filter((url) => !url.startsWith(`${origin}/docs`) && url !== 'about:blank')).toEqual([])
    expect(reader.complaints).toEqual([])
  })
})
