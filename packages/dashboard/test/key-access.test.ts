import { grants } from '@skerry/contract/grants/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { fingerprintWords } from '@skerry/crypto/fingerprint-words'
import { generateKeyPair } from '@skerry/crypto/keys'
import { importDek, newDek, openSecret, sealSecret } from '@skerry/crypto/secret'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { acceptReaders, create, dialogOf, expectShown, openApp, openEnvironment, pickTool } from './apps-steps.ts'
import { told } from './browser.ts'
import { lookAgain, row } from './changes-steps.ts'
import { axeProblems, type Place, protect, putSecret, unprotect } from './org-steps.ts'
import { grantTo, join, leaks, openPair } from './scene.ts'
import * as steps from './steps.ts'

// Access to an environment's key, on a server that may show false public keys.

const planted = { first: 'planted-first-31e0fd', second: 'planted-second-a86b52', waiting: 'planted-waiting-4c79e3' }
const grace = 'grace@example.com'
const ben = 'ben@example.com'

const walk = await openPair()
const { world, owner, member, place } = walk
for (const text of [planted.first, planted.second]) await putSecret(world, owner.bearer(), place, 'API_KEY', text)
await openApp(owner.page, 'Web shop')
await create(owner.page, 'New environment', 'Staging')

/** Makes the server show another public key for a person. Returns the real one. */
async function swapKey(email: string, publicKeyJwk: string): Promise<string> {
  const { db } = world.server.context
  const before = await db.row<{ publicKeyJwk: string }>('select public_key_jwk from users where email = $1', [email])
  await db.rows('update users set public_key_jwk = $2 where email = $1', [email, publicKeyJwk])
  return before?.publicKeyJwk as string
}

async function openPage(page: Page, environment: string): Promise<void> {
  await openApp(page, 'Web shop')
  await openEnvironment(page, environment)
}

/** Opens the dialog that grants the key, and chooses a person. */
async function beginGrant(page: Page, to: string) {
  await page.getByRole('button', { name: 'Grant access' }).click()
  const dialog = dialogOf(page)
  await dialog.getByLabel('To').click()
  await page.getByRole('option', { name: to }).click()
  const grant = dialog.getByRole('button', { name: 'Grant' })
  const words = dialog.getByLabel(`Fingerprint of the key of ${to}`)
  return { dialog, grant, words, accept: () => dialog.getByLabel(`I compared these words with ${to}`).check() }
}

const holders = async (as: string, { orgId, envId }: Place) =>
  (await world.call(grants.list, { as, params: { orgId, envId } })).body.grants.map(({ principalId }) => principalId)

describe('the holders of a key', () => {
  test('are listed, and a member without the key is offered no way to grant it', async () => {
    await openPage(owner.page, 'Production')
    await row(owner.page, /Ada/).getByText('your key').waitFor()
    await expect.poll(() => row(owner.page, grace).count()).toBe(0)
    const { page } = member
    await openApp(page, 'Web shop')
    await page.getByRole('link', { name: 'Production' }).click()
    await page.getByText('You do not hold the key of this environment').waitFor()
    await expect.poll(() => page.getByRole('button', { name: /^(Grant access|Revoke|Re-key)$/ }).count()).toBe(0)
  })

  test('cannot grow until the page knows which layers are granted together with the key', async () => {
    const { page } = owner
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
    await page.route('**/envs/*/groups', (route) => answered.then(() => route.fallback()))
    await openPage(page, 'Production')
    const { dialog, grant, accept } = await beginGrant(page, grace)
    await accept()
    expect(await grant.isDisabled()).toBe(true)
    answer()
    await expect.poll(() => grant.isDisabled()).toBe(false)
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.unrouteAll({ behavior: 'wait' })
  })

  test('grow after the words of a new holder’s key were compared', async () => {
    const { page } = owner
    const { dialog, grant, words, accept } = await beginGrant(page, grace)
    const { body: own } = await world.call(me.get, { as: member.bearer() })
    await expect.poll(() => words.innerText()).toBe(await fingerprintWords(own.user?.publicKeyJwk as string))
    await expect.poll(() => grant.isDisabled()).toBe(true)
    await accept()
    await grant.click()
    await dialog.waitFor({ state: 'hidden' })
    await row(page, grace).getByText('key compared', { exact: true }).waitFor()
    expect(await axeProblems(page)).toEqual([])
    await lookAgain(member.page)
    await openApp(member.page, 'Web shop')
    await expectShown(member.page, 'API_KEY', 'Production', planted.second)
  })
})

describe('a server that shows another key for a member', () => {
  let real: string
  let mallory: string

  test('is detected on the page and when another environment’s key is granted', async () => {
    mallory = (await generateKeyPair()).publicKeyJwk
    real = await swapKey(grace, mallory)
    const { page } = owner
    await lookAgain(page)
    await row(page, grace).getByText('key has changed').waitFor()
    await openApp(page, 'Web shop')
    await openEnvironment(page, 'Staging')
    const { dialog, grant, words } = await beginGrant(page, grace)
    await dialog.getByRole('alert').getByText('The key has changed').waitFor()
    await expect.poll(() => words.innerText()).toBe(await fingerprintWords(mallory))
    await expect.poll(() => grant.isDisabled()).toBe(true)
    expect(await axeProblems(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Cancel' }).click()
  })

  test('gets no new key of the environment that the member can read', async () => {
    const { page } = owner
    await openPage(page, 'Production')
    await page.getByRole('button', { name: 'Re-key' }).click()
    const left = dialogOf(page).getByRole('checkbox', { name: grace })
    await dialogOf(page).getByText('key has changed').waitFor()
    expect([await left.isChecked(), await left.isDisabled()]).toEqual([false, true])
    await dialogOf(page).getByRole('button', { name: 'Cancel' }).click()
  })

  test('is trusted after the person confirms that they compared the words with that member', async () => {
    const { page } = owner
    await openPage(page, 'Staging')
    const { dialog, grant, accept } = await beginGrant(page, grace)
    await accept()
    await grant.click()
    await dialog.waitFor({ state: 'hidden' })
    await row(page, grace).getByText('key compared', { exact: true }).waitFor()
    await swapKey(grace, real)
    await lookAgain(page)
    await row(page, grace).getByText('key has changed').waitFor()
    await steps.goTo(page, 'Members')
    await page.getByRole('button', { name: `Actions for ${grace}` }).click()
    await page.getByRole('menuitem', { name: 'Compare the key…' }).click()
    await dialogOf(page).getByRole('alert').waitFor()
    await dialogOf(page).getByLabel(`I compared these words with ${grace}`).check()
    await dialogOf(page).getByRole('button', { name: 'Remember this key' }).click()
    await row(page, grace).getByText('key compared', { exact: true }).waitFor()
  })
})

describe('a holder whose grant is revoked', () => {
  test('gets neither key nor ciphertext from then on, and the page says what this does not undo', async () => {
    const { page } = owner
    await openPage(page, 'Production')
    await row(page, grace).getByRole('button', { name: 'Revoke' }).click()
    await dialogOf(page).getByText('They may have kept the key and values from before: re-key below').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Revoke' }).click()
    await row(page, grace).waitFor({ state: 'detached' })
    await lookAgain(member.page)
    await member.page.getByRole('link', { name: 'Production (you hold no key)' }).waitFor()
    const params = { orgId: place.orgId, envId: place.envId }
    const answers = [
      await world.call(secrets.list, { as: member.bearer(), params }),
      await world.call(grants.own, { as: member.bearer(), params }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([403, 403])
  })
})

describe('a holder whose words nobody compared', () => {
  beforeAll(async () => {
    await grantTo(walk, place, await join(walk, ben))
    await lookAgain(owner.page)
  })

  test('is remembered by the first key that was used, so that a change is detected', async () => {
    const { page } = owner
    await row(page, ben).getByText('not compared').waitFor()
    await steps.openTab(page, 'Branches')
    await page.getByRole('button', { name: 'Fork a branch' }).first().click()
    await dialogOf(page).getByLabel('Slug').fill('pr-7')
    await dialogOf(page).getByText('You and 1 other').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Fork' }).click()
    await acceptReaders(page)
    await told(page, 'Forked pr-7 from Production.')
    await steps.openTab(page, 'Access')
    const real = await swapKey(ben, (await generateKeyPair()).publicKeyJwk)
    await lookAgain(page)
    await row(page, ben).getByText('key has changed').waitFor()
    await steps.openTab(page, 'Branches')
    await page.getByRole('button', { name: 'Fork a branch' }).click()
    await dialogOf(page).getByText(`another key than before for ${ben}`).waitFor()
    await dialogOf(page).getByRole('button', { name: 'Cancel' }).click()
    await swapKey(ben, real)
    await steps.openTab(page, 'Access')
    await lookAgain(page)
    await row(page, ben).getByText('not compared').waitFor()
  })
})

describe('re-keying', () => {
  beforeAll(async () => {
    await protect(world, owner.bearer(), place)
    await putSecret(world, owner.bearer(), place, 'API_KEY', planted.waiting)
    await lookAgain(owner.page)
  })

  test('lists what it cannot undo, and is disabled until the person confirms', async () => {
    const { page } = owner
    await page.getByRole('button', { name: 'Re-key' }).click()
    for (const text of ['may have kept the values', 'Earlier versions', 'Changes that wait', 'Branches'])
      await dialogOf(page).getByRole('listitem').filter({ hasText: text }).waitFor()
    await dialogOf(page).getByText('not compared').waitFor()
    await expect.poll(() => dialogOf(page).getByRole('checkbox', { name: /^ada@/ }).isDisabled()).toBe(true)
    const propose = dialogOf(page).getByRole('button', { name: 'Propose the new key' })
    await expect.poll(() => propose.isDisabled()).toBe(true)
    expect(await axeProblems(page)).toEqual([])
  })

  test('is a proposal while the environment is protected', async () => {
    const { page } = owner
    await dialogOf(page).getByLabel('I understand what this cannot undo').check()
    await dialogOf(page).getByText('The new key waits for approval as a change').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Propose the new key' }).waitFor()
    expect(await dialogOf(page).getByRole('button', { name: 'Re-key', exact: true }).count()).toBe(0)
    await unprotect(world, owner.bearer(), place)
  })

  test('is disabled until the server has listed the holders of the old key', async () => {
    const { page } = owner
    await dialogOf(page).getByRole('button', { name: 'Cancel' }).click()
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
    await page.route('**/grantees', (route) => answered.then(() => route.fallback()))
    await page.getByRole('button', { name: 'Re-key' }).click()
    await dialogOf(page).getByLabel('I understand what this cannot undo').check()
    await dialogOf(page).getByText('not compared').waitFor()
    const replace = dialogOf(page).getByRole('button', { name: 'Re-key' })
    expect(await replace.isDisabled()).toBe(true)
    answer()
    await expect.poll(() => replace.isDisabled()).toBe(false)
    await page.unrouteAll({ behavior: 'wait' })
  })

  test('leaves out an unticked holder, and keeps every value readable', async () => {
    const { page } = owner
    await dialogOf(page).getByRole('checkbox', { name: ben }).uncheck()
    await dialogOf(page).getByRole('button', { name: 'Re-key' }).click()
    await told(page, 'Production has a new key. Only you keep access.')
    await row(page, ben).waitFor({ state: 'detached' })
    expect(await holders(owner.bearer(), place)).toHaveLength(1)
    await openApp(page, 'Web shop')
    await expectShown(page, 'API_KEY', 'Production', planted.second)
  })

  test('makes the old key useless for the current values', async () => {
    const params = { orgId: place.orgId, envId: place.envId }
    const { body } = await world.call(secrets.list, { as: owner.bearer(), params })
    const ciphertext = body.secrets.find(({ name }) => name === 'API_KEY')?.ciphertext as string
    await expect(openSecret(ciphertext, place.dek, place.envId, 'API_KEY')).rejects.toMatchObject({
      code: 'decryption_failed',
    })
  })

  test('leaves earlier versions unreadable, and the page says so', async () => {
    const { page } = owner
    await pickTool(page, 'API_KEY', 'Details of API_KEY in Production')
    await dialogOf(page).getByRole('button', { name: 'Reveal version 1' }).click()
    await dialogOf(page).getByText('This version was sealed under an earlier key').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Restore version 1' }).click()
    await dialogOf(page).getByText('is from before the environment was re-keyed').waitFor()
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'hidden' })
  })

  test('fails as a whole if one value cannot be decrypted, and names that secret', async () => {
    const { page } = owner
    await openPage(page, 'Staging')
    const params = { orgId: place.orgId, envId: page.url().split('/').at(-1) as string, name: 'ODD' }
    const ciphertext = await sealSecret('odd', await importDek(newDek()), params.envId, params.name)
    await world.call(secrets.put, { as: owner.bearer(), params, body: { ciphertext } })
    await page.getByRole('button', { name: 'Re-key' }).click()
    await dialogOf(page).getByLabel('I understand what this cannot undo').check()
    await dialogOf(page).getByRole('button', { name: 'Re-key' }).click()
    // The member received this key under their earlier public key.
    await acceptReaders(page)
    await dialogOf(page).getByRole('alert').getByText('moved or changed: ODD').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Cancel' }).click()
  })

  test('supersedes changes that waited for approval', async () => {
    const { page } = owner
    await steps.goTo(page, 'Changes')
    await page.getByText('No change waits for approval').waitFor()
    await page.getByRole('combobox', { name: 'Status' }).click()
    await page.getByRole('option', { name: 'all' }).click()
    await row(page, /Change API_KEY/)
      .getByText('superseded')
      .waitFor()
  })

  test('wraps the new key to the person’s real public key, whatever the server shows', async () => {
    const { page } = owner
    await openPage(page, 'Production')
    const real = await swapKey(steps.person.email, (await generateKeyPair()).publicKeyJwk)
    await page.getByRole('button', { name: 'Re-key' }).click()
    await dialogOf(page).getByLabel('I understand what this cannot undo').check()
    await dialogOf(page).getByRole('button', { name: 'Re-key' }).click()
    await dialogOf(page).waitFor({ state: 'hidden' })
    await swapKey(steps.person.email, real)
    await lookAgain(page)
    await openApp(page, 'Web shop')
    await expectShown(page, 'API_KEY', 'Production', planted.second)
  })
})

describe('the pages', () => {
  test('neither sent nor stored a secret value', async () => {
    expect(owner.sent.some((text) => text.includes('wrappedDek'))).toBe(true)
    expect(await leaks(world, { owner, member })).toEqual([])
  })

  test('caused no console warnings and no Content-Security-Policy violations', () => {
    expect([owner.complaints, member.complaints]).toEqual([[], []])
  })
})
