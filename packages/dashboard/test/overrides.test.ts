import { overrides } from '@skerry/contract/overrides/endpoints'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { dialogOf, openApp, openEnvironment, pickTool } from './apps-steps.ts'
import { told } from './browser.ts'
import { lookAgain } from './changes-steps.ts'
import { axeProblems, putSecret } from './org-steps.ts'
import { grantTo, leaks, openPair } from './scene.ts'

// Values that a person stores for themselves alone.

const walk = await openPair()
const { world, owner, member, place } = walk
await putSecret(world, owner.bearer(), place, 'API_KEY', 'planted-shared')
await grantTo(walk, place, member)

const params = { orgId: place.orgId, envId: place.envId }
const stored = async (as: string) => (await world.call(overrides.list, { as, params })).body.overrides
const field = (page: Page) => page.getByLabel('My value of API_KEY in Production')
const press = (page: Page, name: string) => dialogOf(page).getByRole('button', { name, exact: true }).click()
const mark = (page: Page) => page.getByText('yours differs', { exact: true })

async function openDrawer(page: Page) {
  await pickTool(page, 'API_KEY', 'Details of API_KEY in Production')
  await dialogOf(page).getByRole('heading', { name: 'Only for me' }).waitFor()
}

async function closeDrawer(page: Page) {
  await page.keyboard.press('Escape')
  await dialogOf(page).waitFor({ state: 'detached' })
}

describe('a value for oneself', () => {
  const { page } = member

  test('is set in the drawer, and marks the cell for its person alone', async () => {
    await openApp(page, 'Web shop')
    await openDrawer(page)
    await dialogOf(page).getByText('You have no value of your own').waitFor()
    await press(page, 'Set mine')
    await field(page).fill('planted-mine\nplanted-second-line')
    await press(page, 'Save for me')
    await told(page, 'Stored your own value of API_KEY.')
    expect(await stored(member.bearer())).toHaveLength(1)
    await closeDrawer(page)
    await mark(page).waitFor()
    await openApp(owner.page, 'Web shop')
    await pickTool(owner.page, 'API_KEY', 'Details of API_KEY in Production')
    await dialogOf(owner.page).getByText('You have no value of your own').waitFor()
    expect(await mark(owner.page).count()).toBe(0)
    await closeDrawer(owner.page)
  })

  test('is revealed and replaced', async () => {
    await openDrawer(page)
    await press(page, 'Reveal my value of API_KEY')
    await dialogOf(page).getByText('planted-second-line').waitFor()
    expect(await axeProblems(page)).toEqual([])
    await press(page, 'Replace mine')
    await field(page).fill('planted-newer')
    await press(page, 'Save for me')
    await told(page, 'Stored your own value of API_KEY.')
    expect(await stored(member.bearer())).toMatchObject([{ revision: 2 }])
  })

  test('is not overwritten if another tab replaced it meanwhile, until the person saves again', async () => {
    await press(page, 'Replace mine')
    await field(page).fill('planted-late')
    const [row] = await stored(member.bearer())
    const { id: overrideId, wrappedKey, ciphertext } = row!
    const body = { wrappedKey, ciphertext, expectedRevision: 2 }
    await world.call(overrides.replace, { as: member.bearer(), params: { ...params, overrideId }, body })
    await press(page, 'Save for me')
    await dialogOf(page).getByRole('alert').waitFor()
    expect(await stored(member.bearer())).toMatchObject([{ revision: 3 }])
    await press(page, 'Save for me')
    await told(page, 'Stored your own value of API_KEY.')
    expect(await stored(member.bearer())).toMatchObject([{ revision: 4 }])
    await closeDrawer(page)
  })

  test('is counted for admins, without its name', async () => {
    await openEnvironment(owner.page, 'Production')
    await owner.page.getByText(/^1 personal override \(.* 1\)\. Only their owners can read them\.$/).waitFor()
  })

  test('is removed, and then the shared value counts', async () => {
    await lookAgain(page)
    await openDrawer(page)
    await press(page, 'Remove mine')
    await told(page, 'You get the shared value of API_KEY again.')
    await dialogOf(page).getByText('You have no value of your own').waitFor()
    expect(await stored(member.bearer())).toEqual([])
    await closeDrawer(page)
    await expect.poll(() => mark(page).count()).toBe(0)
  })

  test('never leaves the page in plaintext', async () => {
    expect(await leaks(world, { owner, member })).toEqual([])
  })
})
