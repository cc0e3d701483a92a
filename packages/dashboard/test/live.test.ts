import { apps } from '@skerry/contract/apps/endpoints'
import { protection } from '@skerry/contract/changes/endpoints'
import { expect, test } from 'vitest'
import { addSecret, edit, openApp, save, value } from './apps-steps.ts'
import { queued } from './changes-steps.ts'
import { grantTo, join, leaks, openPair } from './scene.ts'
import { goTo } from './steps.ts'

const scene = await openPair()
const { world, owner, member, place } = scene
const { page } = owner
const other = member.page

// Longer than the two seconds that are promised, because a busy machine draws late.
const soon = { timeout: 10_000 }

test('both open the application, and each sees the initials of the other', async () => {
  await grantTo(scene, place, member)
  await openApp(page, 'Web shop')
  await openApp(other, 'Web shop')
  await page.getByText('also here').waitFor({ state: 'attached' })
  await other.getByText('also here').waitFor({ state: 'attached' })
})

test('a secret of one appears for the other without a reload, with who changed it', async () => {
  await addSecret(page, 'NEW_HERE', 'planted-1', ['Production'])
  await value(other, 'NEW_HERE', 'Production').waitFor(soon)
  await other.getByText(/^Changed by .* just now$/).waitFor(soon)
})

test('a value that is being typed stays while the other person changes something', async () => {
  await addSecret(page, 'TYPED', 'planted-2', ['Production'])
  await value(other, 'TYPED', 'Production').waitFor(soon)
  await edit(other, 'TYPED', 'Production', 'planted-draft')
  await addSecret(page, 'MEANWHILE', 'planted-3', ['Production'])
  await value(other, 'MEANWHILE', 'Production').waitFor(soon)
  const typed = other.getByLabel('Value of TYPED in Production')
  expect(await typed.inputValue()).toBe('planted-draft')
  await save(other)
  await typed.waitFor({ state: 'detached' })
})

test('a proposal of one shows in the matrix and the navigation of the other without a reload', async () => {
  const params = { orgId: place.orgId, envId: place.envId }
  const as = owner.bearer()
  const { error } = await world.call(protection.put, { as, params, body: { allowSelfApproval: true } })
  expect(error).toBeUndefined()
  await edit(page, 'NEW_HERE', 'Production', 'planted-4')
  // The page learns of the protection from the stream, too.
  await page.getByRole('button', { name: 'Propose', exact: true }).click()
  await queued(other, /NEW_HERE/).waitFor(soon)
  await other.getByRole('img', { name: '1 open' }).first().waitFor(soon)
})

test('a new application and a new member appear without a reload', async () => {
  await goTo(other, 'Applications')
  const as = owner.bearer()
  const body = { name: 'Second shop', slug: 'second-shop' }
  await world.call(apps.create, { as, params: { orgId: place.orgId }, body })
  await other.getByText('Second shop').first().waitFor(soon)
  await page.getByText('also here').waitFor({ state: 'detached', ...soon })
  await goTo(page, 'Members')
  await join(scene, 'heidi@example.com')
  await page.getByText('heidi@example.com').first().waitFor(soon)
})

test('a stream that is cut is shown quietly, and changes of the gap appear once it is back', async () => {
  await goTo(other, 'Applications')
  await other.context().setOffline(true)
  world.server.context.live.clear()
  await other.getByText('Not live: reconnecting').waitFor()
  const body = { name: 'In the gap', slug: 'in-the-gap' }
  await world.call(apps.create, { as: owner.bearer(), params: { orgId: place.orgId }, body })
  await other.context().setOffline(false)
  await other.getByText('In the gap').first().waitFor()
  await other.getByText('Not live: reconnecting').waitFor({ state: 'detached' })
})

test('two tabs of one browser share one stream, and the second takes over when the first closes', async () => {
  const tab = await member.context.newPage()
  const opened: string[] = []
  tab.on('request', (request) => request.url().endsWith('/events') && opened.push(request.url()))
  await tab.goto(other.url())
  await tab.getByText('Second shop').first().waitFor()
  expect(opened).toEqual([])
  await other.close()
  await expect.poll(() => opened.length).toBe(1)
  const body = { name: 'After the tab', slug: 'after-the-tab' }
  await world.call(apps.create, { as: owner.bearer(), params: { orgId: place.orgId }, body })
  await tab.getByText('After the tab').first().waitFor()
})

test('no plaintext is left anywhere', async () => {
  expect(await leaks(world, { owner })).toEqual([])
  expect(owner.complaints).toEqual([])
})
