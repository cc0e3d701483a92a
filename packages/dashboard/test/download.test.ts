import { readFile } from 'node:fs/promises'
import { grants } from '@skerry/contract/grants/endpoints'
import { composition, groups } from '@skerry/contract/groups/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { importDek, newDek } from '@skerry/crypto/secret'
import { newToken } from '@skerry/crypto/token'
import { wrapKey } from '@skerry/crypto/wrap'
import { afterAll, describe, expect, test } from 'vitest'
import { newMachine } from '../../cli/test/machine.ts'
import { dialogOf, openApp, openColumnMenu } from './apps-steps.ts'
import { axeProblems, newPlace, type Place, putSecret } from './org-steps.ts'
import { leaks, openOwner } from './scene.ts'

// The `.env` file of an environment, compared with the file that the command line writes.

const { world, owner, page } = await openOwner()
const as = owner.bearer()
const place = await newPlace(world, as)
const shared = await composeGroup(place)
const machine = await newMachine(world.url)
machine.env.SKERRY_KEYRING = 'off'
machine.env.SKERRY_TOKEN = await readingToken([place, shared])
afterAll(() => machine.remove())

/** Composes the group Shared into an environment. */
async function composeGroup({ orgId, envId }: Place): Promise<Place> {
  const { body: own } = await world.call(me.get, { as })
  const { body } = await world.call(groups.create, { as, params: { orgId }, body: { name: 'Shared', slug: 'shared' } })
  const groupId = body.group.id
  const raw = newDek()
  const wrappedDek = await wrapKey(raw, own.user?.publicKeyJwk as string)
  const env = { name: 'Production', slug: 'production', wrappedDek }
  const made = await world.call(groups.createEnv, { as, params: { orgId, groupId }, body: env })
  await world.call(composition.set, { as, params: { orgId, envId }, body: { groupId } })
  return { orgId, envId: made.body.environment.id, dek: await importDek(raw), raw }
}

/** Makes a service token that is bound to the first place and can read all of them. */
async function readingToken(places: [Place, ...Place[]]): Promise<string> {
  const [{ orgId, envId }] = places
  const { token, tokenId, tokenHash, publicKeyJwk } = await newToken('skerry')
  const body = { name: 'ci', tokenId, tokenHash, publicKeyJwk, environmentId: envId }
  await world.call(tokens.create, { as, params: { orgId }, body })
  for (const one of places) {
    const grant = { principalType: 'service_token', principalId: tokenId } as const
    const wrappedDek = await wrapKey(one.raw, publicKeyJwk)
    await world.call(grants.create, { as, params: { orgId, envId: one.envId }, body: { ...grant, wrappedDek } })
  }
  return token
}

const values: Record<string, string> = {
  PLAIN: 'planted-plain',
  EMPTY: '',
  SPACED: 'planted with spaces # and a hash',
  QUOTED: `planted "double" and 'single'`,
  LINES: 'planted-first\nplanted-second\n',
  RETURNS: 'planted\r\nwindows',
  BACKSLASH: 'planted\\n\\',
  DOLLAR: 'planted $HOME $$ $${ESCAPED}',
  URL: 'postgres://planted:${PASSWORD}@db/${MISSING}',
  PASSWORD: 'planted-of-production',
  Zebra: 'planted-ünïcode 💥',
  _FIRST: 'planted-underscore',
}
for (const [name, text] of Object.entries(values)) await putSecret(world, as, place, name, text)
for (const [name, text] of [
  ['PASSWORD', 'planted-of-the-group'],
  ['SHARED_ONLY', 'planted-shared'],
] as const)
  await putSecret(world, as, shared, name, text)

/** Notes which Blob addresses the page makes and revokes. */
await page.evaluate(() => {
  const open = new Set<string>()
  const made = { count: 0, open }
  Object.assign(globalThis, { made })
  const { createObjectURL, revokeObjectURL } = URL
  URL.createObjectURL = (blob: Blob) => {
    const url = createObjectURL.call(URL, blob)
    made.count++
    open.add(url)
    return url
  }
  URL.revokeObjectURL = (url: string) => {
    open.delete(url)
    revokeObjectURL.call(URL, url)
  }
})
const madeUrls = () =>
  page.evaluate(() => {
    const { made } = globalThis as unknown as { made: { count: number; open: Set<string> } }
    return [made.count, made.open.size]
  })

describe('the .env file of an environment', () => {
  test('is announced as plain text before it is downloaded', async () => {
    await openApp(page, 'Web shop')
    await openColumnMenu(page, 'Production', 'Download .env…')
    await dialogOf(page).getByText('The file holds 13 values as plain text.').waitFor()
    expect(await axeProblems(page)).toEqual([])
    expect(await madeUrls()).toEqual([0, 0])
  })

  test('has the same bytes as `skerry secrets export --format dotenv`', async () => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialogOf(page).getByRole('button', { name: 'Download production.env' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('production.env')
    const bytes = await readFile(await download.path())
    const { code, stdout, stderr } = await machine.skerry(['secrets', 'export', '--format', 'dotenv'])
    expect([code, stderr]).toEqual([0, expect.stringContaining('MISSING')])
    expect(bytes.toString('utf8')).toBe(stdout)
    expect(bytes.equals(Buffer.from(stdout))).toBe(true)
    expect(stdout).toContain('planted:planted-of-production@db')
    expect(stdout).toContain('SHARED_ONLY=planted-shared')
  })

  test('leaves no address and no value behind, and the dialog says what programs read otherwise', async () => {
    await dialogOf(page).getByText('Downloaded production.env.').waitFor()
    await dialogOf(page).getByText('A value refers to MISSING, which does not exist.').waitFor()
    expect(await dialogOf(page).innerText()).not.toContain('planted')
    await expect.poll(madeUrls).toEqual([1, 0])
    await dialogOf(page).getByRole('button', { name: 'Done' }).click()
    await dialogOf(page).waitFor({ state: 'detached' })
  })

  test('has values that were written since the page loaded', async () => {
    await openColumnMenu(page, 'Production', 'Download .env…')
    await dialogOf(page).getByText('The file holds 13 values as plain text.').waitFor()
    await putSecret(world, as, place, 'PLAIN', 'planted-since')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialogOf(page).getByRole('button', { name: 'Download production.env' }).click(),
    ])
    expect((await readFile(await download.path())).toString()).toContain('PLAIN=planted-since\n')
    await page.keyboard.press('Escape')
    await dialogOf(page).waitFor({ state: 'detached' })
  })
})

test('the page neither sent nor stored a secret value', async () => {
  expect(await leaks(world, { owner })).toEqual([])
})

test('the page caused no console warnings and no Content-Security-Policy violations', () => {
  expect(owner.complaints).toEqual([])
})
