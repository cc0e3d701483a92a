import { cliLogin } from '@skerry/contract/cli-login/endpoints'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { axeProblems } from './org-steps.ts'
import { askForCliSession } from './page-steps.ts'
import { desk, openPage, type PageRow, pages } from './pages.ts'
import { openSite, type Site } from './site.ts'
import { harbour } from './teams.ts'

let site: Site

beforeAll(async () => {
  site = await openSite()
})
afterAll(() => site?.close())

/** Pages with long names are checked in one scheme, because they have the same colours. */
const schemesOf = ({ of }: PageRow) => (of === 'long' ? (['light'] as const) : (['light', 'dark'] as const))

const phone = { width: 360, height: 740 }

test.each(pages)('the page $name is accessible (axe), and does not move sideways at 360 px', async (row) => {
  const page = await openPage(site, row)
  const found: string[] = []
  for (const size of [desk, phone]) {
    await page.setViewportSize(size)
    for (const colorScheme of schemesOf(row)) {
      await page.emulateMedia({ colorScheme })
      await page.evaluate(settled, colorScheme)
      for (const problem of await axeProblems(page)) found.push(`in ${colorScheme}, ${size.width} px: ${problem}`)
    }
  }
  await page.setViewportSize(phone)
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  await page.setViewportSize(desk)
  expect([...found, ...(wider > 0 ? [`${wider} px wider than a phone`] : [])]).toEqual([])
})

/** Runs in the page. Waits until all colour transitions have ended. */
async function settled(colorScheme: string) {
  const frame = () => new Promise(requestAnimationFrame)
  while (document.documentElement.dataset.mantineColorScheme !== colorScheme) await frame()
  await frame()
  const changing = document.getAnimations().filter((animation) => animation instanceof CSSTransition)
  await Promise.allSettled(changing.map(({ finished }) => finished))
}

test('a terminal is signed in as the person who approves its code', async () => {
  const { world, visitors } = site
  const asked = await askForCliSession(world)
  await visitors.member.page.goto(`/cli/${asked.code}`)
  await visitors.member.page.getByRole('button', { name: 'Approve' }).click()
  await visitors.member.page.getByText('Go back to the terminal').waitFor()
  const { body } = await world.call(cliLogin.poll, { body: { code: asked.code } })
  expect(body).toMatchObject({ status: 'approved', sessionId: asked.sessionId, email: harbour.people.at(-1)?.email })
})

test('a terminal is not signed in if a person denies its code', async () => {
  const { world, visitors } = site
  const asked = await askForCliSession(world)
  await visitors.owner.page.goto(`/cli/${asked.code}`)
  await visitors.owner.page.getByRole('button', { name: 'Deny' }).click()
  await visitors.owner.page.getByText('The terminal has not been signed in').waitFor()
  expect((await world.call(cliLogin.poll, { body: { code: asked.code } })).body.status).toBe('denied')
})

test('the command palette opens a page with the keyboard alone', async () => {
  const { page } = site.visitors.owner
  await page.goto('/account/keyring')
  await page.getByText('Passphrase').first().waitFor()
  await page.keyboard.press('Control+k')
  await page.getByLabel('Find or do').fill('mail')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/account/notifications')
})

test('a list is sorted by a click on a column’s name', async () => {
  const { page } = site.visitors.owner
  await page.goto('/orgs/harbour/apps')
  const names = () => page.getByRole('cell').getByRole('link').allInnerTexts()
  const head = page.getByRole('columnheader', { name: 'Name' })
  await head.getByRole('button').click()
  await expect.poll(names).toEqual(['Billing', 'Web shop'])
  expect(await head.getAttribute('aria-sort')).toBe('ascending')
  await head.getByRole('button').click()
  await expect.poll(names).toEqual(['Web shop', 'Billing'])
  expect(await head.getAttribute('aria-sort')).toBe('descending')
  await head.getByRole('button').click()
  await expect.poll(() => head.getAttribute('aria-sort')).toBeNull()
})

test('the navigation shows the number of open changes, and stays on the account pages', async () => {
  const { page } = site.visitors.owner
  const changes = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Changes' })
  await page.goto('/orgs/harbour/apps')
  await changes.getByLabel('2 open').waitFor()
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('menuitem', { name: 'Notifications' }).click()
  await page.waitForURL('**/account/notifications')
  await page.reload()
  await changes.click()
  await page.waitForURL('**/orgs/harbour/changes')
})

test('the page caused no console warnings and no Content-Security-Policy violations', () => {
  const complaints = Object.values(site.visitors).flatMap((visitor) => visitor.complaints)
  // Some pages run without a server.
  expect(complaints.filter((text) => !text.includes('ERR_FAILED'))).toEqual([])
})
