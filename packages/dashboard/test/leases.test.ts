import { grants } from '@skerry/contract/grants/endpoints'
import { leases } from '@skerry/contract/leases/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { tokens } from '@skerry/contract/tokens/endpoints'
import { afterAll, describe, expect, test } from 'vitest'
import { verifierOf } from '../../providers/test/leases/mint.ts'
import { newId, sha256 } from '../../server/src/kernel/context.ts'
import { bearerSecret, publicKeyJwk } from '../../server/test/blobs.ts'
import { missingPostgres } from '../../server/test/services/postgres.ts'
import { openShop, type Shop } from '../../server/test/shop.ts'
import { builtIn } from '../../server/test/world.ts'
import { dialogOf, openApp, openEnvironment, pickTool } from './apps-steps.ts'
import { storedText } from './browser.ts'
import { choose as pick, row } from './changes-steps.ts'
import { axeProblems, choose, newPlace, putSecret } from './org-steps.ts'
import { leaks, openOwner } from './scene.ts'
import * as steps from './steps.ts'

// Leases for minutes, and rotated secrets, with a real database as the target.

const shop: Shop | null = missingPostgres() ? null : await openShop(['app'])
afterAll(() => shop?.stop())
await shop?.root.query("ALTER ROLE skerry_admin PASSWORD 'planted-admin'")

const { world, owner, page } = await openOwner({ ...builtIn, SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' })
const place = await newPlace(world, owner.bearer())
await putSecret(world, owner.bearer(), place, 'DB_PASSWORD', 'first-password')
await putSecret(world, owner.bearer(), place, 'SESSION_SECRET', 'planted-session')
const { orgId, envId } = place
const dialog = () => dialogOf(page)
const closed = () => dialog().waitFor({ state: 'detached' })
const press = (name: string) => dialog().getByRole('button', { name, exact: true }).click()
const confirm = async (name: string) => {
  await press(name)
  await closed()
}

describe.skipIf(shop === null)('with a database target', () => {
  const { connection, root } = shop as Shop
  const adminUrl = (password: string) => `postgres://skerry_admin:${password}@127.0.0.1:${connection.port}/shop`
  const secretField = () => dialog().getByLabel('Admin credential')
  const made: { url: string; password: string }[] = []

  const openNewTarget = async () => {
    await steps.goTo(page, 'Leases')
    await steps.openTab(page, 'Targets')
    await page.getByRole('button', { name: 'New target' }).click()
    await dialog().getByLabel('Name', { exact: true }).fill('shop')
  }

  test('the dialog warns that the server will be able to read the credential, and fills in the address from it', async () => {
    await openNewTarget()
    await dialog().getByText('This server will be able to read it').waitFor()
    await dialog().getByText('an account with CREATEROLE').waitFor()
    await secretField().fill(adminUrl('wrong-password'))
    await dialog().getByLabel('Schema').click()
    expect(await dialog().getByLabel('Host').inputValue()).toBe('127.0.0.1')
    expect(await dialog().getByLabel('Port').inputValue()).toBe(String(connection.port))
    expect(await dialog().getByLabel('Database').inputValue()).toBe('shop')
    expect(await axeProblems(page)).toEqual([])
  })

  test('the form reports an invalid setting at its field before anything is sent', async () => {
    await dialog().getByLabel('Schema').fill('not a schema')
    await press('Register')
    await dialog().getByText('This has a character that is not allowed.').waitFor()
    await expect
      .poll(() =>
        dialog()
          .getByLabel('Schema')
          .evaluate((one) => one === document.activeElement),
      )
      .toBe(true)
    await dialog().getByLabel('Schema').fill('')
    await press('Register')
    await dialog().getByText('This field is required.').waitFor()
    await dialog().getByLabel('Schema').fill('public')
  })

  test('a credential that the target refuses registers nothing, and the typed settings stay', async () => {
    await press('Register')
    await dialog()
      .getByRole('alert')
      .getByText(/password/i)
      .waitFor()
    expect(await dialog().getByLabel('Host').inputValue()).toBe('127.0.0.1')
    const { body } = await world.call(leases.targets, { as: owner.bearer(), params: { orgId } })
    expect(body.targets).toEqual([])
  })

  test('an accepted credential registers the target, which is shown with its version', async () => {
    await secretField().fill(adminUrl('planted-admin'))
    await press('Register')
    await closed()
    await row(page, /shop/).getByText('ready').waitFor()
    await row(page, /shop/)
      .getByText(/PostgreSQL \d/)
      .waitFor()
  })

  test('the form asks for the settings of the chosen access level, and checks them by the server’s rules', async () => {
    await page.getByRole('button', { name: 'New target' }).click()
    await secretField().fill(adminUrl('planted-admin'))
    await expect.poll(() => dialog().getByLabel('Create statements').count()).toBe(0)
    await pick(page, 'Access level', 'custom')
    await press('More settings')
    await dialog().getByLabel('Create statements').fill('CREATE ROLE {{roleName}}')
    await press('Register')
    await dialog().getByText('{{verifier}} is in none of them.').waitFor()
    await page.keyboard.press('Escape')
    await closed()
  })

  test('a click on Get access creates a lease, and the page shows a working credential once', async () => {
    await steps.goTo(page, 'Leases')
    await page.getByRole('button', { name: 'Get access' }).click()
    await pick(page, 'For', '15 minutes')
    await press('Get access')
    const shown = page.getByRole('dialog', { name: 'Your access to shop' })
    await shown.getByText('You can see it only now').waitFor()
    await shown.getByText(/^1[45] minutes/).waitFor()
    const url = await shown.locator('[data-secret]').first().innerText()
    made.push({ url, password: decodeURIComponent(new URL(url).password) })
    const { username, port, password, pathname } = new URL(url)
    expect([port, pathname]).toEqual([String(connection.port), '/shop'])
    expect(await shop?.signsIn(username, password)).toBe(true)
    expect(await axeProblems(page)).toEqual([])
    await shown.getByRole('button', { name: 'I have kept it' }).click()
    await closed()
    await row(page, /lease_/)
      .getByText(/^1[45] minutes/)
      .waitFor()
  })

  test('the page forgets a shown credential when the keyring locks', async () => {
    await page.getByRole('button', { name: 'Get access' }).click()
    await press('Get access')
    const shown = page.getByRole('dialog', { name: 'Your access' })
    await shown.locator('[data-secret]').first().waitFor()
    // The button is behind the dialog, so it is clicked by script. An idle timeout locks the keyring in the same way.
    await page
      .getByRole('button', { name: 'Lock the keyring', includeHidden: true })
      .evaluate((one: HTMLElement) => one.click())
    await shown.getByText('this page no longer shows the credential').waitFor()
    await expect.poll(() => page.locator('[data-secret]').count()).toBe(0)
    await shown.getByRole('button', { name: 'Close' }).click()
    await closed()
  })

  test('revoking a lease removes its account at once', async () => {
    const name = new URL(made[0]?.url as string).username
    const exists = async () => (await root.query('select 1 from pg_roles where rolname = $1', [name])).rowCount
    expect(await exists()).toBe(1)
    await choose(page, name, 'Revoke…')
    await confirm('Revoke')
    await row(page, new RegExp(name)).getByText('revoked', { exact: true }).waitFor()
    expect(await exists()).toBe(0)
  })

  test('the dialog that revokes a token names the token’s live leases, and can end them too', async () => {
    const as = owner.bearer()
    const tokenId = newId('serviceToken')
    const presented = `${tokenId}_${bearerSecret()}`
    const body = {
      name: 'minting',
      tokenId,
      tokenHash: sha256(presented),
      publicKeyJwk: publicKeyJwk(),
      role: 'admin' as const,
    }
    expect((await world.call(tokens.create, { as, params: { orgId }, body })).status).toBe(201)
    const { targets } = (await world.call(leases.targets, { as, params: { orgId } })).body
    const lease = {
      ...{ provider: 'postgres' as const, targetId: targets[0]?.id as string, roleName: 'outliving', ttlSeconds: 600 },
      verifier: verifierOf.postgres('a password'),
    }
    const minted = await world.call(leases.create, { as: `Bearer ${presented}`, params: { orgId }, body: lease })
    expect(minted.error).toBeUndefined()
    await steps.goTo(page, 'Service tokens')
    await choose(page, 'minting', 'Revoke…')
    await dialog().getByText('One lease would go on working').waitFor()
    await dialog().getByLabel('End its lease, too').check()
    await confirm('Revoke')
    const params = { orgId, leaseId: minted.body.lease.id }
    expect((await world.call(leases.get, { as: owner.bearer(), params })).body.lease.status).toBe('revoked')
    expect((await root.query(`SELECT FROM pg_roles WHERE rolname = 'outliving'`)).rowCount).toBe(0)
    await steps.goTo(page, 'Leases')
  })

  test('a lease that differs from the request is revoked, and nothing of it is shown', async () => {
    await page.route('**/v1/orgs/*/leases', async (route) => {
      if (route.request().method() !== 'POST') return route.fallback()
      const response = await route.fetch()
      const body = await response.json()
      await route.fulfill({
        response,
        json: { ...body, connection: { ...body.connection, host: 'elsewhere.example' } },
      })
    })
    await page.getByRole('button', { name: 'Get access' }).click()
    await press('Get access')
    await dialog().getByRole('alert').getByText('does not have the host that was asked for').waitFor()
    await page.unrouteAll({ behavior: 'wait' })
    await press('Cancel')
    await closed()
    const { body } = await world.call(leases.list, { as: owner.bearer(), params: { orgId } })
    expect(body.leases[0]?.status).toBe('revoked')
  })

  test('Verify reports that the target refuses its credential, and a new credential repairs it', async () => {
    await steps.openTab(page, 'Targets')
    await root.query("ALTER ROLE skerry_admin PASSWORD 'planted-later'")
    await choose(page, 'shop', 'Verify')
    await row(page, /shop/).getByText('failing').waitFor()
    await choose(page, 'shop', 'Replace the credential…')
    await secretField().fill(adminUrl('planted-later'))
    await confirm('Replace')
    await row(page, /shop/).getByText('ready').waitFor()
  })

  test('the server rotates an account’s password, and the secret then has a password that the database accepts', async () => {
    await steps.unlockWithPassphrase(page)
    await openApp(page, 'Web shop')
    await pickTool(page, 'DB_PASSWORD', /^Details of DB_PASSWORD/)
    await page.getByRole('button', { name: 'Rotate at intervals…' }).click()
    const rotating = page.getByRole('dialog', { name: 'Rotate DB_PASSWORD' })
    await pick(page, 'What it is', 'Password of a PostgreSQL account')
    await pick(page, 'Lease target', 'shop')
    await rotating.getByLabel('Account', { exact: true }).fill('app')
    await rotating.getByLabel('Rotate once right away').check()
    const submit = rotating.getByRole('button', { name: 'Rotate', exact: true })
    await expect.poll(() => submit.isDisabled()).toBe(true)
    await rotating.getByText('This server will be able to read the whole environment').waitFor()
    await rotating.getByLabel('Give this server the key').check()
    expect(await axeProblems(page)).toEqual([])
    await submit.click()
    await rotating.waitFor({ state: 'detached' })
    await dialog().getByText('Password of a PostgreSQL account, every 30 days.').waitFor()
    await dialog().getByText('Version 2').waitFor()
    await dialog().getByRole('button', { name: 'Reveal the value of DB_PASSWORD' }).click()
    const value = dialog()
      .locator('.mono')
      .getByText(/^\w{32}$/)
      .first()
    expect(await shop?.signsIn('app', await value.innerText())).toBe(true)
    await page.keyboard.press('Escape')
    await closed()
  })

  test('a target with live leases is removed only if the person chooses that', async () => {
    await steps.goTo(page, 'Leases')
    await steps.openTab(page, 'Targets')
    await choose(page, 'shop', 'Remove…')
    await press('Remove')
    await dialog().getByRole('alert').waitFor()
    await press('Cancel')
    await closed()
  })

  test('the page neither sent nor stored a lease’s password', async () => {
    const kept = [...owner.sent, ...(await storedText(owner)), world.log.join('')].join('\n')
    expect(made.filter(({ password }) => password.length < 20 || kept.includes(password))).toEqual([])
  })
})

describe('rotation of random values', () => {
  test('is configured on its page, for environments whose key the person holds', async () => {
    await steps.goTo(page, 'Rotation')
    await page.getByRole('button', { name: 'New rotation' }).click()
    await pick(page, 'Environment', 'Web shop / Production')
    await dialog().getByLabel('Secret', { exact: true }).fill('SESSION_SECRET')
    await dialog().getByLabel('Every').fill('2')
    await pick(page, 'Unit', 'minutes')
    await dialog().getByText('At least 5 minutes.').waitFor()
    await pick(page, 'Unit', 'hours')
    const allow = dialog().getByLabel('Give this server the key')
    if (shop === null) await allow.check()
    else await dialog().getByText('This server can read the environment already').waitFor()
    await confirm('Rotate')
    await row(page, /SESSION_SECRET/)
      .getByText('every 2 hours')
      .waitFor()
    await row(page, /SESSION_SECRET/)
      .getByText('active')
      .waitFor()
  })

  test('cannot be configured twice for one secret, because the second would silently replace the first', async () => {
    await page.getByRole('button', { name: 'New rotation' }).click()
    await pick(page, 'Environment', 'Web shop / Production')
    await dialog().getByLabel('Secret', { exact: true }).fill('SESSION_SECRET')
    await dialog().getByText('This secret is rotated already').waitFor()
    expect(await dialog().getByRole('button', { name: 'Rotate', exact: true }).isDisabled()).toBe(true)
    await confirm('Cancel')
  })

  test('runs on request, and can be paused and resumed', async () => {
    await choose(page, 'SESSION_SECRET in Web shop / Production', 'Rotate now…')
    await confirm('Rotate')
    await row(page, /SESSION_SECRET/)
      .getByText('version 2')
      .waitFor()
    await choose(page, 'SESSION_SECRET in Web shop / Production', 'Pause')
    await row(page, /SESSION_SECRET/)
      .getByText('when resumed')
      .waitFor()
    await choose(page, 'SESSION_SECRET in Web shop / Production', 'Resume')
    await row(page, /SESSION_SECRET/)
      .getByText('active')
      .waitFor()
  })

  test('shows why a run failed', async () => {
    const { rows } = world.server.context.db
    await rows('update rotation_policies set failure_streak = 2, last_error = $1', ['the target refused the password'])
    await page.reload()
    await row(page, /SESSION_SECRET/)
      .getByText('failed 2 times')
      .waitFor()
    await row(page, /SESSION_SECRET/)
      .getByText('the target refused the password')
      .waitFor()
  })

  test('is visible on the environment’s page, which says that the server can read it', async () => {
    await openApp(page, 'Web shop')
    await openEnvironment(page, 'Production')
    await page.getByText('This server can read this too').waitFor()
    await page.getByText('Someone gave the key to its rotator.').waitFor()
    expect(await axeProblems(page)).toEqual([])
    await page.getByRole('link', { name: 'What it rotates' }).click()
    await page.waitForURL('**/rotation')
  })

  test('can be stopped, and the server loses the environment’s key with the last rotation', async () => {
    const secrets = shop === null ? ['SESSION_SECRET'] : ['DB_PASSWORD', 'SESSION_SECRET']
    for (const name of secrets) {
      await choose(page, `${name} in Web shop / Production`, 'Stop rotating…')
      await confirm('Stop rotating')
    }
    await page.getByText('This server loses the key of the environment').waitFor()
    await page.getByText('Nothing is rotated yet').waitFor()
    const { body } = await world.call(grants.list, { as: owner.bearer(), params: { orgId, envId } })
    const { body: own } = await world.call(me.get, { as: owner.bearer() })
    expect(body.grants.map(({ principalId }) => principalId)).toEqual([own.principal.id])
  })

  test('gives no key to a changed rotator key until the words are compared', async () => {
    await page.route('**/rotation/rotator-key', async (route) => {
      const response = await route.fetch()
      const { body } = await world.call(me.get, { as: owner.bearer() })
      await route.fulfill({ response, json: { publicKeyJwk: body.user?.publicKeyJwk, grantedEnvironmentIds: [] } })
    })
    await page.getByRole('button', { name: 'New rotation' }).click()
    await pick(page, 'Environment', 'Web shop / Production')
    await dialog().getByLabel('Secret', { exact: true }).fill('SESSION_SECRET')
    await dialog().getByText('The key has changed').waitFor()
    await dialog().getByLabel('Give this server the key').check()
    const submit = dialog().getByRole('button', { name: 'Rotate', exact: true })
    await expect.poll(() => submit.isDisabled()).toBe(true)
    await page.unrouteAll({ behavior: 'wait' })
    await press('Cancel')
    await closed()
  })
})

test('without a server key, the pages that need one say so', async () => {
  const refusal = { error: { code: 'conflict', message: 'this server has no server key' } }
  for (const path of ['**/leases/broker-key', '**/rotation/rotator-key'])
    await page.route(path, (route) => route.fulfill({ status: 409, json: refusal }))
  for (const path of ['leases/targets', 'rotation']) {
    await page.goto(`/orgs/acme-co/${path}?create=true`)
    await dialog().getByText('This server has no server key').waitFor()
    expect(await axeProblems(page)).toEqual([])
  }
  await page.unrouteAll({ behavior: 'wait' })
})

test('the page neither sent nor stored a secret value or credential', async () => {
  expect(await leaks(world, { owner })).toEqual([])
})

test('the page caused no console warnings and no Content-Security-Policy violations', () => {
  expect(owner.complaints).toEqual([])
})
