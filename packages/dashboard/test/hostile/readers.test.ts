import { me } from '@skerry/contract/me/endpoints'
import { fingerprintWords } from '@skerry/crypto/fingerprint-words'
import { generateKeyPair } from '@skerry/crypto/keys'
import { newId } from '@skerry/crypto/random'
import { afterEach, describe, expect, test } from 'vitest'
import { dialogOf, openApp, openEnvironment } from '../apps-steps.ts'
import { told } from '../browser.ts'
import { lookAgain } from '../changes-steps.ts'
import { closed, press, pressIn } from '../custody-steps.ts'
import { axeProblems, putSecret } from '../org-steps.ts'
import { grantTo, openPair } from '../scene.ts'
import * as steps from '../steps.ts'

// A malicious server adds its own readers to the lists of readers that the page wraps keys to. Each test checks what
// the person sees.

const walk = await openPair()
const { world, owner, member, place } = walk
const { page } = owner
await putSecret(world, owner.bearer(), place, 'API_KEY', 'planted-of-readers-2c81d7')
const mallory = (await generateKeyPair()).publicKeyJwk
const evil = {
  principalType: 'user',
  principalId: newId('user'),
  name: 'carol@example.com',
  publicKeyJwk: mallory,
}

type Json = Record<string, unknown[]>
const lie = (path: string, rewrite: (body: Json) => unknown) =>
  page.route(path, async (route) => {
    if (route.request().method() !== 'GET') return route.fallback()
    const response = await route.fetch()
    await route.fulfill({ response, json: rewrite(await response.json()) })
  })
const addReader = () => lie('**/grantees', (body) => ({ ...body, grantees: [...(body.grantees ?? []), evil] }))
afterEach(() => page.unrouteAll({ behavior: 'wait' }))

const asked = () => page.getByRole('dialog', { name: 'Confirm new readers' })
/** Returns all requests that are not reads. */
const changes = (since: number) => owner.sent.slice(since).filter((text) => /^(POST|PUT|PATCH|DELETE) /.test(text))

/**
 * Runs `act`, which opens the question, and declines. Returns the requests that were sent until then, other than reads.
 */
async function refused(act: () => Promise<unknown>, { what, name }: { what: string; name: string }) {
  const since = owner.sent.length
  await act()
  await asked().getByText(`${what} would also go to a reader that you have not accepted in this browser`).waitFor()
  const words = asked().getByLabel(`Fingerprint of the key of ${name}`)
  expect(await words.innerText()).toBe(await fingerprintWords(mallory))
  expect(await axeProblems(page)).toEqual([])
  await asked().getByRole('button', { name: 'Cancel' }).click()
  await asked().waitFor({ state: 'hidden' })
  await owner.quiet()
  return changes(since)
}
const close = async () => {
  await dialogOf(page).getByRole('button', { name: 'Cancel' }).click()
  await closed(owner)
}
const beginRekey = async () => {
  await page.getByRole('button', { name: 'Re-key' }).click()
  await dialogOf(page).getByLabel('I understand what this cannot undo').check()
}
const replace = () => dialogOf(page).getByRole('button', { name: 'Re-key' }).click()

describe('a reader that the server adds', () => {
  test('is shown with its words before a re-key, and gets no key if the person declines', async () => {
    await openApp(page, 'Web shop')
    await openEnvironment(page, 'Production')
    await addReader()
    await beginRekey()
    const about = { what: 'the new key of Production', name: 'carol@example.com' }
    expect(await refused(replace, about)).toEqual([])
    await close()
  })

  test('is shown before a branch is forked, and gets no key if the person declines', async () => {
    await openApp(page, 'Web shop')
    await openEnvironment(page, 'Production', 'Branches')
    await addReader()
    await lookAgain(page)
    await page.getByRole('button', { name: 'Fork a branch' }).first().click()
    await dialogOf(page).getByLabel('Slug').fill('pr-7')
    const fork = () => dialogOf(page).getByRole('button', { name: 'Fork', exact: true }).click()
    const about = { what: 'the key of a branch of Production', name: 'carol@example.com' }
    expect(await refused(fork, about)).toEqual([])
    await close()
  })

  test('is shown before a re-key even if it was accepted for a branch', async () => {
    await openApp(page, 'Web shop')
    await openEnvironment(page, 'Production', 'Branches')
    await addReader()
    await lookAgain(page)
    await page.getByRole('button', { name: 'Fork a branch' }).first().click()
    await dialogOf(page).getByLabel('Slug').fill('pr-8')
    await dialogOf(page).getByRole('button', { name: 'Fork', exact: true }).click()
    await asked().getByRole('button', { name: 'Accept this reader' }).click()
    await owner.quiet()
    await close()
    await openApp(page, 'Web shop')
    await openEnvironment(page, 'Production')
    await beginRekey()
    const about = { what: 'the new key of Production', name: 'carol@example.com' }
    expect(await refused(replace, about)).toEqual([])
    await close()
  })

  test('is shown before a managed key is rotated, and gets no key if the person declines', async () => {
    await steps.goTo(page, 'Managed keys')
    await press(owner, 'New managed key')
    await dialogOf(page).getByLabel('Name', { exact: true }).fill('receipts')
    await pressIn(owner, 'Create')
    await closed(owner)
    const { body } = await world.call(me.get, { as: member.bearer() })
    const { id: principalId } = body.principal
    const grant = { principalType: 'user', principalId, versions: [1], createdAt: '2026-01-01T00:00:00.000Z' }
    await lie('**/kms/keys/*/grants', (answer) => ({ ...answer, grants: [...(answer.grants ?? []), grant] }))
    await page.getByRole('link', { name: 'receipts' }).click()
    await press(owner, 'Rotate…')
    await dialogOf(page).getByLabel(/grace/).waitFor()
    const since = owner.sent.length
    await pressIn(owner, 'Rotate')
    await asked().getByText('the next version of receipts would also go to').waitFor()
    await asked().getByRole('button', { name: 'Cancel' }).click()
    await owner.quiet()
    expect(changes(since)).toEqual([])
    await close()
  })
})

test('a reader who got the key from somebody else is asked about once, and is known afterwards', async () => {
  await grantTo(walk, place, member)
  await openApp(page, 'Web shop')
  await openEnvironment(page, 'Production')
  await beginRekey()
  await replace()
  await asked().getByText('would also go to a reader').waitFor()
  await asked().getByRole('button', { name: 'Accept this reader' }).click()
  await told(page, 'Production has a new key. You and 1 more keep access.')
  await closed(owner)
  await beginRekey()
  await replace()
  await closed(owner)
  expect(await asked().count()).toBe(0)
})

test('an invented recovery key is shown before an environment is created, and gets no key if the person declines', async () => {
  await lie('**/recovery/public-key', () => ({ recoveryPublicKeyJwk: mallory }))
  await openApp(page, 'Web shop')
  await page.getByRole('button', { name: 'New environment' }).first().click()
  await dialogOf(page).getByLabel('Name', { exact: true }).fill('Staging')
  const make = () => dialogOf(page).getByRole('button', { name: 'Create' }).click()
  const about = { what: 'the keys that you make', name: 'The recovery key of this organization' }
  expect(await refused(make, about)).toEqual([])
  await close()
})
