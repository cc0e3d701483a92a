import { me } from '@skerry/contract/me/endpoints'
import { members } from '@skerry/contract/members/endpoints'
import { expect, test } from 'vitest'
import { acceptReaders, dialogOf, expectShown, openApp, openEnvironment } from './apps-steps.ts'
import { lookAgain, openChange, protect } from './changes-steps.ts'
import { axeProblems, putSecret } from './org-steps.ts'
import { grantTo, leaks, openPair } from './scene.ts'
import * as steps from './steps.ts'

// The owner proposes a new key for a protected environment. Another admin compares it in their own browser and approves.

const planted = 'planted-under-both-keys-51c0'
const title = 'Re-key the environment'
const walk = await openPair()
const { world, owner, member, place } = walk
await grantTo(walk, place, member)
await putSecret(world, owner.bearer(), place, 'API_KEY', planted)
const { body: grace } = await world.call(me.get, { as: member.bearer() })
await world.call(members.update, {
  as: owner.bearer(),
  params: { orgId: place.orgId, userId: grace.principal.id },
  body: { role: 'admin' },
})

test('the dialog proposes the new key, and the environment keeps its key', async () => {
  const { page } = owner
  await openApp(page, 'Web shop')
  await openEnvironment(page, 'Production')
  await protect(page, {})
  await openApp(page, 'Web shop')
  await openEnvironment(page, 'Production')
  await steps.openTab(page, 'Access')
  await page.getByRole('button', { name: 'Re-key' }).click()
  await dialogOf(page).getByLabel('Why').fill('Grace has another laptop')
  await dialogOf(page).getByLabel('I understand what this cannot undo').check()
  await dialogOf(page).getByRole('button', { name: 'Propose the new key' }).click()
  await acceptReaders(page)
  await page.getByText('The new key of Production waits for approval.').first().waitFor()
  await openChange(page, title)
  await page.getByText('You proposed this, so someone else must approve it.').waitFor()
})

test('another admin sees that no value differs and who gets the key, and approves', async () => {
  const { page } = member
  await lookAgain(page)
  await openChange(page, title)
  await page.getByText('No value differs').waitFor()
  await page.getByText('Nobody loses access.').waitFor()
  expect(await axeProblems(page)).toEqual([])
  await page.getByRole('button', { name: 'Approve' }).click()
  await acceptReaders(page)
  await page.getByText('applied', { exact: true }).waitFor()
})

test('both read the value under the new key, and nothing secret was sent or stored', async () => {
  await lookAgain(owner.page)
  await openApp(owner.page, 'Web shop')
  await expectShown(owner.page, 'API_KEY', 'Production', planted)
  expect(await leaks(world, { owner, member })).toEqual([])
})
