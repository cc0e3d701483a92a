import { readFile } from 'node:fs/promises'
import { apps } from '@skerry/contract/apps/endpoints'
import { audit } from '@skerry/contract/audit/endpoints'
import { auditProof } from '@skerry/contract/audit-proof/endpoints'
import { invites } from '@skerry/contract/members/endpoints'
import { describe, expect, test } from 'vitest'
import { seal } from '../../server/src/features/audit-proof/seal.ts'
import { axeProblems, joins, newPlace, putSecret } from './org-steps.ts'
import { leaks, openOwner } from './scene.ts'
import * as steps from './steps.ts'

// The audit log of an organization with more entries than one page shows.

const grace = 'grace@example.com'
const renamings = 120

const { world, owner, page } = await openOwner()
const { bearer } = owner
const place = await newPlace(world, bearer())
const { orgId } = place
await putSecret(world, bearer(), place, 'API_KEY', 'planted-api-key')
await world.call(invites.create, { as: bearer(), params: { orgId }, body: { email: grace } })
await joins(world, bearer(), place, grace)
const { body } = await world.call(apps.list, { as: bearer(), params: { orgId } })
const params = { orgId, appId: body.apps[0]?.id as string }
for (let i = 1; i <= renamings; i++)
  await world.call(apps.update, { as: bearer(), params, body: { name: `Web shop ${i}` } })
const { body: list } = await world.call(audit.list, { as: bearer(), params: { orgId }, query: { limit: 200 } })
/** All entries, the newest first, as another client reads them. */
const all = list.entries
expect(list.nextCursor).toBeNull()
/** The entries of each day (UTC), the oldest day first. Midnight may pass while the entries are written. */
const days = [...Map.groupBy(all.toReversed(), ({ createdAt }) => createdAt.slice(0, 10)).values()]
await steps.goTo(page, 'Audit log')

const rows = () => page.getByRole('button', { name: 'Show details' })
const expectRows = (count: number) => expect.poll(() => rows().count()).toBe(count)
const toTheEnd = () => page.evaluate(() => document.querySelector('.body')?.scrollTo(0, 1e6))

async function exported(format: 'JSON' | 'CSV'): Promise<string> {
  await page.getByRole('button', { name: 'Export what is shown' }).click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: format }).click(),
  ])
  return readFile(await download.path(), 'utf8')
}

const idsOf = (json: string): string[] => JSON.parse(json).entries.map(({ id }: { id: string }) => id)

async function filterBy(label: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: label }).click()
  await page.getByRole('combobox', { name: label }).fill(option)
  await page.getByRole('option', { name: option, exact: true }).click()
}

describe('a long audit log', () => {
  test('shows the newest 50 entries first, and an export contains exactly these', async () => {
    await expectRows(50)
    expect(idsOf(await exported('JSON'))).toEqual(all.slice(0, 50).map(({ id }) => id))
  })

  test('loads more when its end comes into sight, down to the very first entry', async () => {
    await toTheEnd()
    await expectRows(100)
    await toTheEnd()
    await expectRows(all.length)
    await page.getByText(`All ${all.length} entries`).waitFor()
    await page.getByRole('row', { name: /created the organization/ }).waitFor()
  })

  test('is exported as shown, without secret values', async () => {
    const [json, csv] = [await exported('JSON'), await exported('CSV')]
    expect(idsOf(json)).toEqual(all.map(({ id }) => id))
    const lines = csv.trimEnd().split('\r\n')
    expect(lines.slice(1).map((line) => all.findIndex(({ id }) => line.includes(id)))).toEqual([...all.keys()])
    for (const text of [json, csv]) {
      expect(text).toContain('API_KEY')
      expect(text).not.toContain('planted')
    }
  })
})

describe('the timeline', () => {
  const chart = () => page.getByRole('figure', { name: /Entries in each/ })
  const bars = () => chart().getByRole('link')

  test('counts every entry in its bars and in its table', async () => {
    await bars().first().waitFor()
    expect(await bars().count()).toBe(days.length)
    const counts = await chart().getByRole('cell').allInnerTexts()
    expect(counts.reduce((sum, count) => sum + Number(count), 0)).toBe(all.length)
    expect(await axeProblems(page)).toEqual([])
  })

  test('leads to the entries of a bar, and then counts by the hour', async () => {
    await bars().first().click()
    await page.getByRole('figure', { name: 'Entries in each hour' }).waitFor()
    await expect.poll(() => new URL(page.url()).searchParams.has('since')).toBe(true)
    await expectRows(Math.min(days[0]!.length, 50))
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    await page.getByRole('figure', { name: 'Entries in each day' }).waitFor()
    await expectRows(all.length)
  })

  test('counts the entries that match the filter, and disappears if there are none', async () => {
    await filterBy('What happened', 'Application renamed')
    await chart().getByText(`environments ${renamings}`, { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    await filterBy('What happened', 'Service token revoked')
    await page.getByText('No matching entry').waitFor()
    await chart().waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    await expectRows(all.length)
  })
})

test('the page shows how many entries are sealed, the checkpoint to copy, and the command that verifies it', async () => {
  const proof = page.getByRole('group', { name: 'Proof that nothing was changed' })
  await seal(world.server.context)
  await page.reload()
  const { body: now } = await world.call(auditProof.checkpoint, { as: bearer(), params: { orgId } })
  await proof.getByText(`${now.size} entries are sealed`).waitFor()
  await proof.getByText('skerry audit verify --org').waitFor()
  // Pages of this server may not read the clipboard, so the copied text is caught before it gets there.
  await page.evaluate(() => {
    navigator.clipboard.writeText = async (text) => {
      document.documentElement.dataset.copied = text
    }
  })
  await proof.getByRole('button', { name: 'Copy the checkpoint' }).click()
  await proof.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await page.evaluate(() => document.documentElement.dataset.copied)).toBe(now.checkpoint)
  expect(await axeProblems(page)).toEqual([])
})

describe('a filter', () => {
  const cleared = async () => {
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    await expectRows(50)
  }

  test('by action stays after a reload', async () => {
    await filterBy('What happened', 'Secret written')
    await expectRows(1)
    await page.reload()
    await page.getByText('One entry').waitFor()
    await page.getByRole('row', { name: /API_KEY.* Web shop 120 Production/ }).waitFor()
    const [written] = all.filter(({ action }) => action === 'secret.written')
    expect(idsOf(await exported('JSON'))).toEqual([written?.id])
    await cleared()
  })

  test('with many pages of results loads only matching entries', async () => {
    await filterBy('What happened', 'Application renamed')
    await expectRows(50)
    await toTheEnd()
    await expectRows(100)
    await toTheEnd()
    await page.getByText(`All ${renamings} entries`).waitFor()
    await cleared()
  })

  test('can combine an actor and a resource type', async () => {
    await filterBy('Person or token', grace)
    await page.getByRole('row', { name: /joined/ }).waitFor()
    await page
      .getByRole('row', { name: /renamed an application to/ })
      .first()
      .waitFor({ state: 'detached' })
    await filterBy('Resource', 'application')
    await page.getByText('No matching entry').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Export what is shown' }).count()).toBe(0)
    expect(await axeProblems(page)).toEqual([])
    await cleared()
  })

  test('accepts a typed ID, and marks a text that is not an ID as invalid', async () => {
    const field = page.getByLabel('ID', { exact: true })
    await field.fill('no id!')
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true')
    await field.fill(place.envId)
    await field.press('Enter')
    const expected = all.filter(({ resourceId }) => resourceId === place.envId).map(({ id }) => id)
    await expectRows(expected.length)
    expect(idsOf(await exported('JSON'))).toEqual(expected)
    await cleared()
  })

  test('by days includes the first and the last day, and stays after a reload', async () => {
    const dayOf = (entry: { createdAt: string }, daysLater = 0) =>
      page.evaluate(
        ([instant, days]) => {
          const at = new Date(instant)
          at.setDate(at.getDate() + days)
          return at.toLocaleDateString('sv')
        },
        [entry.createdAt, daysLater] as const,
      )
    const [newest, oldest] = [all[0]!, all.at(-1)!]
    const [before, last, after] = await Promise.all([dayOf(oldest, -1), dayOf(newest), dayOf(newest, 1)])
    await page.getByLabel('From').fill(before)
    await page.getByLabel('Through').fill(last)
    await expect.poll(() => new URL(page.url()).searchParams.has('until')).toBe(true)
    await expectRows(50)
    await page.reload()
    await expectRows(50)
    expect(idsOf(await exported('JSON'))).toEqual(all.slice(0, 50).map(({ id }) => id))
    expect(await page.getByLabel('Through').inputValue()).toBe(last)
    await page.getByLabel('From').fill(after)
    await page.getByText('No matching entry').waitFor()
    await page.getByLabel('From').fill('')
    await expectRows(50)
    await page.getByLabel('Through').fill(before)
    await page.getByText('No matching entry').waitFor()
    await cleared()
  })

  test('by the ID of an entry’s resource is one link away from the entry', async () => {
    await filterBy('What happened', 'Environment created')
    await expectRows(1)
    await rows().click()
    await page.getByRole('link', { name: 'All entries about this resource' }).click()
    await page.getByText(/^(One entry|All \d+ entries)$/).waitFor()
    await expect.poll(() => page.getByLabel('ID', { exact: true }).inputValue()).toBe(place.envId)
    await cleared()
  })
})

test('the page drops an unknown action or type from its address, and keeps the rest of the filter', async () => {
  const address = new URL(page.url())
  address.search = `action=token.borrowed&resourceType=spaceship&resourceId=${place.envId}`
  await page.goto(address.href)
  await page.getByText(/^(One entry|All \d+ entries)$/).waitFor()
  expect(await page.getByLabel('ID', { exact: true }).inputValue()).toBe(place.envId)
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await expectRows(50)
})

test('a search that the server interrupts continues by itself, and the timeline says how far back it counted', async () => {
  const { context } = world.server
  const usual = context.auditSearch
  context.auditSearch = { listMs: 0, timelineMs: 0, pieceEntries: 10 }
  await page.reload()
  await page.getByText('Counted back to').waitFor()
  await filterBy('What happened', 'Organization created')
  await page.getByRole('row', { name: /created the organization/ }).waitFor()
  await page.getByText('One entry').waitFor()
  context.auditSearch = usual
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await expectRows(50)
})

test('the page neither sent nor stored a secret value', async () => {
  expect(await leaks(world, { owner })).toEqual([])
})

test('the page caused no console warnings and no Content-Security-Policy violations', () => {
  expect(owner.complaints).toEqual([])
})
