import { me } from '@skerry/contract/me/endpoints'
import { expect, test } from 'vitest'
import { invitePerson, signUp } from '../../../server/test/tenant.ts'
import { row } from '../changes-steps.ts'
import { axeProblems } from '../org-steps.ts'
import { openOwner } from '../scene.ts'

// A stranger invites an existing user into an organization whose name resembles theirs.

const { world, owner, page } = await openOwner()
const joined = async () => {
  const { body } = await world.call(me.get, { as: owner.bearer() })
  return { email: body.user?.email as string, slugs: body.orgs.map(({ slug }) => slug) }
}

test('a stranger’s invitation shows that no person invited, makes nobody a member, and is gone after it was declined', async () => {
  const before = await joined()
  const stranger = await signUp(world)
  await invitePerson(world, stranger, before.email, 'admin')
  await page.goto('/account/invitations')
  const asking = row(page, new RegExp(stranger.slug))
  await asking.getByText('a token or a machine client').waitFor()
  expect(await axeProblems(page)).toEqual([])
  expect(await joined()).toEqual(before)
  await asking.getByRole('button', { name: 'Decline' }).click()
  await page.getByRole('dialog').getByText('Its admins can invite you again.').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Decline' }).click()
  await page.getByText('No invitation waits').waitFor()
  expect(await joined()).toEqual(before)
})
