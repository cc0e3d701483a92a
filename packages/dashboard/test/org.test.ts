import { readFile } from 'node:fs/promises'
import { me } from '@skerry/contract/me/endpoints'
import { orgs } from '@skerry/contract/orgs/endpoints'
import { resolve } from '@skerry/contract/resolve/endpoints'
import { secrets } from '@skerry/contract/secrets/endpoints'
import { fingerprintWords } from '@skerry/crypto/fingerprint-words'
import { importDek, newDek, openSecret, sealSecret } from '@skerry/crypto/secret'
import { parseToken } from '@skerry/crypto/token'
import { unwrapKey } from '@skerry/crypto/wrap'
import { beforeAll, describe, expect, test } from 'vitest'
import { storedText } from './browser.ts'
import { withdraw } from './changes-steps.ts'
import { axeProblems, choose, invite, joins, newPlace, protect, putSecret, unprotect } from './org-steps.ts'
import { leaks, openScene } from './scene.ts'
import * as steps from './steps.ts'

const { world, arrive } = await openScene()
const visitor = await arrive()
const { page, bearer } = visitor
await steps.setUp(page, world)
await steps.makeKeyring(page)
const place = await newPlace(world, bearer())
await putSecret(world, bearer(), place, 'API_KEY', 'planted-first')
await page.goto('/orgs/acme-co')
/** All tokens and secrets that were shown once. No request and no storage may contain them. */
const shownOnce: string[] = []

const dialog = () => page.getByRole('dialog')
const row = (name: string | RegExp) => page.getByRole('row', { name })

/** Reloads the page. It then loads everything again, and the keyring is locked. */
async function reload(): Promise<void> {
  await page.reload()
  await page.getByRole('button', { name: 'Unlock the keyring' }).waitFor()
}

describe('members', () => {
  test('can be invited, and an invitation can be revoked', async () => {
    for (const email of ['ben@example.com', 'slip@example.com']) await invite(page, email)
    await row('slip@example.com').getByRole('button', { name: 'Revoke' }).click()
    await dialog().getByRole('button', { name: 'Revoke' }).click()
    await row('slip@example.com').waitFor({ state: 'detached' })
  })

  test('can have the words of their keys compared, which this browser remembers', async () => {
    const ben = await joins(world, bearer(), place, 'ben@example.com')
    await reload()
    await row('ben@example.com').getByText('not compared').waitFor()
    await choose(page, 'ben@example.com', 'Compare the key…')
    const words = await fingerprintWords(ben.publicKeyJwk)
    await expect.poll(() => dialog().getByLabel('Fingerprint of the key of ben@example.com').innerText()).toBe(words)
    await dialog().getByLabel('I compared these words').check()
    await dialog().getByRole('button', { name: 'Remember this key' }).click()
    await row('ben@example.com').getByText('key compared', { exact: true }).waitFor()
    expect(await axeProblems(page)).toEqual([])
  })

  test('can get another role', async () => {
    await choose(page, 'ben@example.com', 'Change the role…')
    await dialog().getByLabel('admin').check()
    await dialog().getByRole('button', { name: 'Change the role' }).click()
    await row('ben@example.com').getByRole('cell', { name: 'admin', exact: true }).waitFor()
  })

  test('are removed only after their address is typed, and then the page lists the environments to re-key', async () => {
    await choose(page, 'ben@example.com', 'Remove…')
    await dialog().getByText('Web shop / Production').waitFor()
    await expect.poll(() => dialog().getByRole('button', { name: 'Remove' }).isDisabled()).toBe(true)
    await dialog().getByLabel('Type ben@example.com').fill('ben@example.com')
    await dialog().getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('link', { name: 'Re-key Web shop / Production' }).waitFor()
    const { body } = await world.call(orgs.members, { as: bearer(), params: { orgId: place.orgId } })
    expect(body.members).toHaveLength(1)
  })

  test('who were removed leave a list of environments to re-key, on several pages and after a reload', async () => {
    const due = page.getByRole('link', { name: 'Re-key Web shop / Production' })
    await page.getByText('ben@example.com had the key').waitFor()
    await steps.goTo(page, 'Applications')
    await reload()
    await page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor()
    for (const pageName of ['Audit log', 'Service tokens', 'Members']) {
      await steps.goTo(page, pageName)
      await due.waitFor()
    }
    await page.getByText('a former member had the key').waitFor()
  })

  test('cannot leave as the last owner, and the dialog says why', async () => {
    await choose(page, steps.person.name, 'Leave')
    await dialog().getByLabel('Type acme-co').fill('acme-co')
    await dialog().getByRole('button', { name: 'Leave' }).click()
    await dialog().getByRole('alert').getByText('This is the last owner').waitFor()
    await dialog().getByRole('button', { name: 'Cancel' }).click()
  })
})

describe('service tokens', () => {
  let token: string
  beforeAll(() => steps.unlockWithPassphrase(page))

  test.each(['Skerry', 'Classic'])('of the format %s are created in the browser with their keys', async (format) => {
    await steps.goTo(page, 'Service tokens')
    await page.getByRole('button', { name: 'New token' }).click()
    await dialog().getByLabel('Name').fill(`web ${format}`)
    await dialog().getByLabel('Reads').fill('Produc')
    await page.getByRole('option', { name: 'Web shop / Production' }).click()
    await dialog().getByLabel(format).check()
    await dialog().getByRole('button', { name: 'Create' }).click()
    const shown = page.getByRole('dialog', { name: 'The new token' })
    token = await shown.locator('[data-secret]').innerText()
    shownOnce.push(token)
    await shown.getByRole('button', { name: 'I have kept it' }).click()
    const { bearer: own, privateKey } = await parseToken(token)
    const { body } = await world.call(resolve.get, { as: `Bearer ${own}`, query: {} })
    const layer = body.layers.find(({ environmentId }) => environmentId === place.envId)
    const dek = await importDek(await unwrapKey(layer?.wrappedDek as string, privateKey))
    const sealed = layer?.secrets.find(({ name }) => name === 'API_KEY')?.ciphertext as string
    expect(await openSecret(sealed, dek, place.envId, 'API_KEY')).toBe('planted-first')
  })

  test('have the Skerry format by default, and the form says what a published client would send', async () => {
    await page.getByRole('button', { name: 'New token' }).click()
    const radio = (name: string) => dialog().getByRole('radio', { name })
    expect([await radio('Skerry').isChecked(), await radio('Classic').isChecked()]).toEqual([true, false])
    await dialog().getByText('Other clients would send the private key to the server.').waitFor()
    await dialog().getByText('For clients that are not made by Skerry').waitFor()
    await dialog().getByRole('button', { name: 'Cancel' }).click()
    await dialog().waitFor({ state: 'hidden' })
  })

  test('are listed with their environment, and can be renamed, revoked and deleted permanently', async () => {
    await row('web Skerry').getByText('Web shop / Production').waitFor()
    await choose(page, 'web Skerry', 'Rename…')
    await dialog().getByLabel('Name').fill('web one')
    await dialog().getByRole('button', { name: 'Rename' }).click()
    await row('web one').waitFor()
    expect(await axeProblems(page)).toEqual([])
    await choose(page, 'web one', 'Revoke…')
    await dialog().getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('a former member, the token “web one” had the key').waitFor()
    await page.getByLabel('Show').getByText('All').click()
    await choose(page, 'web one', 'Delete permanently…')
    await dialog().getByRole('button', { name: 'Delete' }).click()
    await row('web one').waitFor({ state: 'detached' })
  })
})

describe('machine clients', () => {
  test('can be created, given a new secret and revoked, and each secret is shown once', async () => {
    await steps.goTo(page, 'Machine clients')
    await page.getByRole('button', { name: 'New machine client' }).click()
    await dialog().getByLabel('Name').fill('provisioning')
    await dialog().getByRole('button', { name: 'Create' }).click()
    const shown = page.getByRole('dialog', { name: 'The secret of the machine client' })
    const first = await shown.locator('[data-secret]').innerText()
    await shown.getByRole('button', { name: 'I have kept it' }).click()
    const id = await row('provisioning').locator('.mono').innerText()
    const statusOf = async (secret: string) =>
      (await world.call(me.get, { as: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` })).status
    expect(await statusOf(first)).toBe(200)
    expect(await axeProblems(page)).toEqual([])
    await choose(page, 'provisioning', 'New secret…')
    await dialog().getByRole('button', { name: 'Create a new secret' }).click()
    const second = await shown.locator('[data-secret]').innerText()
    shownOnce.push(first, second)
    await shown.getByRole('button', { name: 'I have kept it' }).click()
    expect([await statusOf(first), await statusOf(second)]).toEqual([401, 200])
    await choose(page, 'provisioning', 'Revoke…')
    await dialog().getByRole('button', { name: 'Revoke' }).click()
    await row('provisioning').getByText('revoked').waitFor()
    expect(await statusOf(second)).toBe(401)
  })
})

describe('decoys', () => {
  test('look like service tokens, and are listed with their place and their number of uses', async () => {
    await steps.goTo(page, 'Decoys')
    await page.getByRole('button', { name: 'New decoy' }).click()
    await dialog().getByLabel('Where you will put it').fill('old wiki')
    await dialog().getByRole('button', { name: 'Create' }).click()
    const shown = page.getByRole('dialog', { name: 'The new decoy' })
    const decoy = await shown.locator('[data-secret]').innerText()
    shownOnce.push(decoy)
    const { bearer: presented } = await parseToken(decoy)
    await shown.getByRole('button', { name: 'I have kept it' }).click()
    await row('old wiki').getByText('never').waitFor()
    const answer = await world.call(me.get, { as: `Bearer ${presented}` })
    expect(answer.status).toBe(401)
    await expect
      .poll(
        async () => {
          await reload()
          await row('old wiki').waitFor()
          return row('old wiki').getByText('once').count()
        },
        { timeout: 60_000, interval: 1500 },
      )
      .toBe(1)
    expect(await axeProblems(page)).toEqual([])
  })

  test('can be deleted', async () => {
    await row('old wiki').getByRole('button', { name: 'Delete' }).click()
    await dialog().getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No decoy yet').waitFor()
  })
})

describe('changes', () => {
  const open = async (name: string) => {
    await steps.goTo(page, 'Changes')
    await page.getByRole('link', { name }).click()
    await page.getByRole('heading', { name, level: 1 }).waitFor()
  }

  test('that wait are shown with a masked difference, which can be revealed, and can be approved', async () => {
    await protect(world, bearer(), place)
    await putSecret(world, bearer(), place, 'API_KEY', 'planted-second', 'the provider asks for it')
    await putSecret(world, bearer(), place, 'OTHER', 'planted-other')
    await reload()
    await open('Change API_KEY')
    await page.getByText('the provider asks for it').waitFor()
    await page.getByRole('button', { name: 'Unlock to compare' }).click()
    await steps.unlockWithPassphrase(page)
    await page.getByText('The proposed value differs from the current one.').waitFor()
    expect(await page.content()).not.toContain('planted')
    await page.getByRole('button', { name: 'Reveal values' }).click()
    await page.getByLabel('Removed').getByText('planted-first').waitFor()
    await page.getByLabel('Added').getByText('planted-second').waitFor()
    expect(await axeProblems(page)).toEqual([])
    await page.getByLabel('Comment').fill('seen')
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('applied', { exact: true }).waitFor()
    expect(await page.content()).not.toContain('planted')
  })

  test('can be rejected with a comment', async () => {
    await open('Create OTHER')
    await page.getByLabel('Comment').fill('not needed')
    await page.getByRole('button', { name: 'Reject' }).click()
    await page.getByText('rejected', { exact: true }).first().waitFor()
    await page.getByText('not needed').waitFor()
  })

  test('cannot be approved if the value does not open with the environment’s key', async () => {
    const { orgId, envId } = place
    const ciphertext = await sealSecret('planted-elsewhere', await importDek(newDek()), envId, 'ODD')
    await world.call(secrets.put, { as: bearer(), params: { orgId, envId, name: 'ODD' }, body: { ciphertext } })
    await reload()
    await open('Create ODD')
    await page.getByRole('button', { name: 'Unlock to compare' }).click()
    await steps.unlockWithPassphrase(page)
    await page.getByText('does not decrypt the proposed value').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true)
    await withdraw(page)
    await page.getByText('withdrawn', { exact: true }).waitFor()
  })

  test('can be listed by status', async () => {
    await steps.goTo(page, 'Changes')
    await page.getByText('No change waits for approval').waitFor()
    await page.getByRole('combobox', { name: 'Status' }).click()
    await page.getByRole('option', { name: 'all' }).click()
    await row(/Change API_KEY/)
      .getByText('applied')
      .waitFor()
    await row(/Create OTHER/)
      .getByText('rejected')
      .waitFor()
    expect(await axeProblems(page)).toEqual([])
  })
})

describe('the audit log', () => {
  test('shows what happened with all details, and can be filtered by action', async () => {
    await steps.goTo(page, 'Audit log')
    await row(/withdrew the change/).waitFor()
    await row(/tried the decoy/)
      .first()
      .getByRole('button', { name: 'Show details' })
      .click()
    await page.getByText('honey_token.tripped').waitFor()
    expect(await axeProblems(page)).toEqual([])
    await page.getByRole('combobox', { name: 'What happened' }).fill('Member rem')
    await page.getByRole('option', { name: 'Member removed' }).click()
    await row(/withdrew the change/).waitFor({ state: 'detached' })
    await page.getByText('One entry').waitFor()
  })

  test('is exported as shown', async () => {
    const save = async (format: string) => {
      await page.getByRole('button', { name: 'Export what is shown' }).click()
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: format }).click(),
      ])
      return readFile(await download.path(), 'utf8')
    }
    const { entries } = JSON.parse(await save('JSON'))
    expect(entries).toMatchObject([{ action: 'member.removed', metadata: { environmentIds: [place.envId] } }])
    expect((await save('CSV')).split('\r\n')[1]).toContain(',member.removed,user,')
  })
})

describe('a re-key', () => {
  test('is listed as due until the environment has a new key', async () => {
    const due = page.getByRole('link', { name: 'Re-key Web shop / Production' })
    // A protected environment cannot be re-keyed.
    await unprotect(world, bearer(), place)
    await reload()
    await steps.unlockWithPassphrase(page)
    await steps.goTo(page, 'Members')
    await due.click()
    await page.getByRole('heading', { name: 'Production', level: 1 }).waitFor()
    await due.waitFor()
    world.clock.advance(5)
    await page.getByRole('button', { name: 'Re-key', exact: true }).click()
    await dialog().getByLabel('I understand what this cannot undo').check()
    await dialog().getByRole('button', { name: 'Re-key' }).click()
    await dialog().waitFor({ state: 'hidden' })
    await due.waitFor({ state: 'detached' })
    await steps.goTo(page, 'Members')
    await page.getByRole('heading', { name: 'Members', level: 1 }).waitFor()
    expect(await due.count()).toBe(0)
  })
})

describe('an organization', () => {
  test('can be renamed', async () => {
    await steps.goTo(page, 'Settings')
    await page.getByLabel('Name of the organization').fill('Acme Holding')
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name: 'Acme Holding' }).waitFor()
    await steps.openTab(page, 'Security')
    await page.getByLabel('Every member needs a second factor').waitFor()
    expect(await axeProblems(page)).toEqual([])
  })

  test('can be created from the switcher, and its pages can be reached through the palette', async () => {
    await page.getByRole('button', { name: 'Acme Holding' }).click()
    await page.getByRole('menuitem', { name: 'New organization' }).click()
    await dialog().getByLabel('Name').fill('Side project')
    await dialog().getByRole('button', { name: 'Create' }).click()
    await page.waitForURL('**/orgs/side-project/start')
    await page.getByRole('button', { name: 'Hide this page' }).click()
    await page.getByText('No application yet').waitFor()
    await dialog().waitFor({ state: 'hidden' })
    await page.keyboard.press('Control+k')
    await page.getByLabel('Find or do').fill('new service token')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'New service token' }).waitFor()
    expect(await axeProblems(page)).toEqual([])
    await page.keyboard.press('Escape')
  })
})

test('the page neither sent nor stored a secret value, a passphrase or a token', async () => {
  expect(shownOnce).toHaveLength(5)
  const [skerry, , ...others] = shownOnce as [string, string, ...string[]]
  expect(await leaks(world, { visitor })).toEqual([])
  for (const text of [...visitor.sent, ...(await storedText(visitor))]) {
    for (const token of [skerry, ...others]) expect(text).not.toContain(token)
  }
})

test('the page caused no console warnings and no Content-Security-Policy violations', () => {
  expect(visitor.complaints).toEqual([])
})
