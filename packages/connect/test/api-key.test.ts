import { vaultPlatform } from '@skerry/contract/vault/platform'
import { expect, test } from 'vitest'
import { sent } from '../../server/test/vault-scene.ts'
import { axeInBoth, leaksOf, openScene, press, returnUrl, screen } from './scene.ts'

const stage = await openScene()
const { world, executor, platformAs } = stage

test('a person connects an API key on a phone, only the executor can open it, and no requested address contains the token', async () => {
  const secret = 'planted-key-4f1b0c'
  const { path, token, id, connectionId } = await stage.link()
  const visitor = await stage.arrive()
  const { page } = visitor
  await page.goto(path)
  await screen(visitor, 'Connect your Acme Mail account')
  expect(new URL(page.url()).hash).toBe('')
  await page.getByText('Northwind would like to use your Acme Mail account').waitFor()
  expect(await axeInBoth(visitor)).toEqual([])
  await press(visitor, 'Agree and continue')
  await screen(visitor, 'Enter your Acme Mail key')
  await press(visitor, 'Connect')
  await page.getByText('Secret key is missing.').waitFor()
  expect(await page.getByLabel('Secret key').first().getAttribute('aria-invalid')).toBe('true')
  expect(await axeInBoth(visitor)).toEqual([])
  await page.getByLabel('Secret key').first().fill(` ${secret}\n`)
  await page.getByLabel('Name for this account').fill('Work')
  await press(visitor, 'Connect')
  await screen(visitor, 'Acme Mail is connected')
  expect(await axeInBoth(visitor)).toEqual([])

  expect(await executor.read(connectionId, 'api_key')).toBe(secret)
  const params = { vaultConnectionId: connectionId, connectSessionId: id }
  const { connection } = await sent(world, vaultPlatform.connection, { as: platformAs, params })
  expect([connection.status, connection.accountLabel]).toEqual(['active', 'Work'])
  expect(await leaksOf(stage, visitor, secret)).toEqual([])
  // The first address is the link itself, whose fragment no browser sends.
  const [, ...addresses] = visitor.sent.filter((text) => text.includes(token) && !text.includes('/claim'))
  expect(addresses).toEqual([])
  await press(visitor, 'Back to Northwind')
  await page.waitForURL(`${returnUrl}?vault_outcome=completed`)
  expect([visitor.complaints, executor.complaints]).toEqual([[], []])
})
