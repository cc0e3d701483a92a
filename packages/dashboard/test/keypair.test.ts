import { grants } from '@skerry/contract/grants/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { expect, test } from 'vitest'
import { axeProblems, newPlace } from './org-steps.ts'
import { leaks, openScene } from './scene.ts'
import * as steps from './steps.ts'

// A change of the passphrase, and a replacement of the key pair.

const { world, arrive } = await openScene()
const visitor = await arrive()
const { page, bearer } = visitor
await steps.setUp(page, world)
const another = 'planted another phrase 9c1d'

const dialog = () => page.getByRole('dialog')
const keysNow = async () => (await world.call(me.getKeys, { as: bearer() })).body

async function type(passphrase: string) {
  await page.getByLabel('Passphrase', { exact: true }).fill(passphrase)
  await page.getByLabel('Passphrase again').fill(passphrase)
}

test('the page refuses a passphrase that is easy to guess', async () => {
  await type('P@ssw0rd1234')
  await page.getByText('Too weak: this is similar to a commonly used password').waitFor()
  await type(`${steps.person.email}`)
  await page.getByText(/^Too weak: /).waitFor()
  expect(await page.getByRole('button', { name: 'Make the keyring' }).isDisabled()).toBe(true)
  expect((await keysNow()).publicKeyJwk).toBeNull()
  await steps.makeKeyring(page)
})

test('a new passphrase seals the same key, and the old passphrase no longer opens it', async () => {
  const before = await keysNow()
  await page.getByRole('button', { name: 'Change the passphrase…' }).click()
  await dialog().getByLabel('Passphrase', { exact: true }).fill(another)
  await dialog().getByLabel('Passphrase again').fill(another)
  expect(await axeProblems(page)).toEqual([])
  await dialog().getByRole('button', { name: 'Change the passphrase' }).click()
  await dialog().waitFor({ state: 'detached' })
  const after = await keysNow()
  expect(after.publicKeyJwk).toBe(before.publicKeyJwk)
  expect(after.encryptedPrivateKey).not.toBe(before.encryptedPrivateKey)
  await steps.lock(page)
  await steps.unlockWithPassphrase(page)
  await page.getByText('This passphrase does not open your keyring').waitFor()
  await steps.unlockWithPassphrase(page, another)
  await page.getByText('unlocked', { exact: true }).waitFor()
})

test('a key pair can be replaced after the dialog has listed what is lost and who can grant it again', async () => {
  const place = await newPlace(world, bearer())
  const before = await keysNow()
  await page.getByRole('button', { name: 'Replace the key pair…' }).click()
  await dialog().getByText('Nobody can grant these again').waitFor()
  await dialog().getByRole('listitem').getByText('acme-co web-shop/production: nobody').waitFor()
  await dialog().getByLabel('Passphrase', { exact: true }).fill(steps.person.passphrase)
  await dialog().getByLabel('Passphrase again').fill(steps.person.passphrase)
  expect(await axeProblems(page)).toEqual([])
  await dialog().getByRole('button', { name: 'Replace the key pair' }).click()
  await dialog().waitFor({ state: 'detached' })
  expect((await keysNow()).publicKeyJwk).not.toBe(before.publicKeyJwk)
  const own = await world.call(grants.own, { as: bearer(), params: { orgId: place.orgId, envId: place.envId } })
  expect(own.status).toBe(403)
  await steps.lock(page)
  await steps.unlockWithPassphrase(page)
  await page.getByText('unlocked', { exact: true }).waitFor()
})

test('the page neither sent nor stored a passphrase, and caused no console warnings', async () => {
  expect(await leaks(world, { visitor })).toEqual([])
  for (const text of visitor.sent) expect(text).not.toContain(another)
  expect(visitor.complaints).toEqual([])
})
