import { limits } from '@skerry/contract/limits'
import { me } from '@skerry/contract/me/endpoints'
import { vaultEventTypes } from '@skerry/contract/vault/facts'
import { vaultProjects } from '@skerry/contract/vault/projects'
import { vaultWebhooks } from '@skerry/contract/vault/webhooks'
import { describe, expect, test } from 'vitest'
import { newConnection, newExecutor, returnOrigin, type Vault } from '../../server/test/vault-scene.ts'
import { dialogOf, openOrg } from './apps-steps.ts'
import { storedText, told } from './browser.ts'
import { row } from './changes-steps.ts'
import { axeProblems, choose } from './org-steps.ts'
import { openOwner } from './scene.ts'
import * as steps from './steps.ts'

// The vault of a product, set up by an admin. Platform keys and registration codes need a browser session with a fresh
// second factor.

const { world, owner, page } = await openOwner()
const factor = await steps.setUpAuthenticator(page, world)
await page.getByRole('button', { name: 'I have kept them' }).click()
await openOrg(page)
const { body: own } = await world.call(me.get, { as: owner.bearer() })
const orgId = own.orgs[0]?.id as string

const dialog = () => dialogOf(page)
const press = (name: string) => dialog().getByRole('button', { name, exact: true }).click()
const confirm = async (name: string) => {
  await press(name)
  await dialog().waitFor({ state: 'detached' })
}
const onPage = (name: string) => page.getByRole('button', { name, exact: true }).first()
const projectId = () => page.url().split('/').at(-1) as string
const params = () => ({ orgId, projectId: projectId() })
const shown = () => dialog().locator('[data-secret]').innerText()
/** Moves the clock forward until the second factor is no longer fresh. */
const later = () => world.clock.advance(limits.mfaFreshSeconds + 1)

const picture = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const pixel = () =>
  page
    .locator('canvas')
    .first()
    .evaluate((canvas: HTMLCanvasElement) => canvas.getContext('2d')?.getImageData(40, 40, 1, 1).data[3])

describe('a vault project', () => {
  test('can be created with the name, colour and picture that people see, and the dialog previews them', async () => {
    await steps.goTo(page, 'Vault')
    await page.getByText('No vault project yet').waitFor()
    await onPage('New project').click()
    await dialog().getByLabel('Name', { exact: true }).fill('Northwind staging')
    await dialog().getByLabel('Name for people').fill('Northwind')
    await dialog().getByLabel('Return origins').fill(`${returnOrigin}\nhttp://app.example.com`)
    await dialog().getByLabel('Color').fill('blue')
    await dialog()
      .locator('input[type=file]')
      .setInputFiles({
        name: 'logo.png',
        mimeType: 'image/png',
        buffer: Buffer.from(picture, 'base64'),
      })
    await expect.poll(pixel).toBeGreaterThan(0)
    expect(await axeProblems(page)).toEqual([])
    await press('Create')
    await dialog().getByText('This has a character that is not allowed.').waitFor()
    await dialog().getByLabel('Color').fill('#3366cc')
    await press('Create')
    await dialog().getByRole('alert').getByText('https').waitFor()
    await dialog().getByLabel('Return origins').fill(returnOrigin)
    await confirm('Create')
    await page.getByRole('link', { name: 'Northwind staging' }).click()
    await page.getByRole('heading', { name: 'Northwind staging', level: 1 }).waitFor()
    await expect.poll(pixel).toBeGreaterThan(0)
    const { body } = await world.call(vaultProjects.get, { as: owner.bearer(), params: params() })
    expect(body.project).toMatchObject({
      name: 'Northwind staging',
      display: { name: 'Northwind', accent: '#3366cc', returnOrigins: [returnOrigin] },
    })
  })

  test('can be edited, and emptied fields are cleared', async () => {
    await onPage('Edit…').click()
    await dialog().getByLabel('Name', { exact: true }).fill('Northwind')
    await dialog().getByLabel('Color').fill('')
    await press('Remove the picture')
    await confirm('Save')
    await page.getByRole('heading', { name: 'Northwind', level: 1, exact: true }).waitFor()
    const { body } = await world.call(vaultProjects.get, { as: owner.bearer(), params: params() })
    expect(body.project).toMatchObject({ name: 'Northwind', display: { logoUrl: null, accent: null } })
  })

  test('can be disabled and enabled', async () => {
    await onPage('Disable…').click()
    await confirm('Disable')
    await page.getByText('This project is disabled').waitFor()
    await onPage('Enable').click()
    await page.getByText('This project is disabled').waitFor({ state: 'detached' })
  })
})

const currentStep = () => page.locator('.step[aria-current="step"]').getByRole('heading').innerText()

const vault = {} as Pick<Vault, 'platform' | 'executor'>
const noLinks = 'Your backend can make no link, because no executor is registered.'

describe('in a vault project', () => {
  test('a platform key is created after a fresh second factor, and shown once', async () => {
    await expect.poll(currentStep).toBe('Register the executor')
    later()
    await onPage('New platform key').click()
    await dialog().getByLabel('Name').fill('backend')
    await press('Create')
    await steps.enterSecondFactor(page, world, factor)
    await page.getByRole('dialog', { name: 'The new platform key' }).waitFor()
    const secret = await shown()
    expect(secret).toMatch(/^skv_/)
    vault.platform = { id: '', as: `Bearer ${secret}` }
    await confirm('I have kept it')
    await row(page, /backend/)
      .getByText('in use')
      .waitFor()
    expect(await page.content()).not.toContain(secret)
    expect(await storedText(owner)).not.toContainEqual(expect.stringContaining(secret))
  })

  test('an executor registers with a command that is shown once, appears on the page, and lets links be made', async () => {
    await page.getByText(noLinks).waitFor()
    later()
    await onPage('Register an executor').click()
    await steps.enterSecondFactor(page, world, factor)
    await page.getByRole('dialog', { name: 'Register the executor' }).waitFor()
    const command = await shown()
    const [, server, code] = /^skerry-executor register --server (\S+) --code (vrc_\S+)$/.exec(command) ?? []
    expect(server).toBe(new URL(page.url()).origin)
    vault.executor = await newExecutor(world, code as string)
    await confirm('I have kept it')
    await page.getByText('https://executor.example.com').waitFor()
    await page.getByText(vault.executor.key.thumbprint).waitFor()
    await page.getByText('Your backend makes the links for it.').waitFor()
    expect(await page.getByText(noLinks).count()).toBe(0)
    expect(await page.getByText('The executor does not report').count()).toBe(0)
    await expect.poll(currentStep).toBe('Connect the first account')
    expect(await axeProblems(page)).toEqual([])
  })

  test('the page warns about an executor that has not reported for minutes, until it reports again', async () => {
    const seen = (minutesAgo: number) =>
      world.server.context.db.rows(
        `insert into vault_uses (org_id, id, last_used_at)
         select org_id, id, now() - make_interval(mins => $1) from vault_executors
             on conflict (org_id, id) do update set last_used_at = excluded.last_used_at`,
        [minutesAgo],
      )
    const warning = page.getByRole('alert').filter({ hasText: 'The executor does not report' })
    // Repeated, because the executor's own request at its registration may be recorded only now.
    const isTold = async () => {
      await seen(6)
      return warning.isVisible()
    }
    await expect.poll(isTold, { timeout: 60_000, interval: 500 }).toBe(true)
    expect(await axeProblems(page)).toEqual([])
    await seen(0)
    await warning.waitFor({ state: 'detached' })
  })

  test('a platform key can be revoked', async () => {
    await onPage('New platform key').click()
    await dialog().getByLabel('Name').fill('laptop')
    await press('Create')
    await page.getByRole('dialog', { name: 'The new platform key' }).waitFor()
    await confirm('I have kept it')
    await onPage('Revoke laptop').click()
    await confirm('Revoke')
    await row(page, /laptop/)
      .getByText('revoked')
      .waitFor()
    const { body } = await world.call(vaultProjects.get, { as: owner.bearer(), params: params() })
    expect(body.keys.map(({ name, revokedAt }) => [name, revokedAt !== null])).toContainEqual(['laptop', true])
  })
})

describe('a webhook', () => {
  const address = 'https://10.0.0.1/hook'

  test('can be added with its events, and its secret is shown once', async () => {
    await onPage('New webhook').click()
    await dialog().getByLabel('Address').fill('https://10.0.0.1/hook#part')
    await dialog().getByLabel('connection.ready').uncheck()
    await press('Create')
    await dialog().getByText('Has a fragment').waitFor()
    await dialog().getByLabel('Address').fill(address)
    await press('Create')
    await page.getByRole('dialog', { name: 'The signing secret' }).waitFor()
    expect(await shown()).toMatch(/^whsec_/)
    await confirm('I have kept it')
    await row(page, /10\.0\.0\.1/)
      .getByText('connection.reauth_required, connection.revoked')
      .waitFor()
  })

  test('can be tested, and shows the result of a delivery, which can be sent again', async () => {
    await choose(page, address, 'Send a test')
    await told(page, 'The receiver did not accept the test')
    await row(page, /10\.0\.0\.1/)
      .getByRole('button', { name: 'Show details' })
      .click()
    const ping = page.getByRole('table', { name: `Deliveries to ${address}` }).getByRole('row', { name: /ping/ })
    await ping.getByText('failed', { exact: true }).waitFor()
    await ping.getByRole('button', { name: /^Send again/ }).click()
    await ping.getByText('waits').waitFor()
    expect(await axeProblems(page)).toEqual([])
  })

  test('can be edited with its current settings in the form, and keeps its secret', async () => {
    await choose(page, address, 'Edit…')
    expect(await dialog().getByLabel('Address').inputValue()).toBe(address)
    expect(await dialog().getByLabel('connection.ready').isChecked()).toBe(false)
    await dialog().getByLabel('Description').fill('Backend')
    await dialog().getByLabel('connection.ready').check()
    await press('Save')
    await row(page, /10\.0\.0\.1/)
      .getByText('Backend')
      .waitFor()
    await choose(page, address, 'Edit…')
    expect(await axeProblems(page)).toEqual([])
    await dialog().getByLabel('Description').fill('')
    await press('Save')
    await row(page, /10\.0\.0\.1/)
      .getByText('connection.reauth_required, connection.revoked')
      .waitFor()
    const { body } = await world.call(vaultWebhooks.list, { as: owner.bearer(), params: params() })
    expect(body.endpoints).toMatchObject([{ url: address, description: null }])
    expect(new Set(body.endpoints[0]?.events)).toEqual(new Set(vaultEventTypes))
  })

  test('can be paused and enabled', async () => {
    await choose(page, address, 'Pause')
    await row(page, /10\.0\.0\.1/)
      .first()
      .getByText('paused')
      .waitFor()
    await choose(page, address, 'Enable')
    await row(page, /10\.0\.0\.1/)
      .first()
      .getByText('paused')
      .waitFor({ state: 'detached' })
  })
})

describe('connections', () => {
  test('can be found by person and state, and revoked', async () => {
    const place = { ...vault, projectId: projectId() } as Vault
    for (const userRef of ['user-1', 'user-2']) await newConnection(world, place, { userRef })
    await page.reload()
    await row(page, /user-1/).waitFor()
    await expect.poll(() => page.locator('.step').count()).toBe(0)
    await page.getByLabel('Person').fill('user-2')
    await row(page, /user-1/).waitFor({ state: 'detached' })
    await onPage('Revoke Acme of user-2').click()
    await confirm('Revoke')
    await row(page, /user-2/)
      .getByText('by an admin')
      .waitFor()
    await page.getByLabel('State').selectOption('connected')
    await page.getByText('No matching connection').waitFor()
    await page.getByLabel('Person').fill('')
    await row(page, /user-1/).waitFor()
    expect(await row(page, /user-2/).count()).toBe(0)
  })

  test('of a person can be erased after the person’s ID is typed', async () => {
    const place = { ...vault, projectId: projectId() } as Vault
    await newConnection(world, place, { userRef: 'user-3' })
    await page.reload()
    await page.getByLabel('Person').fill('user-3')
    await row(page, /user-3/).waitFor()
    await onPage('Erase this person').click()
    await page.getByLabel('Type user-3 to confirm').fill('user-3')
    await confirm('Erase')
    await page.getByText('user-3 is erased. Connections deleted: 1.').waitFor()
    await row(page, /user-3/).waitFor({ state: 'detached' })
    await page.getByLabel('Person').fill('')
  })

  test('send an event to the webhook when they end', async () => {
    await row(page, /10\.0\.0\.1/)
      .getByRole('button', { name: 'Show details' })
      .click()
    await row(page, /connection\.revoked vcn_/).waitFor()
    await choose(page, 'https://10.0.0.1/hook', 'Delete…')
    await confirm('Delete')
    await page.getByText('No webhook yet').waitFor()
  })
})

test('an admin can disable the executor, after which no link can be made, and then register another one', async () => {
  for (const userRef of ['user-1', 'user-2'])
    await world.call(vaultProjects.eraseUser, { as: owner.bearer(), params: { ...params(), userRef } })
  await page.reload()
  await page.getByText('Your backend makes the links for it.').waitFor()
  await onPage('Disable the executor…').click()
  await confirm('Disable')
  await page.getByText(noLinks).waitFor()
  await onPage('Register an executor').waitFor()
})

test('the page caused no console warnings and no policy violations', () => expect(owner.complaints).toEqual([]))
