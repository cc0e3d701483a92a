import { grants } from '@skerry/contract/grants/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  addSecret,
  create,
  dialogOf,
  edit,
  openApp,
  openColumnMenu,
  openEnvironment,
  pickTool,
  save,
} from '../apps-steps.ts'
import { lookAgain, protect } from '../changes-steps.ts'
import { axeProblems, putSecret } from '../org-steps.ts'
import { openPair } from '../scene.ts'
import * as steps from '../steps.ts'

// A malicious server shows one environment under the name of another, so that typed values would be sealed for the
// wrong one.

const walk = await openPair()
const { world, owner, place } = walk
await putSecret(world, owner.bearer(), place, 'API_KEY', 'planted-before-51c2aa')
await openApp(owner.page, 'Web shop')
await create(owner.page, 'New environment', 'Staging')
await addSecret(owner.page, 'MAIL_KEY', 'planted-of-staging-0b77e4', ['Staging'])

/**
 * Swaps the names of two environments in the database. The honest server in front of it returns what it finds there.
 */
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

test('the key of an environment under another environment’s name is granted only after the person confirms the change', async () => {
  const { page } = owner
  const before = await holders()
  await swapNames('Production', 'Staging')
  await lookAgain(page)
  await openApp(page, 'Web shop')
  // This name now belongs to the environment that was Production.
  await openEnvironment(page, 'Staging')
  await page.getByRole('button', { name: 'Grant access' }).click()
  const granting = page.getByRole('dialog', { name: /^Grant the key of/ })
  await granting.getByLabel('To').click()
  await page.getByRole('option', { name: grantee }).click()
  await granting.getByLabel(`I compared these words with ${grantee}`).check()
  await granting.getByRole('button', { name: 'Grant' }).click()
  const asked = page.getByRole('dialog', { name: 'This name now belongs to another environment' })
  await asked.getByText('Web shop / Staging is not the environment that this browser knows by this name.').waitFor()
  expect(await axeProblems(page)).toEqual([])
  await asked.getByRole('button', { name: 'Cancel' }).click()
  await asked.waitFor({ state: 'hidden' })
  expect(await holders()).toBe(before)
  await granting.getByRole('button', { name: 'Grant' }).click()
  await asked.getByRole('button', { name: 'Somebody on my team did this' }).click()
  await granting.waitFor({ state: 'hidden' })
  expect(await holders()).toBe(before + 1)
  const params = { orgId: place.orgId, envId: place.envId }
  expect((await world.call(secrets.list, { as: owner.bearer(), params })).body.secrets).toHaveLength(1)
})

describe('an environment that was Staging and is now called Production', () => {
  const { page } = owner
  /** Returns all requests that are not reads. */
  const changes = (since: number) => owner.sent.slice(since).filter((text) => /^(POST|PUT|PATCH|DELETE) /.test(text))

  /**
   * Runs `act`, which opens the question, and answers that nobody meant the change. Returns the requests that were sent
   * other than reads.
   */
  const cancelled = async (act: () => Promise<unknown>) => {
    const since = owner.sent.length
    await act()
    const asked = page.getByRole('dialog', { name: 'This name now belongs to another environment' })
    await asked.getByText('Web shop / Production is not the environment').waitFor()
    await asked.getByRole('button', { name: 'Cancel' }).click()
    await asked.waitFor({ state: 'hidden' })
    await owner.quiet()
    return changes(since)
  }
  const close = async () => {
    await dialogOf(page).getByRole('button', { name: 'Cancel' }).click()
    await dialogOf(page).waitFor({ state: 'hidden' })
  }

  beforeEach(() => openApp(page, 'Web shop'))

  test('gets no typed value if the person cancels, and the cell keeps the value', async () => {
    await edit(page, 'MAIL_KEY', 'Production', 'planted-typed-a90c1f')
    expect(await cancelled(() => save(page))).toEqual([])
    const field = page.getByLabel('Value of MAIL_KEY in Production')
    expect(await field.inputValue()).toBe('planted-typed-a90c1f')
    await field.press('Escape')
    await field.waitFor({ state: 'detached' })
  })

  test('gets no value that was typed in the drawer if the person cancels, and no description', async () => {
    await pickTool(page, 'MAIL_KEY', 'Details of MAIL_KEY in Production')
    const drawer = page.getByRole('dialog', { name: 'MAIL_KEY', exact: true })
    await drawer.getByRole('button', { name: 'Edit', exact: true }).click()
    const field = drawer.getByLabel('Value of MAIL_KEY in Production')
    await field.fill('planted-typed-5e11d0\nplanted-more')
    expect(await cancelled(() => field.press('Control+Enter'))).toEqual([])
    expect(await field.inputValue()).toBe('planted-typed-5e11d0\nplanted-more')
    await drawer.getByRole('button', { name: 'Discard' }).click()
    await drawer.getByRole('button', { name: 'Edit details' }).click()
    await drawer.getByLabel('Description').fill('planted-description-77a0c3')
    expect(await cancelled(() => drawer.getByRole('button', { name: 'Save details' }).click())).toEqual([])
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'detached' })
  })

  test('gets no copied value if the person cancels', async () => {
    await openColumnMenu(page, 'Staging', 'Copy to another…')
    await dialogOf(page).getByRole('combobox', { name: 'Into' }).click()
    await page.getByRole('option', { name: 'Production' }).click()
    await dialogOf(page).getByText('1 added').waitFor()
    const copy = dialogOf(page).getByRole('button', { name: 'Copy 1 secret' })
    expect(await cancelled(() => copy.click())).toEqual([])
    await close()
  })

  test('gives none of its values to another environment if the person cancels', async () => {
    await create(page, 'New environment', 'Lab')
    await openColumnMenu(page, 'Production', 'Copy to another…')
    await dialogOf(page).getByRole('combobox', { name: 'Into' }).click()
    await page.getByRole('option', { name: 'Lab' }).click()
    await dialogOf(page).getByText('1 added').waitFor()
    const copy = dialogOf(page).getByRole('button', { name: 'Copy 1 secret' })
    expect(await cancelled(() => copy.click())).toEqual([])
    await close()
    await openColumnMenu(page, 'Production', 'Download .env…')
    const saved: unknown[] = []
    page.on('download', (download) => saved.push(download))
    const download = dialogOf(page).getByRole('button', { name: /^Download / })
    expect(await cancelled(() => download.click())).toEqual([])
    expect(saved).toEqual([])
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'hidden' })
  })

  test('is still asked about if the server also shows it as a new branch', async () => {
    await page.route('**/v1/orgs/*/apps/*/branches', async (route) => {
      const response = await route.fetch()
      const { environments } = await (
        await page.request.get(
          route
            .request()
            .url()
            .replace(/\/branches.*/, ''),
          {
            headers: { authorization: owner.bearer() },
          },
        )
      ).json()
      const swapped = environments.find(({ name }: { name: string }) => name === 'Production')
      const branch = { ...swapped, name: 'New work', slug: 'new-work', parentEnvironmentId: place.envId }
      await route.fulfill({ response, json: { branches: [branch] } })
    })
    // The page keeps what it has read until it is told of a change.
    await page.reload()
    await steps.unlockWithPassphrase(page)
    await openApp(page, 'Web shop')
    await page.getByRole('button', { name: 'Branches', exact: true }).waitFor()
    await edit(page, 'MAIL_KEY', 'Production', 'planted-typed-e2c4a8')
    expect(await cancelled(() => save(page))).toEqual([])
    await page.getByLabel('Value of MAIL_KEY in Production').press('Escape')
    await page.unrouteAll({ behavior: 'wait' })
  })

  test('gets no new key if the person cancels', async () => {
    await openEnvironment(page, 'Production')
    await page.getByRole('button', { name: 'Re-key' }).click()
    await dialogOf(page).getByLabel('I understand what this cannot undo').check()
    const replace = dialogOf(page).getByRole('button', { name: 'Re-key' })
    expect(await cancelled(() => replace.click())).toEqual([])
    await close()
  })

  test('is not forked if the person cancels', async () => {
    await openEnvironment(page, 'Production', 'Branches')
    await page.getByRole('button', { name: 'Fork a branch' }).first().click()
    await dialogOf(page).getByLabel('Slug').fill('pr-7')
    const fork = dialogOf(page).getByRole('button', { name: 'Fork', exact: true })
    expect(await cancelled(() => fork.click())).toEqual([])
    await close()
  })

  test('gets no proposed change if the person cancels, while it is protected', async () => {
    await openEnvironment(page, 'Production')
    await protect(page, { approvals: 1, ownCounts: true })
    await openApp(page, 'Web shop')
    await openColumnMenu(page, 'Production', 'Import a file…')
    await dialogOf(page).getByLabel('Text of the file').fill('PASTED=planted-pasted-6d1b02')
    const propose = dialogOf(page).getByRole('button', { name: 'Propose 1 secret' })
    expect(await cancelled(() => propose.click())).toEqual([])
    await close()
  })

  test('gets no new token if the person cancels', async () => {
    await steps.goTo(page, 'Service tokens')
    await page.getByRole('button', { name: 'New token' }).click()
    await dialogOf(page).getByLabel('Name').fill('web')
    await dialogOf(page).getByLabel('Reads').fill('Produc')
    await page.getByRole('option', { name: 'Web shop / Production' }).click()
    const make = dialogOf(page).getByRole('button', { name: 'Create' })
    expect(await cancelled(() => make.click())).toEqual([])
    await close()
  })
})
