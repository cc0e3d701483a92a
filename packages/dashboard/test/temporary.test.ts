import { expect, test } from 'vitest'
import { endGrants } from '../../server/src/features/grants/jobs.ts'
import { dialogOf } from './apps-steps.ts'
import { leaks, openPair } from './scene.ts'
import { goTo } from './steps.ts'

// Access that ends by itself: asked for, granted, listed, ended, and named for a re-key.

const { world, owner, page, place, member } = await openPair()
const hour = 3600

async function openOverview() {
  await goTo(page, 'Access overview')
  await page.getByRole('table', { name: 'Holders and their environments' }).waitFor()
}

test('a member asks for one hour, and the admin sees that before granting', async () => {
  const { page: theirs } = member
  await goTo(theirs, 'Requests')
  await theirs.getByRole('button', { name: 'Ask for access' }).first().click()
  const ask = dialogOf(theirs)
  await ask.getByRole('checkbox', { name: 'Production of Web shop' }).check()
  await ask.getByText('1 hour', { exact: true }).click()
  await ask.getByRole('button', { name: 'Ask for 1 environment' }).click()
  await ask.waitFor({ state: 'detached' })
  await goTo(page, 'Requests')
  await page.getByRole('row', { name: 'grace' }).getByText('1 hour').waitFor()
  await page.getByRole('button', { name: /^1 hour, grant grace.* another time$/ }).click()
  expect(await dialogOf(page).getByRole('combobox', { name: 'For how long' }).inputValue()).toBe('1 hour')
  await dialogOf(page).getByRole('button', { name: 'They match, grant 1 environment' }).click()
  await dialogOf(page).waitFor({ state: 'detached' })
})

test('the answered request says who granted it, and until when', async () => {
  const { page: theirs } = member
  await theirs.getByText('Answered', { exact: true }).click()
  const row = theirs.getByRole('row', { name: 'grace' })
  await row.getByText('granted', { exact: true }).waitFor()
  await row.getByText(/by Ada/).waitFor()
  await row.getByText(/^Until /).waitFor()
})

test('the overview lists the access both ways, with its end', async () => {
  await openOverview()
  await page
    .getByRole('row', { name: 'grace' })
    .getByText(/^web-shop\/production ends/)
    .waitFor()
  await page.getByText('By environment').click()
  await page.getByRole('row', { name: 'web-shop/production' }).getByText('grace').waitFor()
})

test('the access ends by itself, and the environment is named for a re-key', async () => {
  world.clock.advance(hour + 1)
  await endGrants(world.server.context)
  await page.reload()
  await openOverview()
  await expect.poll(() => page.getByRole('row', { name: 'grace' }).count()).toBe(0)
  await goTo(page, 'Members')
  const notice = page.getByRole('alert').filter({ hasText: 'Former holders may have kept keys' })
  await notice.getByText('Web shop / Production').waitFor()
  await notice.getByText('grace').waitFor()
  expect(
    await world.server.context.db.rows(`select 1 from key_grants where org_id = $1 and ends_at is not null`, [
      place.orgId,
    ]),
  ).toEqual([])
})

test('no value has left the browser', async () => {
  expect(await leaks(world, { owner, member })).toEqual([])
})
