import { me } from '@skerry/contract/me/endpoints'
import { teams } from '@skerry/contract/teams/endpoints'
import { generateKeyPair, publicKeyJwkOf } from '@skerry/crypto/keys'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { dialogOf } from '../apps-steps.ts'
import { told } from '../browser.ts'
import { choose } from '../org-steps.ts'
import { openPair } from '../scene.ts'
import * as steps from '../steps.ts'

// A malicious server chooses who is in a team, which keys are missing, and which public keys and names people have. Each test
// checks who gets a key.

const { world, owner, member, place } = await openPair()
const { page } = owner
const grace = 'grace@example.com'
const graceId = (await world.call(me.get, { as: member.bearer() })).body.principal.id
const { publicKeyJwk: evil } = await newKeys()

async function newKeys() {
  return { publicKeyJwk: publicKeyJwkOf((await generateKeyPair()).privateKey) }
}

beforeAll(async () => {
  const as = owner.bearer()
  const { orgId, envId } = place
  const { body } = await world.call(teams.create, { as, params: { orgId }, body: { name: 'Crew' } })
  const params = { orgId, teamId: body.team.id }
  await world.call(teams.addMembers, { as, params, body: { userIds: [graceId] } })
  await world.call(teams.addEnvironments, { as, params, body: { environmentIds: [envId] } })
  // The owner compares the words of Grace's real key.
  await openCrew()
  await complete()
  await dialogOf(page)
    .getByRole('button', { name: `Compare words of ${grace}` })
    .click()
  await dialogOf(page).getByLabel(`I compared these words with ${grace}`).click()
  await dialogOf(page).getByText(`${grace} gets Web shop / Production`).waitFor()
  await close()
})
afterEach(() => page.unrouteAll({ behavior: 'wait' }))

async function openCrew() {
  await steps.goTo(page, 'Teams')
  await page.getByRole('link', { name: 'Crew', exact: true }).click()
  await page.getByRole('heading', { name: 'Crew', level: 1 }).waitFor()
}
const complete = () => page.getByRole('button', { name: 'Complete' }).click()
const grantButton = () => dialogOf(page).getByRole('button', { name: /^Grant \d/ })
const close = async () => {
  await dialogOf(page).getByRole('button', { name: 'Cancel' }).click()
  await dialogOf(page).waitFor({ state: 'hidden' })
}

type Json = Record<string, Record<string, unknown>[]>
const lie = (path: string, rewrite: (body: Json) => unknown) =>
  page.route(path, async (route) => {
    if (route.request().method() !== 'GET') return route.fallback()
    const response = await route.fetch()
    await route.fulfill({ response, json: rewrite(await response.json()) })
  })
/** Rewrites the rows of members, or of missing keys. */
const rewriteMembers = (change: (one: Record<string, unknown>) => unknown) =>
  lie('**/members', (body) => ({ ...body, members: body.members?.map(change) }))
const rewriteMissing = (change: (one: Record<string, unknown>) => unknown) =>
  lie('**/missing-grants**', (body) => ({ ...body, missing: body.missing?.map(change) }))
const isGrace = (one: Record<string, unknown>) => (one.userId ?? one.principalId) === graceId
const withEvilKey = (one: Record<string, unknown>) => (isGrace(one) ? { ...one, publicKeyJwk: evil } : one)
/** Returns the grants that the page sent. */
const granted = (since: number) => owner.sent.slice(since).filter((text) => /^POST \S+\/(grants|keys) /.test(text))

test('a key that differs from the compared one gets nothing, and the person who completes a team is told', async () => {
  await rewriteMembers(withEvilKey)
  await rewriteMissing(withEvilKey)
  await openCrew()
  const since = owner.sent.length
  await complete()
  await dialogOf(page).getByText('the key has changed since you compared it.').waitFor()
  expect(await grantButton().isDisabled()).toBe(true)
  await close()
  expect(granted(since)).toEqual([])
})

test('a key that differs from the compared one gets nothing from the dialog that grants access', async () => {
  await rewriteMembers(withEvilKey)
  await rewriteMissing(withEvilKey)
  await openCrew()
  const since = owner.sent.length
  await page.getByRole('button', { name: 'Grant access' }).click()
  await dialogOf(page).getByText('the key has changed since you compared it.').waitFor()
  await dialogOf(page).getByRole('checkbox', { name: 'Production of Web shop' }).check()
  await dialogOf(page).getByRole('button', { name: 'Grant 1 environment' }).click()
  await dialogOf(page).waitFor({ state: 'hidden' })
  await told(page, '1 person waits for their keys.')
  expect(granted(since)).toEqual([])
})

test('a key that differs from the compared one when the button is pressed gets nothing for a limited time', async () => {
  await steps.goTo(page, 'Members')
  await choose(page, grace, 'Grant access…')
  await dialogOf(page).getByRole('checkbox', { name: 'Production of Web shop' }).check()
  await dialogOf(page).getByLabel('For how long').click()
  await page.getByRole('option', { name: '8 hours' }).click()
  const since = owner.sent.length
  const grant = dialogOf(page).getByRole('button', { name: 'Grant 1 environment' })
  await expect.poll(() => grant.isEnabled()).toBe(true)
  // Another tab has compared another key since this dialog looked: the key that it shows is not the person's. The button is
  // pressed in the same moment, before an event makes the dialog look again.
  const pins = await grant.evaluate((button, id) => {
    const before = localStorage.getItem('skerry-known-keys') ?? '{}'
    const known = JSON.parse(before)
    localStorage.setItem(
      'skerry-known-keys',
      JSON.stringify({ ...known, [id]: { ...known[id], fingerprint: 'other' } }),
    )
    ;(button as HTMLElement).click()
    return before
  }, graceId)
  await dialogOf(page).getByText('differs from the one that was compared').waitFor()
  expect(granted(since)).toEqual([])
  await page.evaluate((before) => localStorage.setItem('skerry-known-keys', before), pins)
  await close()
})

test('a key that differs from the compared one cannot be chosen for a limited time', async () => {
  await rewriteMembers(withEvilKey)
  await steps.goTo(page, 'Members')
  await choose(page, grace, 'Grant access…')
  await dialogOf(page).getByText('the key has changed since you compared it.').waitFor()
  await dialogOf(page).getByRole('checkbox', { name: 'Production of Web shop' }).check()
  await dialogOf(page).getByLabel('For how long').click()
  await page.getByRole('option', { name: '8 hours' }).click()
  await dialogOf(page).getByText('Nobody gets a key now, and access with an end cannot wait.').waitFor()
  expect(await grantButton().isDisabled()).toBe(true)
  await close()
})

test('a false key in the list of missing keys alone gets nothing', async () => {
  await rewriteMissing(withEvilKey)
  await openCrew()
  const since = owner.sent.length
  await complete()
  await dialogOf(page).getByText('the server shows two keys').waitFor()
  expect(await grantButton().isDisabled()).toBe(true)
  await close()
  expect(granted(since)).toEqual([])
})

test('a known person under the name of another gets nothing without a new comparison', async () => {
  await rewriteMembers((one) => (isGrace(one) ? { ...one, name: 'Ada Lovelace' } : one))
  await openCrew()
  await complete()
  await dialogOf(page).getByText(`this browser knows the key as that of ${grace}`).waitFor()
  expect(await grantButton().isDisabled()).toBe(true)
  await close()
})

test('an environment is shown by the name that the browser knows, whatever label the list has', async () => {
  await rewriteMissing((one) => ({ ...one, label: 'web-shop/sandbox' }))
  await openCrew()
  await complete()
  await dialogOf(page).getByText(`${grace} gets Web shop / Production`).waitFor()
  expect(await dialogOf(page).getByText('sandbox').count()).toBe(0)
  await close()
})

test('no attack: the person whose words were compared gets the key', async () => {
  await openCrew()
  const since = owner.sent.length
  await complete()
  await dialogOf(page).getByRole('button', { name: 'Grant 1 key' }).click()
  await dialogOf(page).waitFor({ state: 'hidden' })
  expect(granted(since)).toHaveLength(1)
})

test('the browser complained about nothing', () => {
  expect(owner.complaints).toEqual([])
})
