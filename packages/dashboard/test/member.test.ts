import { beforeAll, describe, expect, test } from 'vitest'
import {
  acceptReaders,
  addSecret,
  create,
  createApp,
  edit,
  expectShown,
  grantKey,
  openApp,
  openEnvironment,
  value,
} from './apps-steps.ts'
import { withdraw } from './changes-steps.ts'
import { axeProblems } from './org-steps.ts'
import { join, leaks, openOwner } from './scene.ts'
import * as steps from './steps.ts'

// The actions that each page offers to a plain member. No page offers an action that the server would refuse.

const grace = 'grace@example.com'

const walk = await openOwner()
const { world, owner } = walk
await createApp(owner.page, 'Web shop')
await create(owner.page, 'New environment', 'Production')
await addSecret(owner.page, 'API_KEY', 'planted-api-key', ['Production'])
await createApp(owner.page, 'Empty')
await steps.goTo(owner.page, 'Groups')
await create(owner.page, 'New group', 'Shared')
const member = await join(walk, grace)
const { page } = member
const refused: string[] = []
page.on('response', (response) => {
  if (response.status() >= 400) refused.push(`${response.status()} ${new URL(response.url()).pathname}`)
})

const main = () => page.getByRole('main')

/** Returns the names of the page's own buttons, except those that only show, sort or copy something. */
async function offered(): Promise<string[]> {
  await expect.poll(() => main().locator('[aria-busy=true]').count()).toBe(0)
  const buttons = await main().locator('button:not(.list-sort, .phone-only)').all()
  const names = await Promise.all(
    buttons.map(async (button) => (await button.getAttribute('aria-label')) ?? (await button.innerText())),
  )
  return names.filter((name) => !/^(Copy|Reveal|Unlock$)/.test(name))
}

const commands = () => main().locator('code').allInnerTexts()

describe('a member without a key', () => {
  test('sees the applications first, without a button to create one', async () => {
    await page.getByRole('link', { name: 'Web shop' }).waitFor()
    await expect.poll(offered).toEqual([])
  })

  test('reads who can create what does not exist yet', async () => {
    for (const [where, name] of [
      ['Applications', 'Empty'],
      ['Groups', 'Shared'],
    ] as const) {
      await steps.goTo(page, where)
      await page.getByRole('link', { name, exact: true }).click()
      await main().getByText('Ask an admin of the organization to create the first one').waitFor()
      expect([await offered(), await commands()]).toEqual([[], []])
    }
  })

  test('reads that a key is missing, and who can help', async () => {
    await openApp(page, 'Web shop')
    await main().getByText('You hold no key here').waitFor()
    expect((await offered()).filter((name) => /Add|Paste|New/.test(name))).toEqual([])
    await main().getByRole('link', { name: 'Production' }).click()
    await main().getByText('You do not hold the key of this environment').waitFor()
    expect([await offered(), await commands()]).toEqual([[], []])
    for (const [tab, text] of [
      ['Branches', 'No branch'],
      ['Composition', 'No group is composed in'],
      ['Protection', 'Not protected'],
    ] as const) {
      await steps.openTab(page, tab)
      await main().getByText(text).waitFor()
      expect([await offered(), await commands()]).toEqual([[], []])
    }
    expect(await axeProblems(page)).toEqual([])
  })

  test('sees the changes, and the members with their keys', async () => {
    await steps.goTo(page, 'Changes')
    await main().getByText('No change waits for approval').waitFor()
    expect((await offered()).filter((name) => /Approve|Reject/.test(name))).toEqual([])
    await steps.goTo(page, 'Members')
    await page.getByRole('row', { name: grace }).waitFor()
    // The words of a key load last and move the rows. They may include `adapt`, which matches /Ada/.
    await page
      .getByRole('row', { name: /Ada/ })
      .getByText(/^(\w+ ){11}\w+$/)
      .waitFor()
    await expect.poll(offered).toEqual(['Actions for Ada', `Actions for ${grace}`])
    await page.getByRole('button', { name: 'Actions for Ada' }).click()
    await expect.poll(() => page.getByRole('menuitem').allInnerTexts()).toEqual(['Compare the key…'])
    await page.keyboard.press('Escape')
    await page.getByRole('menuitem').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: `Actions for ${grace}` }).click()
    await expect.poll(() => page.getByRole('menuitem').allInnerTexts()).toEqual(['Leave Acme & Co…'])
    await page.keyboard.press('Escape')
  })
})

describe('a page for admins', () => {
  test('is neither in the sidebar nor in the command palette of a member', async () => {
    const links = await page.getByRole('navigation').getByRole('link').allInnerTexts()
    expect(links.slice(0, 4)).toEqual(['Applications', 'Groups', 'Changes', 'Members'])
    expect(links).not.toContain('Audit log')
    await page.keyboard.press('Control+k')
    await page.getByLabel('Find or do').fill('service token')
    await page.getByText('Nothing by that name').waitFor()
    await page.keyboard.press('Escape')
  })

  test.each(['tokens?create=true', 'honey-tokens?create=true', 'clients?create=true', 'audit', 'settings'])(
    'explains that it is for admins if a member follows a link to %s',
    async (path) => {
      await page.goto(`/orgs/acme-co/${path}`)
      await main().getByText('This is for owners and admins').waitFor()
      await main().getByText('Ask one of its admins').waitFor()
      expect([await offered(), await commands()]).toEqual([[], []])
      await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    },
  )

  test('does not show the invitation dialog or list to a member', async () => {
    await page.goto('/orgs/acme-co/members?create=true')
    await page.getByRole('row', { name: grace }).waitFor()
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    await expect.poll(() => main().getByText('Invitations').count()).toBe(0)
  })
})

describe('a member with a key', () => {
  beforeAll(async () => {
    await openApp(owner.page, 'Web shop')
    await owner.page.reload()
    await steps.unlockWithPassphrase(owner.page)
    await openEnvironment(owner.page, 'Production')
    await grantKey(owner.page, grace)
    await page.goto('/orgs/acme-co/apps/web-shop')
    await steps.unlockWithPassphrase(page)
  })

  test('can read and write secrets', async () => {
    await expectShown(page, 'API_KEY', 'Production', 'planted-api-key')
    await addSecret(page, 'PARTNER_KEY', 'planted-partner', ['Production'])
    await value(page, 'PARTNER_KEY', 'Production').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'New environment' }).count()).toBe(0)
  })

  test('can fork and delete branches, but is offered no change of composition or protection', async () => {
    await openEnvironment(page, 'Production', 'Composition')
    await main().getByText('No group is composed in').waitFor()
    expect(await offered()).toEqual([])
    await steps.openTab(page, 'Protection')
    await main().getByText('Not protected').waitFor()
    expect(await offered()).toEqual([])
    await steps.openTab(page, 'Branches')
    await page.getByRole('button', { name: 'Fork a branch' }).waitFor()
    await expect.poll(offered).toEqual(['Fork a branch'])
    await page.getByRole('button', { name: 'Fork a branch' }).click()
    await page.getByRole('dialog').getByLabel('Slug').fill('pr-7')
    await page.getByRole('dialog').getByRole('button', { name: 'Fork' }).click()
    await acceptReaders(page)
    await page.getByRole('link', { name: 'pr-7' }).click()
    await page.getByRole('heading', { name: 'pr-7', level: 1 }).waitFor()
    await steps.openTab(page, 'Settings')
    await page.getByRole('button', { name: 'Delete…' }).waitFor()
    await expect.poll(offered).toEqual(['Delete…'])
    await page.getByRole('button', { name: 'Delete…' }).click()
    await page.getByRole('dialog').getByRole('textbox').fill('pr-7')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('heading', { name: 'Web shop', level: 1 }).waitFor()
  })
})

describe('a member in a protected environment', () => {
  beforeAll(async () => {
    await steps.openTab(owner.page, 'Protection')
    await owner.page.getByRole('button', { name: 'Protect' }).click()
    await owner.page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await owner.page.getByText('Needs one approval').waitFor()
    await page.reload()
    await steps.unlockWithPassphrase(page)
  })

  test('can propose a change, and is then offered only to withdraw it', async () => {
    await edit(page, 'API_KEY', 'Production', 'planted-proposed')
    await page.getByLabel('Why API_KEY changes').fill('the provider asks for it')
    await page.getByRole('button', { name: 'Propose' }).click()
    await page
      .getByRole('row', { name: /API_KEY/ })
      .getByText('queued')
      .waitFor()
    await steps.goTo(page, 'Changes')
    await page.getByRole('link', { name: 'Change API_KEY' }).click()
    await page.getByText('The proposed value differs from the current one.').waitFor()
    await expect.poll(offered).toEqual(['Withdraw…'])
    await withdraw(page)
    await page.getByText('withdrawn', { exact: true }).waitFor()
    await expect.poll(offered).toEqual([])
  })
})

test('the server refused no request of these pages except for keys that were not granted', () => {
  expect(refused.filter((line) => !/^403 .*\/(key|secrets)$/.test(line))).toEqual([])
})

test('the page neither sent nor stored a secret value', async () => {
  expect(await leaks(world, { member })).toEqual([])
})

test('the page caused no console warnings and no Content-Security-Policy violations', () => {
  expect([owner.complaints, member.complaints]).toEqual([[], []])
})
