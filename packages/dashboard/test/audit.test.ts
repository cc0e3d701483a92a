import { readFile } from 'node:fs/promises'
import { apps } from '@skerry/contract/apps/endpoints'
import { audit } from '@skerry/contract/audit/endpoints'
import { auditProof } from '@skerry/contract/audit-proof/endpoints'
import { invites } from '@skerry/contract/members/endpoints'
import { describe, expect, test } from 'vitest'
import { seal } from '../../server/src/features/audit-proof/seal.ts'
import * as journey from './journey.ts'
import { axeProblems, joins, newPlace, putSecret } from './org-journey.ts'
import { beginWalk, leaks } from './walk.ts'

// The audit log of an organization in which more happened than one page of it holds.

const grace = 'grace@example.com'
const renamings = 120

const { world, owner, page } = await beginWalk()
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
/** The whole log, newest first, as another client reads it. */
const all = list.entries
expect(list.nextCursor).toBeNull()
/** Those of each day of UTC, the oldest day first: midnight may pass while they are written. */
const days = [...Map.groupBy(all.toReversed(), ({ createdAt }) => createdAt.slice(0, 10)).values()]
await journey.goTo(page, 'Audit log')

const rows = () => page.getByRole('button', { name: 'Show details' })
const expectRows = (count: number) => expect.poll(() => rows().count()).toBe(count)
const toTheEnd = () => page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))

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

describe('a long log', () => {
  test('begins with its newest entries, and an export has these and no more', async () => {
    await expectRows(50)
    expect(idsOf(await exported('JSON'))).toEqual(all.slice(0, 50).map(({ id }) => id))
  })

  test('goes on when its end comes into sight, down to the very first entry', async () => {
    await toTheEnd()
    await expectRows(100)
    await toTheEnd()
    await expectRows(all.length)
    await page.getByText(`All ${all.length} entries`).waitFor()
    await page.getByRole('row', { name: /Organization created/ }).waitFor()
  })

  test('is exported as it is shown, and no value is in it', async () => {
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

  test('counts every entry, in bars and in a table', async () => {
    await bars().first().waitFor()
    expect(await bars().count()).toBe(days.length)
    const counts = await chart().getByRole('cell').allInnerTexts()
    expect(counts.reduce((sum, count) => sum + Number(count), 0)).toBe(all.length)
    expect(await axeProblems(page)).toEqual([])
  })

  test('leads to the entries of a time, and then counts its hours', async () => {
    await bars().first().click()
    await page.getByRole('figure', { name: 'Entries in each hour' }).waitFor()
    await expect.poll(() => new URL(page.url()).searchParams.has('since')).toBe(true)
    await expectRows(Math.min(days[0]!.length, 50))
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    await page.getByRole('figure', { name: 'Entries in each day' }).waitFor()
    await expectRows(all.length)
  })

  test('counts what the filter lets through, and is away where that is nothing', async () => {
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

test('how much is sealed is told, with the checkpoint to copy and the command that checks it', async () => {
  const proof = page.getByRole('group', { name: 'Proof that nothing was changed' })
  await seal(world.server.context)
  await page.reload()
  const { body: now } = await world.call(auditProof.checkpoint, { as: bearer(), params: { orgId } })
  await proof.getByText(`${now.size} entries are sealed`).waitFor()
  await proof.getByText('skerry audit verify --org').waitFor()
  // No page of this server may read the clipboard: what is written is caught before it gets there.
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

  test('by what happened is kept when the page is loaded again', async () => {
    await filterBy('What happened', 'Secret written')
    await expectRows(1)
    await page.reload()
    await page.getByText('One entry').waitFor()
    await page.getByRole('row', { name: /API_KEY in Web shop 120 \/ Production/ }).waitFor()
    const [written] = all.filter(({ action }) => action === 'secret.written')
    expect(idsOf(await exported('JSON'))).toEqual([written?.id])
    await cleared()
  })

  test('of many pages goes on within what it lets through', async () => {
    await filterBy('What happened', 'Application renamed')
    await expectRows(50)
    await toTheEnd()
    await expectRows(100)
    await toTheEnd()
    await page.getByText(`All ${renamings} entries`).waitFor()
    await cleared()
  })

  test('by who did it, and to what kind of thing', async () => {
    await filterBy('By', grace)
    await page.getByRole('row', { name: /Member joined/ }).waitFor()
    await page
      .getByRole('row', { name: /Application renamed/ })
      .first()
      .waitFor({ state: 'detached' })
    await filterBy('To a', 'application')
    await page.getByText('No matching entry').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Export what is shown' }).count()).toBe(0)
    expect(await axeProblems(page)).toEqual([])
    await cleared()
  })

  test('by an id takes one that is typed, and says of what is none that it is none', async () => {
    const field = page.getByLabel('With the id')
    await field.fill('no id!')
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true')
    await field.fill(place.envId)
    await field.press('Enter')
    const expected = all.filter(({ resourceId }) => resourceId === place.envId).map(({ id }) => id)
    await expectRows(expected.length)
    expect(idsOf(await exported('JSON'))).toEqual(expected)
    await cleared()
  })

  test('by days takes the first and the last of them, and is kept when the page is loaded again', async () => {
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

  test('by an id is a link away from every entry', async () => {
    await filterBy('What happened', 'Environment created')
    await expectRows(1)
    await rows().click()
    await page.getByRole('link', { name: 'Everything that happened to it' }).click()
    await page.getByText(/^(One entry|All \d+ entries)$/).waitFor()
    await expect.poll(() => page.getByLabel('With the id').inputValue()).toBe(place.envId)
    await cleared()
  })
})

test('an action or type that does not exist is dropped from an address, and the rest of the filter stays', async () => {
  const address = new URL(page.url())
  address.search = `action=token.borrowed&resourceType=spaceship&resourceId=${place.envId}`
  await page.goto(address.href)
  await page.getByText(/^(One entry|All \d+ entries)$/).waitFor()
  expect(await page.getByLabel('With the id').inputValue()).toBe(place.envId)
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await expectRows(50)
})

test('a search that the server stops goes on by itself, and the timeline says how far it counted', async () => {
  const { context } = world.server
  const usual = context.auditSearch
  context.auditSearch = { listMs: 0, timelineMs: 0, pieceEntries: 10 }
  await page.reload()
  await page.getByText('Counted back to').waitFor()
  await filterBy('What happened', 'Organization created')
  await page.getByRole('row', { name: /Organization created/ }).waitFor()
  await page.getByText('One entry').waitFor()
  context.auditSearch = usual
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await expectRows(50)
})

test('no value was sent or kept', async () => {
  expect(await leaks(world, { owner })).toEqual([])
})

test('nothing was complained about by the console or the Content-Security-Policy', () => {
  expect(owner.complaints).toEqual([])
})
