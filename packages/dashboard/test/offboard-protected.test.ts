import { me } from '@skerry/contract/me/endpoints'
import { members } from '@skerry/contract/members/endpoints'
import { expect, test } from 'vitest'
import { acceptReaders, dialogOf, openApp, openEnvironment } from './apps-steps.ts'
import { told } from './browser.ts'
import { lookAgain, protect } from './changes-steps.ts'
import { axeProblems, choose, putSecret } from './org-steps.ts'
import { grantTo, join, leaks, openPair } from './scene.ts'
import * as steps from './steps.ts'

// A person who could read a protected environment leaves. The new key is proposed, another admin gets the task and approves it.

const hana = 'hana@example.com'
const grace = 'grace@example.com'
const walk = await openPair()
const { world, owner, member, place } = walk
const { page } = owner
await grantTo(walk, place, member)
await grantTo(walk, place, await join(walk, hana))
await putSecret(world, owner.bearer(), place, 'API_KEY', 'planted-of-a-leaver-90ab')
const { body: approver } = await world.call(me.get, { as: member.bearer() })
await world.call(members.update, {
  as: owner.bearer(),
  params: { orgId: place.orgId, userId: approver.principal.id },
  body: { role: 'admin' },
})
const row = () => page.getByRole('row', { name: /^web-shop\/production(?! API_KEY)/ })

test('the offboarding proposes the new key of a protected environment, and its row waits', async () => {
  await openApp(page, 'Web shop')
  await openEnvironment(page, 'Production')
  await protect(page, {})
  await steps.goTo(page, 'Members')
  await choose(page, hana, 'Offboard…')
  await dialogOf(page).getByLabel(`Type ${hana} to confirm`).fill(hana)
  await dialogOf(page).getByRole('button', { name: 'Start' }).click()
  await page.waitForURL('**/offboardings/ofb_*')
  await acceptReaders(page)
  await row().getByText('waits for approval').waitFor()
  await page.getByText('0 of 2 done').waitFor()
})

test('the row is handed to an admin, who is told at once, and can be reminded once an hour', async () => {
  await lookAgain(member.page)
  await steps.goTo(member.page, 'Members')
  await page.getByRole('button', { name: 'More for web-shop/production', exact: true }).click()
  await page.getByRole('menuitem', { name: `Hand to ${grace}` }).click()
  await row().getByText(`handed to ${grace}`).waitFor()
  await told(member.page, `handed you a task of the offboarding of ${hana}`)
  const remind = page.getByRole('button', { name: `Remind ${grace} of web-shop/production`, exact: true })
  await remind.click()
  await told(page, 'The reminder was sent.')
  await remind.click()
  await page.getByText('Too many reminders about this row').waitFor()
  expect(await axeProblems(page)).toEqual([])
})

test('the admin comes from the message to the list, and from its row to the change, and approves it', async () => {
  const theirs = member.page
  await theirs.getByRole('button', { name: 'Show', exact: true }).click()
  await theirs.waitForURL('**/offboardings/ofb_*')
  await theirs.getByRole('link', { name: 'a change', exact: true }).click()
  await theirs.getByText('No value differs').waitFor()
  await theirs.getByRole('button', { name: 'Approve' }).click()
  await acceptReaders(theirs)
  await theirs.getByText('applied', { exact: true }).waitFor()
})

test('the row ends as done in the open page of the first admin', async () => {
  await row().getByText('re-keyed').waitFor()
  await page.getByText('1 of 2 done').waitFor()
  // The proposer made the new key.
  await row().getByText(steps.person.name).waitFor()
})

test('no page sent or stored a value, or the passphrase', async () => {
  expect(await leaks(world, { owner, member })).toEqual([])
})
