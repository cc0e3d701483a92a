import { accessRequests } from '@skerry/contract/access-requests/endpoints'
import { apps } from '@skerry/contract/apps/endpoints'
import { groups } from '@skerry/contract/groups/endpoints'
import { honeyTokens } from '@skerry/contract/honey-tokens/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { invites, members } from '@skerry/contract/members/endpoints'
import { newToken } from '@skerry/crypto/token'
import type { Locator } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { recordTrips } from '../../server/src/features/honey-tokens/trips.ts'
import { dialogOf, openApp, pickTool, value } from './apps-steps.ts'
import { queued } from './changes-steps.ts'
import { axeProblems, joinsWithKey, protect, putSecret, unprotect } from './org-steps.ts'
import { grantTo, leaks, openPair } from './scene.ts'
import * as steps from './steps.ts'

// A colleague’s change appears on an open page without a reload, with their name. The colleague acts through another client.

const scene = await openPair()
const { world, owner, member: watcher, place } = scene
const { page } = watcher
const params = { orgId: place.orgId }
const as = owner.bearer()
const idOf = async (bearer: string) => (await world.call(me.get, { as: bearer })).body.principal.id
const watcherId = await idOf(watcher.bearer())
await grantTo(scene, place, watcher)
await world.call(members.update, { as, params: { ...params, userId: watcherId }, body: { role: 'admin' } })
await world.call(invites.create, { as, params, body: { email: 'third@example.com' } })
const third = await joinsWithKey(world, 'third@example.com')
for (const text of ['planted-1', 'planted-2', 'planted-3']) await putSecret(world, as, place, 'API_KEY', text)
// A change from before the stream is open appears too, but without the note that says who made it.
const streaming = page.waitForResponse((answer) => answer.url().endsWith('/events') && answer.ok())
await page.reload()
await steps.unlockWithPassphrase(page)
await openApp(page, 'Web shop')
await streaming

/**
 * Waits until the page shows everything after the act. None of these pages asks the server again by itself, so only an event
 * of the stream can bring it. The time is a limit for a failure: the figure `live_1000_streams_delay_s` measures the delay.
 * All waits begin before the act, because the page shows a note for some seconds only.
 */
async function shows(act: () => Promise<unknown>, ...shown: Locator[]): Promise<void> {
  for (const one of shown) expect(await one.filter({ visible: true }).count()).toBe(0)
  const seen = Promise.all(shown.map((one) => one.waitFor()))
  seen.catch(() => {})
  const answer = (await act()) as { error?: unknown } | undefined
  expect(answer?.error).toBeUndefined()
  await seen
}

const note = (text: string) => page.getByRole('status').getByText(text)

test('the matrix shows a new secret, and who stored it', async () => {
  await shows(
    () => putSecret(world, as, place, 'NEW_HERE', 'planted-new'),
    value(page, 'NEW_HERE', 'Production'),
    page.locator('.matrix-changed', { hasText: 'Changed by Ada just now' }),
    note('Secret written by Ada just now'),
  )
})

describe('an open drawer with typed text', () => {
  const field = page.getByLabel('Value of API_KEY in Production')

  test('says who stored a version meanwhile, and keeps the text', async () => {
    await pickTool(page, 'API_KEY', 'Details of API_KEY in Production')
    await dialogOf(page).getByRole('button', { name: 'Edit', exact: true }).click()
    await field.fill('planted-typed\nplanted-more')
    await shows(
      () => putSecret(world, as, place, 'API_KEY', 'planted-4'),
      dialogOf(page).getByText('Ada stored version 4 while you typed.'),
    )
    expect(await field.inputValue()).toBe('planted-typed\nplanted-more')
  })

  test('shows both sides, and the text is stored if the person keeps it', async () => {
    await dialogOf(page).getByRole('button', { name: 'Compare' }).click()
    const comparing = page.getByRole('dialog', { name: 'API_KEY changed meanwhile' })
    await comparing.getByText('Ada stored version 4 in Production while you typed.').waitFor()
    await comparing.getByLabel('Mine').getByText('planted-more').waitFor()
    await comparing.getByLabel('Theirs').getByText('planted-4').waitFor()
    await comparing.getByRole('button', { name: 'Keep mine' }).click()
    await field.waitFor({ state: 'detached' })
    await dialogOf(page).getByText('Version 5').first().waitFor()
    await page.keyboard.press('Escape')
  })
})

test('a proposal shows in the matrix and as a badge, and then on the page Changes, with who made it', async () => {
  await protect(world, as, place)
  await page.getByRole('row', { name: 'API_KEY' }).waitFor()
  await shows(
    () => putSecret(world, as, place, 'API_KEY', 'planted-proposed'),
    queued(page, /API_KEY/),
    page.getByRole('img', { name: '1 open' }).first(),
    note('Change proposed by Ada just now'),
  )
  await steps.goTo(page, 'Changes')
  await shows(
    () => putSecret(world, as, place, 'NEW_HERE', 'planted-proposed-too'),
    page.getByText('NEW_HERE').first(),
    page.getByRole('img', { name: '2 open' }).first(),
  )
  await unprotect(world, as, place)
})

test('the page Members shows another role, and who gave it', async () => {
  await steps.goTo(page, 'Members')
  const row = page.getByRole('row', { name: 'third@example.com' })
  await row.waitFor()
  await shows(
    () => world.call(members.update, { as, params: { ...params, userId: third.id }, body: { role: 'admin' } }),
    row.getByText('admin', { exact: false }),
    note('Role changed by Ada just now'),
  )
  await world.call(members.update, { as, params: { ...params, userId: third.id }, body: { role: 'member' } })
})

test('a request for access shows as a badge, and who asked', async () => {
  const body = { environmentIds: [place.envId], reason: 'To deploy' }
  await shows(
    () => world.call(accessRequests.create, { as: third.as, params, body }),
    page.getByRole('img', { name: '1 open' }).first(),
    note('Access asked for by third@example.com just now'),
  )
})

test('the page Decoys shows that one was tried', async () => {
  const { tokenId, tokenHash, bearer } = await newToken('skerry')
  await steps.goTo(page, 'Decoys')
  await shows(
    () => world.call(honeyTokens.create, { as, params, body: { tokenId, tokenHash, placement: 'a wiki page' } }),
    page.getByText('a wiki page'),
    note('Decoy laid out by Ada just now'),
  )
  await world.call(me.get, { as: `Bearer ${bearer}` })
  await shows(() => recordTrips(world.server.context), note('Decoy tried just now'))
})

describe('the page Audit log', async () => {
  const appId = (await world.call(apps.list, { as, params })).body.apps[0]?.id as string
  const rename = (name: string) => world.call(apps.update, { as, params: { ...params, appId }, body: { name } })
  const row = (name: string) => page.getByRole('row', { name: `renamed an application to ${name}` })
  const shown = page.getByRole('button', { name: 'Show', exact: true })

  test('counts new entries without moving the list, and shows them on request', async () => {
    await steps.goTo(page, 'Audit log')
    await page.getByRole('row', { name: /created the organization/ }).waitFor()
    await shows(() => rename('Shop one'), note('1 new entry'))
    await shows(() => rename('Shop two'), note('2 new entries'))
    expect(await row('Shop one').count()).toBe(0)
    expect(await axeProblems(page)).toEqual([])
    await shown.click()
    await row('Shop one').waitFor()
    await row('Shop two').waitFor()
    await shown.waitFor({ state: 'detached' })
  })

  test('counts only entries that match the filter, also if no entry matched before', async () => {
    const filter = page.getByRole('combobox', { name: 'What happened' })
    await filter.click()
    await filter.fill('Group created')
    await page.getByRole('option', { name: 'Group created', exact: true }).click()
    await page.getByText('No matching entry').waitFor()
    await rename('Shop three')
    const body = { name: 'Infra', slug: 'infra' }
    await shows(() => world.call(groups.create, { as, params, body }), note('1 new entry'))
    await shown.click()
    await page.getByText('One entry').waitFor()
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
  })

  test('stops counting at 50', async () => {
    await row('Shop three').waitFor()
    for (let n = 0; n < 60; n++) await rename(`Shop ${n}`)
    await note('50 or more new entries').waitFor()
    await shown.click()
    await row('Shop 59').waitFor()
    await shown.waitFor({ state: 'detached' })
  })
})

test('no plaintext is left anywhere', async () => {
  expect(await leaks(world, { watcher })).toEqual([])
  expect(watcher.complaints).toEqual([])
})
