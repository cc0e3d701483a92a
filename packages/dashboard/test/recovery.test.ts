import { expect, test } from 'vitest'
import { openScene } from './scene.ts'
import * as steps from './steps.ts'

// A printed copy of the sealed key, and its use.

const { world, arrive } = await openScene()
const visitor = await arrive({ dark: true })
const { page } = visitor
await steps.setUp(page, world)
await steps.makeKeyring(page)
let sealedKey: string

test('the copy prints alone, on one sheet, black on white', async () => {
  const words = await page.locator('#root .mono', { hasText: /^([a-z]+ ){11}[a-z]+$/ }).innerText()
  await page.getByRole('button', { name: 'Print the copy' }).waitFor()
  await page.emulateMedia({ media: 'print' })
  const text = await page.locator('body').innerText()
  for (const part of ['Skerry sealed key', steps.person.email, words, 'Sealed private key'])
    expect(text).toContain(part)
  for (const part of ['Print the copy', 'Applications', steps.person.passphrase]) expect(text).not.toContain(part)
  sealedKey = /pk1\.\S+/.exec(text)?.[0] as string
  expect(sealedKey).toBeDefined()
  const colors = () => [...document.querySelectorAll('.printed, .printed *')].map((one) => getComputedStyle(one).color)
  expect(new Set(await page.evaluate(colors))).toEqual(new Set(['rgb(0, 0, 0)']))
  const pdf = (await page.pdf({ format: 'A4', preferCSSPageSize: true })).toString('latin1')
  expect(pdf.match(/\/Type \/Page\b/g)).toHaveLength(1)
  await page.emulateMedia({ media: 'screen' })
})

test('other pages print normally', async () => {
  await steps.goTo(page, 'Notifications')
  await page.emulateMedia({ media: 'print' })
  await page.getByRole('heading', { name: 'Account' }).waitFor()
  await page.emulateMedia({ media: 'screen' })
})

test('the copy unlocks a keyring whose sealed key the server has altered', async () => {
  const altered = sealedKey.slice(0, -4) + (sealedKey.endsWith('AAAA') ? 'BBBB' : 'AAAA')
  await world.server.context.db.rows('update users set encrypted_private_key = $1', [altered])
  await page.goto('/account/keyring')
  await steps.unlockWithPassphrase(page)
  await page.getByText('This passphrase does not open your keyring').waitFor()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'I forgot my passphrase' }).click()
  await dialog.getByRole('button', { name: 'Use a printed copy of the sealed key' }).click()
  await dialog.getByLabel('Sealed private key').fill(sealedKey.slice(0, 40))
  await dialog.getByRole('button', { name: 'Unlock', exact: true }).click()
  await dialog.getByText('This is not the whole sealed key').waitFor()
  // The key contains line breaks, as from a camera or a keyboard.
  await dialog.getByLabel('Sealed private key').fill(sealedKey.replace(/(.{40})/g, '$1\n'))
  await dialog.getByRole('button', { name: 'Unlock', exact: true }).click()
  await page.getByText('unlocked', { exact: true }).waitFor()
})

test('the page caused no console warnings and no Content-Security-Policy violations', () => {
  expect(visitor.complaints).toEqual([])
})
