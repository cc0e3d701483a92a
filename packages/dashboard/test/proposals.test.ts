import { changes } from '@skerry/contract/changes/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { members } from '@skerry/contract/members/endpoints'
import type { Route } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { dialogOf, edit, openApp, openColumnMenu, pickTool } from './apps-steps.ts'
import { told } from './browser.ts'
import { lookAgain, openChange, queued, row } from './changes-steps.ts'
import { axeProblems, protect, putSecret } from './org-steps.ts'
import { grantTo, join, leaks, openPair } from './scene.ts'
import * as steps from './steps.ts'

// A proposal reaches the approval queue exactly once, whatever happens to its page. Nobody approves a value unseen by
// accident.

const onItsWay = 'planted-on-its-way-e5b830'

const walk = await openPair()
const { world, owner, member, place } = walk
await grantTo(walk, place, member)
const together = ['GONE_ONE', 'GONE_TWO', 'GONE_THREE']
for (const name of ['NEW_ONE', 'NEW_TWO', 'ROTATED', 'OLD_KEY', 'REJECTED', 'PASTED_ONE', ...together])
  await putSecret(world, owner.bearer(), place, name, 'planted-first')
await protect(world, owner.bearer(), place)
await openApp(member.page, 'Web shop')

/** Returns the number of open changes of a secret. */
async function countOpen(name: string): Promise<number> {
  const params = { orgId: place.orgId }
  const query = { status: 'open', envId: place.envId } as const
  const { body } = await world.call(changes.list, { as: member.bearer(), params, query })
  return body.changeRequests.filter(({ secretName }) => secretName === name).length
}

/** Proposes a value and delays the answer. Returns a function that lets the answer arrive or loses it. */
async function proposeHeld(name: string) {
  const { page } = member
  const stored = Promise.withResolvers<void>()
  const decided = Promise.withResolvers<'arrives' | 'is lost'>()
  const answered = Promise.withResolvers<void>()
  const path = `**/secrets/${name}`
  const hold = async (route: Route) => {
    if (route.request().method() !== 'PUT') return route.continue()
    const response = await route.fetch()
    stored.resolve()
    const outcome = await decided.promise
    // The page may be closed by now.
    await (outcome === 'arrives' ? route.fulfill({ response }) : route.abort()).catch(() => {})
    answered.resolve()
  }
  await page.route(path, hold)
  await edit(page, name, 'Production', onItsWay)
  await page.getByRole('button', { name: 'Propose' }).click()
  await stored.promise
  return async (outcome: 'arrives' | 'is lost') => {
    decided.resolve(outcome)
    // If the route were removed earlier, Chromium would send the waiting request again, and the proposal would arrive
    // twice.
    await answered.promise
    await page.unroute(path, hold)
  }
}

const editor = (name: string) => member.page.getByLabel(`Value of ${name} in Production`)

/** Proposes a value and loses the answer. */
async function proposeLost(name: string) {
  const answer = await proposeHeld(name)
  await answer('is lost')
  await member.page.getByText('Not saved yet, and kept here').waitFor()
}

describe('a proposal that is being sent', () => {
  test('is queued once if the person leaves the page and comes back', async () => {
    const { page } = member
    const answer = await proposeHeld('NEW_TWO')
    await steps.goTo(page, 'Changes')
    await openApp(page, 'Web shop')
    await row(page, /NEW_TWO/).waitFor()
    await answer('arrives')
    await queued(page, /NEW_TWO/).waitFor()
    expect(await editor('NEW_TWO').count()).toBe(0)
    expect(await countOpen('NEW_TWO')).toBe(1)
  })

  test('is queued once if the page is reloaded', async () => {
    const { page } = member
    const answer = await proposeHeld('NEW_ONE')
    await lookAgain(page)
    await answer('is lost')
    await told(page, 'The change of NEW_ONE waits for approval.')
    await queued(page, /NEW_ONE/).waitFor()
    expect(await editor('NEW_ONE').count()).toBe(0)
    expect(await countOpen('NEW_ONE')).toBe(1)
  })

  test('is queued once if its answer is lost and it is sent again', async () => {
    const { page } = member
    await proposeLost('ROTATED')
    await page.getByRole('button', { name: 'Try again' }).click()
    await editor('ROTATED').waitFor({ state: 'detached' })
    await queued(page, /ROTATED/).waitFor()
    expect(await countOpen('ROTATED')).toBe(1)
  })

  test('is kept and shown again if it fails after the person left the page', async () => {
    const { page } = member
    const failure = { status: 500, json: { error: { code: 'internal', message: 'something went wrong' } } }
    const begun = Promise.withResolvers<void>()
    const decided = Promise.withResolvers<void>()
    const fail = async (route: Route) => {
      if (route.request().method() !== 'PUT') return route.continue()
      begun.resolve()
      await decided.promise
      await route.fulfill(failure)
    }
    await page.route('**/secrets/OLD_KEY', fail)
    await edit(page, 'OLD_KEY', 'Production', onItsWay)
    await page.getByRole('button', { name: 'Propose' }).click()
    await begun.promise
    await steps.goTo(page, 'Changes')
    decided.resolve()
    await openApp(page, 'Web shop')
    await editor('OLD_KEY').waitFor()
    expect(await editor('OLD_KEY').inputValue()).toBe(onItsWay)
    await page.unroute('**/secrets/OLD_KEY', fail)
    await editor('OLD_KEY').press('Escape')
    expect(await countOpen('OLD_KEY')).toBe(0)
  })
})

describe('a proposal whose answer was lost', () => {
  /** Rejects the only open change of a secret, and opens the application again in the same tab. */
  async function reject(name: string) {
    const { page } = member
    const params = { orgId: place.orgId }
    const query = { status: 'open', envId: place.envId } as const
    const { body } = await world.call(changes.list, { as: owner.bearer(), params, query })
    const changeRequestId = body.changeRequests.find(({ secretName }) => secretName === name)?.id as string
    const rejected = { as: owner.bearer(), params: { ...params, changeRequestId }, body: {} }
    expect((await world.call(changes.reject, rejected)).status).toBe(200)
    await steps.goTo(page, 'Changes')
    await openApp(page, 'Web shop')
    await row(page, new RegExp(name)).waitFor()
  }
  async function proposeAgain(name: string) {
    const { page } = member
    await edit(page, name, 'Production', onItsWay)
    await page.getByRole('button', { name: 'Propose' }).click()
    await editor(name).waitFor({ state: 'detached' })
    expect(await countOpen(name)).toBe(1)
  }

  test('is sent again if it was rejected', async () => {
    const { page } = member
    await proposeLost('REJECTED')
    await editor('REJECTED').press('Escape')
    await reject('REJECTED')
    await proposeAgain('REJECTED')
    await queued(page, /REJECTED/).waitFor()
  })

  test('is left out of a group, and the group’s other values are proposed', async () => {
    const { page } = member
    await proposeLost('PASTED_ONE')
    await editor('PASTED_ONE').press('Escape')
    await openColumnMenu(page, 'Production', 'Import a file…')
    const names = ['PASTED_ONE', 'PASTED_TWO', 'PASTED_THREE']
    await dialogOf(page)
      .getByLabel('Text of the file')
      .fill(names.map((name) => `${name}=${onItsWay}\n`).join(''))
    await dialogOf(page).getByLabel('PASTED_ONE', { exact: true }).check()
    await dialogOf(page).getByRole('button', { name: 'Propose 3 secrets' }).click()
    await told(page, '3 changes wait for approval.')
    expect(await Promise.all(names.map(countOpen))).toEqual([1, 1, 1])
  })
})

describe('a proposal to delete', () => {
  test('is queued once if its answer is lost and it is sent again', async () => {
    const { page } = member
    let isFirst = true
    const loseFirst = async (route: Route) => {
      if (route.request().method() !== 'DELETE' || !isFirst) return route.continue()
      isFirst = false
      await route.fetch()
      await route.abort()
    }
    await page.route('**/secrets/OLD_KEY?*', loseFirst)
    await pickTool(page, 'OLD_KEY', 'Details of OLD_KEY in Production')
    await dialogOf(page).getByRole('button', { name: 'Delete…' }).click()
    const asked = page.getByRole('dialog', { name: 'Delete OLD_KEY' })
    await asked.getByRole('button', { name: 'Propose' }).click()
    await asked.getByRole('alert').waitFor()
    await asked.getByRole('button', { name: 'Propose' }).click()
    await told(page, 'The deletion of OLD_KEY waits for approval.')
    await page.unroute('**/secrets/OLD_KEY?*', loseFirst)
    expect(await countOpen('OLD_KEY')).toBe(1)
  })

  test('of several secrets is left out of another group, whose other deletions are proposed', async () => {
    const { page } = member
    const select = (name: string) => page.getByRole('checkbox', { name: `Select ${name}`, exact: true }).click()
    const act = (label: string) => dialogOf(page).getByRole('button', { name: label, exact: true }).click()
    const loseFirst = async (route: Route) => {
      await route.fetch()
      await route.abort()
    }
    const [one = '', two = '', three = ''] = together
    const path = '**/change-requests'
    await page.route(path, (route) => (route.request().method() === 'POST' ? loseFirst(route) : route.continue()))
    await select(one)
    await select(two)
    await page.getByRole('button', { name: 'Delete…' }).click()
    await act('Propose to delete 2 secrets')
    await dialogOf(page).getByText(`Not deleted from Production: ${one}`).waitFor()
    await page.unroute(path)
    await act('Cancel')
    await dialogOf(page).waitFor({ state: 'detached' })
    await select(two)
    await select(three)
    await page.getByRole('button', { name: 'Delete…' }).click()
    await act('Propose to delete 2 secrets')
    await told(page, 'The deletion of 2 secrets waits for approval.')
    expect(await Promise.all(together.map(countOpen))).toEqual([1, 1, 1])
  })
})

describe('an admin without the key', () => {
  test('reads that they cannot see the value, and must confirm the approval', async () => {
    const email = 'linus@example.com'
    const linus = await join(walk, email)
    const params = { orgId: place.orgId }
    const { body } = await world.call(me.get, { as: linus.bearer() })
    const userId = body.principal.id
    await world.call(members.update, { as: owner.bearer(), params: { ...params, userId }, body: { role: 'admin' } })
    const { page } = linus
    await page.reload()
    await openChange(page, 'Change NEW_TWO')
    await page.getByText('you cannot read the value that you approve').waitFor()
    expect(await page.getByRole('button', { name: 'Approve', exact: true }).count()).toBe(0)
    const approve = page.getByRole('button', { name: 'Approve without seeing the value' })
    await approve.click()
    await dialogOf(page).getByText('You hold no key of this environment').waitFor()
    expect(await axeProblems(page)).toEqual([])
    await dialogOf(page).getByRole('button', { name: 'Do not approve' }).click()
    await dialogOf(page).waitFor({ state: 'hidden' })
    expect(await countOpen('NEW_TWO')).toBe(1)
    await approve.click()
    await dialogOf(page).getByRole('button', { name: 'Approve without seeing the value' }).click()
    await page.getByText('applied', { exact: true }).waitFor()
    expect(linus.complaints).toEqual([])
  })
})

test('a change whose proposer was removed says so on its page and in the list', async () => {
  const gone = await join(walk, 'gone@example.com')
  await grantTo(walk, place, gone)
  await putSecret(world, gone.bearer(), place, 'OF_A_THIEF', 'planted-by-a-thief')
  const { body } = await world.call(me.get, { as: gone.bearer() })
  const params = { orgId: place.orgId, userId: body.principal.id }
  await world.call(members.remove, { as: owner.bearer(), params })
  const { page } = owner
  await page.reload()
  await steps.goTo(page, 'Changes')
  await row(page, 'Create OF_A_THIEF').getByText('(removed)').waitFor()
  await openChange(page, 'Create OF_A_THIEF')
  await page.getByText('The proposer was removed from the organization').waitFor()
  expect(await axeProblems(page)).toEqual([])
})

test('the page neither sent nor stored a secret value', async () => {
  expect(await leaks(world, { member })).toEqual([])
})

test('the page caused only the expected console errors', () => {
  expect(member.complaints.filter((text) => !/ERR_FAILED|status of 500/.test(text))).toEqual([])
})
