import { randomBytes } from 'node:crypto'
import { leases } from '@skerry/contract/leases/endpoints'
import { provisioner } from '@skerry/contract/leases/provisioner'
import { openAdminSecret } from '@skerry/sdk/internal/admin-secrets'
import { createServiceToken } from '@skerry/sdk/tokens'
import { afterAll, describe, expect, test } from 'vitest'
import { key, roleArn, stsFake } from '../../providers/test/leases/aws-sts-fake.ts'
import { mariadbScene, missingMariadb } from '../../providers/test/leases/mysql-scene.ts'
import { clientOf } from '../../server/test/canary-steps.ts'
import { claimJob, newSshKey } from '../../server/test/lease-steps.ts'
import { builtIn } from '../../server/test/world.ts'
import { dialogOf } from './apps-steps.ts'
import { choose as pick, row } from './changes-steps.ts'
import { axeProblems, choose, newPlace } from './org-steps.ts'
import { openOwner } from './scene.ts'
import * as steps from './steps.ts'

// Kinds of targets that leases.test.ts does not cover: SSH certificates, MariaDB, AWS, and a target of a provisioner.

describe('a lease target', async () => {
  const sts = await stsFake()
  afterAll(() => sts.stop())
  const { world, owner, page } = await openOwner({
    ...builtIn,
    SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
    SKERRY_PROVIDER_ORIGINS: JSON.stringify({ 'cloud-a': sts.origin }),
  })
  const { orgId } = await newPlace(world, owner.bearer())
  const dialog = () => dialogOf(page)
  const closed = () => dialog().waitFor({ state: 'detached' })
  const press = (name: string) => dialog().getByRole('button', { name, exact: true }).click()

  const openNewTarget = async (kind: string, name: string) => {
    await steps.goTo(page, 'Leases')
    await steps.openTab(page, 'Targets')
    await page.getByRole('button', { name: 'New target' }).click()
    await pick(page, 'What it is', kind)
    await dialog().getByLabel('Name', { exact: true }).fill(name)
  }
  const fill = async (fields: Record<string, string>) => {
    for (const [label, text] of Object.entries(fields)) await dialog().getByLabel(label, { exact: true }).fill(text)
  }
  const register = async (name: string) => {
    expect(await axeProblems(page)).toEqual([])
    await press('Register')
    await closed()
    await row(page, new RegExp(name)).getByText('ready').waitFor()
  }
  /** Gets access to a target. Returns the dialog and its main text. */
  const getAccess = async (name: string, settings = async () => {}) => {
    await choose(page, name, 'Get access…')
    await settings()
    await press('Get access')
    const shown = page.getByRole('dialog', { name: `Your access to ${name}` })
    await shown.getByText('You can see it only now').waitFor()
    return { shown, text: await shown.locator('[data-secret]').first().innerText() }
  }
  const keep = async () => {
    await press('I have kept it')
    await closed()
  }
  const newest = async () =>
    (await world.call(leases.list, { as: owner.bearer(), params: { orgId }, query: { limit: 1 } })).body.leases[0]

  test('for SSH stores the key of an authority, and a lease is a key with a certificate for login names', async () => {
    const { publicKey, privateKey } = newSshKey()
    await openNewTarget('SSH certificates', 'hosts')
    await expect.poll(() => dialog().getByLabel('Who signs in').count()).toBe(0)
    await fill({ 'Admin credential': privateKey, 'Public key of the authority': publicKey })
    await register('hosts')
    const { shown, text } = await getAccess('hosts', async () => {
      await dialog().getByLabel('Login names').fill('deploy')
      await page.keyboard.press('Enter')
    })
    expect(text).toContain('OPENSSH PRIVATE KEY')
    await shown.getByText('ssh-ed25519-cert-v01@openssh.com').waitFor()
    await shown.getByText('deploy@host').waitFor()
    await keep()
  })

  test('for SSH cannot end a certificate early, and the dialog says so', async () => {
    await choose(page, (await newest())?.resourceRef as string, 'Revoke…')
    await dialog().getByText('The target cannot take the credential back').waitFor()
    await press('Revoke')
    await closed()
    expect((await newest())?.status).toBe('revoked')
  })

  test('for AWS is a role, and a lease is the keys of a session', async () => {
    await openNewTarget('AWS', 'deploy role')
    await press('More settings')
    const credential = JSON.stringify({ accessKeyId: key.id, secretAccessKey: key.secret })
    await fill({ 'Admin credential': credential, 'ARN of the role': roleArn, Region: 'eu-central-1' })
    await fill({ 'External ID': 'from-skerry' })
    await register('deploy role')
    const { text } = await getAccess('deploy role')
    expect(text).toMatch(/^AWS_SESSION_TOKEN=\S+$/m)
    await keep()
  })

  describe.skipIf(missingMariadb() !== undefined)('for MariaDB', async () => {
    const scene = missingMariadb() === undefined ? await mariadbScene() : null
    afterAll(() => scene?.stop())

    test('takes its address from the credential, and a lease can sign in', async () => {
      const [target] = [scene!.target('readonly')]
      const { port } = target.config.connection
      await openNewTarget('MySQL or MariaDB', 'orders')
      await fill({ 'Admin credential': target.credential.replace('localhost', '127.0.0.1') })
      await dialog().getByLabel('Database', { exact: true }).click()
      expect(await dialog().getByLabel('Port').inputValue()).toBe(String(port))
      await register('orders')
      const { username, password } = new URL((await getAccess('orders')).text)
      const client = await scene!.signIn(username, decodeURIComponent(password))
      await client.read()
      await client.close()
      await keep()
    })

    test('can be renamed', async () => {
      await steps.openTab(page, 'Targets')
      await choose(page, 'orders', 'Rename…')
      await dialog().getByLabel('Name').fill('orders of the shop')
      await press('Rename')
      await closed()
      await row(page, /orders of the shop/).waitFor()
    })

    test('can forget a lease whose account could not be removed, after a warning', async () => {
      const { id, resourceRef } = (await newest())!
      await world.server.context.db.rows(`update leases set status = 'orphaned' where id = $1`, [id])
      await steps.openTab(page, 'Ledger')
      await page.reload()
      await row(page, new RegExp(resourceRef as string))
        .getByText('not removed')
        .waitFor()
      await choose(page, resourceRef as string, 'Forget…')
      await dialog().getByText('may still exist on the target').waitFor()
      await press('Forget')
      await closed()
      await row(page, new RegExp(resourceRef as string))
        .getByText('revoked', { exact: true })
        .waitFor()
    })
  })

  describe('with a provisioner', () => {
    const credential = `postgres://skerry_admin:${randomBytes(12).toString('hex')}@db.internal:5432/shop`
    let made: Awaited<ReturnType<typeof createServiceToken>>
    const as = () => ({ as: `Bearer ${made.parsed.bearer}` })
    /** Plays the part of the provisioner in the other network. */
    const work = async (report: object) => {
      const job = await claimJob(world, as())
      const params = { jobId: job.id }
      await world.call(provisioner.report, { ...as(), params, body: { ok: true, ...report } })
      return job
    }

    test('gets a credential that only the provisioner’s token can decrypt, after the words were compared', async () => {
      const client = clientOf(world, { bearer: owner.bearer().slice('Bearer '.length) })
      made = await createServiceToken(client, { orgId, name: 'inner network' })
      await openNewTarget('PostgreSQL', 'inner')
      await pick(page, 'Who signs in', 'inner network')
      await fill({ 'Admin credential': credential })
      await dialog().getByText('The holder of the token inner network will be able to read it').waitFor()
      await dialog().getByLabel('Schema').click()
      const submit = dialog().getByRole('button', { name: 'Register' })
      await expect.poll(() => submit.isDisabled()).toBe(true)
      await dialog().getByLabel('I compared these words').check()
      expect(await axeProblems(page)).toEqual([])
      await submit.click()
      const { target } = await work({ server: 'PostgreSQL 17.1', notes: [] })
      expect(await openAdminSecret(target.wrappedAdminSecret, target.config, made.parsed.privateKey)).toBe(credential)
      await closed()
      await row(page, /inner/).getByText('ready').waitFor()
    })

    test('creates an account while the page waits', async () => {
      await choose(page, 'inner', 'Get access…')
      await press('Get access')
      const { lease } = await work({})
      const shown = page.getByRole('dialog', { name: 'Your access to inner' })
      const url = new URL(await shown.locator('[data-secret]').first().innerText())
      expect([url.hostname, url.username]).toEqual(['db.internal', lease?.resourceRef])
      await keep()
    })

    test('is not offered for rotation, because the server rotates itself', async () => {
      await steps.goTo(page, 'Rotation')
      await page.getByRole('button', { name: 'New rotation' }).click()
      await pick(page, 'What it is', 'Password of a PostgreSQL account')
      await page.getByRole('combobox', { name: 'Lease target' }).click()
      await page.getByText('No such target: register one under Leases first').waitFor()
      await page.keyboard.press('Escape')
      await press('Cancel')
      await closed()
    })
  })

  test('causes no console warnings and no Content-Security-Policy violations', () => {
    expect(owner.complaints).toEqual([])
  })
})
