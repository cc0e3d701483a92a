import { grants } from '@skerry/contract/grants'
import { secrets } from '@skerry/contract/secrets'
import { expect, test } from 'vitest'
import { create, openApp, openEnvironment } from '../apps-journey.ts'
import { lookAgain } from '../changes-journey.ts'
import { axeProblems, putSecret } from '../org-journey.ts'
import { meet } from '../walk.ts'

// A server that shows one environment under the name of another, so that what is typed is sealed for that one.

const walk = await meet()
const { world, owner, place } = walk
await putSecret(world, owner.bearer(), place, 'API_KEY', 'planted-before-51c2aa')
await openApp(owner.page, 'Web shop')
await create(owner.page, 'New environment', 'Staging')

/** Two environments change their names in the database: the honest server in front of it tells what it finds. */
const swapNames = async (one: string, other: string) => {
  const { db } = world.server.context
  const rename = 'update environments set name = $2 where org_id = $3 and name = $1'
  for (const [from, to] of [
    [one, 'between'],
    [other, one],
    ['between', other],
  ])
    await db.rows(rename, [from, to, place.orgId])
}

const grantee = 'grace@example.com'
const holders = async () =>
  (await world.call(grants.list, { as: owner.bearer(), params: { orgId: place.orgId, envId: place.envId } })).body
    .grants.length

test('the key of an environment that goes by another’s name is granted once the person says that somebody meant it', async () => {
  const { page } = owner
  const before = await holders()
  await swapNames('Production', 'Staging')
  await lookAgain(page)
  await openApp(page, 'Web shop')
  // Under this name is the environment that was Production.
  await openEnvironment(page, 'Staging')
  await page.getByRole('button', { name: 'Grant access' }).click()
  const granting = page.getByRole('dialog', { name: /^Grant the key of/ })
  await granting.getByLabel('To').click()
  await page.getByRole('option', { name: grantee }).click()
  await granting.getByLabel(`I compared these words with ${grantee}`).check()
  await granting.getByRole('button', { name: 'Grant' }).click()
  const asked = page.getByRole('dialog', { name: 'This is another environment than before' })
  await asked
    .getByText('Web shop / Staging means another environment than the one that this browser knows by that name.')
    .waitFor()
  expect(await axeProblems(page)).toEqual([])
  await asked.getByRole('button', { name: 'Cancel' }).click()
  await asked.waitFor({ state: 'hidden' })
  expect(await holders()).toBe(before)
  await granting.getByRole('button', { name: 'Grant' }).click()
  await asked.getByRole('button', { name: 'Somebody meant it' }).click()
  await granting.waitFor({ state: 'hidden' })
  expect(await holders()).toBe(before + 1)
  const params = { orgId: place.orgId, envId: place.envId }
  expect((await world.call(secrets.list, { as: owner.bearer(), params })).body.secrets).toHaveLength(1)
})
