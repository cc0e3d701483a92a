import { randomBytes } from 'node:crypto'
import { agents } from '@skerry/contract/agents/endpoints'
import { directory } from '@skerry/contract/directory/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { members } from '@skerry/contract/members/endpoints'
import { orgs } from '@skerry/contract/orgs/endpoints'
import { generateKeyPair } from '@skerry/crypto/keys'
import { newId } from '@skerry/crypto/random'
import { newDek } from '@skerry/crypto/secret'
import { wrapKey } from '@skerry/crypto/wrap'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { newMachine } from '../../cli/test/machine.ts'
import {
  acceptReaders,
  addSecret,
  compose,
  create,
  createApp,
  dialogOf,
  edit,
  grantKey,
  openApp,
  openEnvironment,
  save,
} from './apps-steps.ts'
import { told } from './browser.ts'
import { axeProblems, choose } from './org-steps.ts'
import { join, leaks, openOwner } from './scene.ts'
import * as steps from './steps.ts'

// A signer of the directory works in the browser. A job in CI that has only a token runs undisturbed after each change.

const grace = 'grace@example.com'
const linus = 'linus@example.com'
const edsger = 'edsger@example.com'
const walk = await openOwner()
const { world, owner, page } = walk
// A process of its own for each command: a job remembers nothing from the one before.
const onMachine = () => newMachine(world.url.replace('127.0.0.1', 'localhost'), { cold: true })
const [terminal, job] = await Promise.all([onMachine(), onMachine()])
afterAll(() => Promise.all([terminal.remove(), job.remove()]))
let pin: string
/** The directory as it was after the first signature. */
let first: { roots: readonly string[]; heads: readonly string[] }

const ok = async (command: string) => {
  terminal.env.SKERRY_TOKEN = owner.bearer().replace('Bearer ', '')
  const { code, stdout, stderr } = await terminal.shell(command)
  expect(code, stderr).toBe(0)
  return stdout
}

/** The job reads its secret, and nothing waits for a signature. */
async function undisturbed() {
  const { code, stdout, stderr } = await job.shell('skerry run --no-cache -- printenv API_KEY')
  expect([code, stdout], stderr).toEqual([0, 'planted-api-key\n'])
  expect(JSON.parse(await ok('skerry trust status --json')).unsigned).toEqual([])
}

beforeAll(async () => {
  await createApp(page, 'Web shop')
  await create(page, 'New environment', 'Production')
  await addSecret(page, 'API_KEY', 'planted-api-key', ['Production'])
  await terminal.write('passphrase', steps.person.passphrase)
  Object.assign(terminal.env, { SKERRY_KEYRING: 'off', SKERRY_PASSPHRASE_FILE: `${terminal.project}/passphrase` })
  pin = (await ok('skerry trust init --yes')).trim()
  const { body: own } = await world.call(me.get, { as: owner.bearer() })
  const params = { orgId: own.orgs[0]?.id as string }
  first = (await world.call(directory.get, { as: owner.bearer(), params })).body.directory as typeof first
  job.env.SKERRY_TOKEN = (await ok('skerry token create ci --app web-shop --env production')).trim()
  await undisturbed()
})

/** Asks for a new environment, with which the browser wants the pin. */
async function askForEnvironment(name: string) {
  await openApp(page, 'Web shop')
  await page.getByRole('button', { name: 'New environment' }).first().click()
  await dialogOf(page).getByLabel('Name').fill(name)
  await dialogOf(page).getByRole('button', { name: 'Create' }).click()
  const asking = page.getByRole('dialog', { name: 'Sign this change' })
  await asking.waitFor()
  return asking
}

describe('a signer at the browser', () => {
  test('goes on without signing until the session ends: the next person is asked', async () => {
    const asking = await askForEnvironment('Preview')
    await asking.getByRole('button', { name: 'Go on without signing' }).click()
    await told(page, 'This change is not signed')
    await steps.goTo(page, 'Keyring')
    await steps.addPasskey(page, 'Laptop')
    await steps.signOut(page)
    // A passkey signs in without loading the page again.
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByRole('button', { name: 'Account' }).waitFor()
    await steps.unlockWithPassphrase(page)
    await ok('skerry trust sign --yes')
  })

  test('gives the pin at the first change that is signed; a pin of another directory is refused', async () => {
    const asking = await askForEnvironment('Staging')
    expect(await axeProblems(page)).toEqual([])
    const box = asking.getByRole('textbox', { name: 'Pin' })
    for (const [wrong, refusal] of [
      ['no pin', 'is not a pin'],
      [randomBytes(32).toString('base64url'), 'does not continue from the root that this client trusts'],
    ] as const) {
      await box.fill(wrong)
      await asking.getByRole('button', { name: 'Verify and sign' }).click()
      await asking.getByRole('alert').getByText(refusal).waitFor()
    }
    await box.fill(pin)
    await asking.getByRole('button', { name: 'Verify and sign' }).click()
    await told(page, 'Signed environment web-shop/staging: added')
    await dialogOf(page).waitFor({ state: 'detached' })
    await undisturbed()
  })

  test('signs a reader whose words were compared', async () => {
    await join(walk, grace)
    await openEnvironment(page, 'Production')
    await grantKey(page, grace)
    await told(page, `environment web-shop/production: reader ${grace} added`)
    await undisturbed()
  })

  test('wraps a new key only to the recovery key that the directory names, and asks nobody', async () => {
    const { publicKeyJwk } = await generateKeyPair()
    const show = (recoveryPublicKeyJwk: string | null) =>
      page.route('**/recovery/public-key', (route) => route.fulfill({ json: { recoveryPublicKeyJwk } }))
    const make = async (name: string) => {
      const since = owner.sent.length
      await openApp(page, 'Web shop')
      await page.getByRole('button', { name: 'New environment' }).first().click()
      await dialogOf(page).getByLabel('Name').fill(name)
      await dialogOf(page).getByRole('button', { name: 'Create' }).click()
      return {
        sent: () =>
          owner.sent
            .slice(since)
            .filter((text) => /^(?:POST|PUT) /.test(text) && !text.includes('/presence'))
            .join('\n'),
      }
    }
    await show(publicKeyJwk)
    const unsigned = await make('Unsigned')
    await told(page, 'Nobody has signed the recovery key')
    await told(page, 'Signed environment web-shop/unsigned: added')
    expect(unsigned.sent()).not.toContain('recoveryWrappedDek')
    await page.unrouteAll({ behavior: 'wait' })

    const custodians = `--custodian ${steps.person.email} --custodian ${grace} --reader ${grace}`
    await ok(`skerry recovery setup --threshold 2 ${custodians} --yes`)
    await show(publicKeyJwk)
    const another = await make('Another')
    await dialogOf(page).getByText('another recovery key than the signed directory').waitFor()
    expect(another.sent()).toBe('')
    await dialogOf(page).getByRole('button', { name: 'Cancel' }).click()
    await page.unrouteAll({ behavior: 'wait' })
    await show(null)
    const hidden = await make('Hidden')
    await told(page, 'names a recovery key, but the server shows none')
    await told(page, 'Signed environment web-shop/hidden: added')
    expect(hidden.sent()).not.toContain('recoveryWrappedDek')
    await page.unrouteAll({ behavior: 'wait' })

    const signed = await make('Covered')
    await told(page, 'Signed environment web-shop/covered: added')
    expect(signed.sent()).toContain('recoveryWrappedDek')
    await openEnvironment(page, 'Production')
    await undisturbed()
  })

  test('signs a new key', async () => {
    await page.getByRole('button', { name: 'Re-key' }).click()
    await dialogOf(page).getByLabel('I understand what this cannot undo').check()
    await dialogOf(page).getByRole('button', { name: 'Re-key', exact: true }).click()
    await acceptReaders(page)
    await told(page, 'Signed environment web-shop/production: new key')
    await undisturbed()
  })

  test('signs a group and its composition', async () => {
    await steps.goTo(page, 'Groups')
    await create(page, 'New group', 'Shared')
    await create(page, 'New environment', 'Production')
    await told(page, 'Signed environment shared:production: added')
    await openApp(page, 'Web shop')
    await openEnvironment(page, 'Production', 'Composition')
    await compose(page, 'Shared')
    await told(page, 'Signed environment web-shop/production: includes shared:production')
    // The token needs the key of the group, with a signed directory and without.
    await ok('skerry grant ci --app web-shop --env production --yes')
    await undisturbed()
  })

  test('signs the end of a member', async () => {
    await steps.goTo(page, 'Members')
    await choose(page, grace, 'Remove…')
    await dialogOf(page).getByLabel(`Type ${grace}`).fill(grace)
    await dialogOf(page).getByRole('button', { name: 'Remove' }).click()
    await told(page, `person ${grace}: deleted`)
    await undisturbed()
  })

  test('forks a branch that a job with a pin may read, also after a new key', async () => {
    await openApp(page, 'Web shop')
    await openEnvironment(page, 'Production', 'Branches')
    await page.getByRole('button', { name: 'Fork a branch' }).first().click()
    await dialogOf(page).getByLabel('Slug').fill('pr-7')
    await dialogOf(page).getByRole('button', { name: 'Fork' }).click()
    await told(page, 'Forked pr-7 from Production.')
    const read = () => job.shell('skerry run --no-cache --branch pr-7 -- printenv API_KEY')
    expect(await read()).toMatchObject({ code: 0, stdout: 'planted-api-key\n' })
    await ok('skerry env rekey production --app web-shop --yes')
    expect(await read()).toMatchObject({ code: 0, stdout: 'planted-api-key\n' })
  })
})

describe('an admin who does not sign', () => {
  test('publishes no policy that proxies would refuse, and is told who signs', async () => {
    const { body: own } = await world.call(me.get, { as: owner.bearer() })
    const params = { orgId: own.orgs[0]?.id as string }
    const ken = await join(walk, 'ken@example.com')
    const userId = (await world.call(me.get, { as: ken.bearer() })).body.principal.id
    await world.call(members.update, {
      as: owner.bearer(),
      params: { ...params, userId },
      body: { role: 'admin' as const },
    })
    await world.call(agents.create, { as: owner.bearer(), params, body: { name: 'Builder', slug: 'builder' } })
    await ken.page.reload()
    await steps.unlockWithPassphrase(ken.page)
    await steps.goTo(ken.page, 'Signed directory')
    await ken.page.getByRole('textbox', { name: 'Pin', exact: true }).fill(pin)
    await ken.page.getByRole('button', { name: 'Verify' }).click()
    await ken.page.getByText(/root \d+, head \d+\./).waitFor()
    await steps.goTo(ken.page, 'Agents')
    await ken.page.getByRole('link', { name: 'Builder' }).click()
    await ken.page.getByRole('button', { name: 'Write a policy' }).click()
    const since = ken.sent.length
    await dialogOf(ken.page).getByRole('button', { name: 'Sign and publish' }).click()
    const alert = dialogOf(ken.page).getByRole('alert')
    await alert.getByText('Proxies would refuse this policy, because you do not sign the directory').waitFor()
    await alert.getByText(steps.person.email).waitFor()
    await ken.quiet()
    expect(ken.sent.slice(since).filter((text) => /^(POST|PUT|PATCH|DELETE) /.test(text))).toEqual([])
  })
})

describe('a lying server', () => {
  type Json = Record<string, Record<string, unknown>[]>
  const lie = (path: string | RegExp, rewrite: (body: Json) => unknown) =>
    page.route(path, async (route) => {
      if (route.request().method() !== 'GET') return route.fallback()
      const response = await route.fetch()
      await route.fulfill({ response, json: rewrite(await response.json()) })
    })
  afterEach(() => page.unrouteAll({ behavior: 'wait' }))

  /** Expects a refusal on the page, and that no change was sent since `act` began. */
  async function refused(act: () => Promise<unknown>, words: string) {
    const since = owner.sent.length
    await act()
    await dialogOf(page).getByRole('alert').getByText(words).waitFor()
    await dialogOf(page).getByRole('alert').getByText(steps.person.email).waitFor()
    await owner.quiet()
    expect(owner.sent.slice(since).filter((text) => /^(POST|PUT|PATCH|DELETE) /.test(text))).toEqual([])
    await dialogOf(page).getByRole('button', { name: 'Cancel' }).click()
  }

  /** Opens the page anew, and chooses a person who should get the key of Production. */
  const chooseForGrant = async (person: string) => {
    await page.reload()
    await steps.unlockWithPassphrase(page)
    await openApp(page, 'Web shop')
    await openEnvironment(page, 'Production')
    await page.getByRole('button', { name: 'Grant access' }).click()
    await dialogOf(page).getByLabel('To').click()
    await page.getByRole('option', { name: person }).click()
  }

  test('with its own key as the key of a colleague gets nothing, even if the person says that they compared it', async () => {
    const { publicKeyJwk } = await generateKeyPair()
    await join(walk, linus)
    await openApp(page, 'Web shop')
    await openEnvironment(page, 'Staging')
    await grantKey(page, linus)
    await told(page, `environment web-shop/staging: reader ${linus} added`)
    await lie('**/members*', (body) => ({
      ...body,
      members: body.members?.map((one) => (one.email === linus ? { ...one, publicKeyJwk } : one)),
    }))
    // A new browser has compared nothing.
    await page.evaluate(() => localStorage.removeItem('skerry-known-keys'))
    await chooseForGrant(linus)
    await dialogOf(page).getByLabel('I compared these words').check()
    const grant = () => dialogOf(page).getByRole('button', { name: 'Grant' }).click()
    await refused(grant, `The server shows another key of ${linus} than the one in the signed directory`)
  })

  test('that gives a managed key a name that no entry can have gets nothing', async () => {
    await ok('skerry kms create billing')
    await steps.goTo(page, 'Managed keys')
    await page.getByRole('link', { name: 'billing' }).click()
    await page.getByRole('heading', { name: 'billing' }).waitFor()
    await lie(/\/kms\/keys\/\w+$/, (body) => ({ ...body, key: { ...body.key, name: 'Billing!' } }))
    // A new browser has compared nothing.
    await page.evaluate(() => localStorage.removeItem('skerry-known-keys'))
    await page.reload()
    await steps.unlockWithPassphrase(page)
    const words = 'The signed directory can have no managed key with the name “Billing!”'
    await page.getByRole('button', { name: 'Rotate…' }).click()
    await refused(() => dialogOf(page).getByRole('button', { name: 'Rotate', exact: true }).click(), words)
    await page.getByRole('button', { name: 'Grant…' }).click()
    await dialogOf(page).getByLabel('To').click()
    await page.getByRole('option', { name: linus }).click()
    await dialogOf(page)
      .getByLabel(/I compared these words/)
      .check()
    await refused(() => dialogOf(page).getByRole('button', { name: 'Grant', exact: true }).click(), words)
  })

  test('that still shows a person whom another signer removed gets nothing', async () => {
    const { body: own } = await world.call(me.get, { as: owner.bearer() })
    const params = { orgId: own.orgs[0]?.id as string }
    await join(walk, edsger)
    await openApp(page, 'Web shop')
    await openEnvironment(page, 'Staging')
    await grantKey(page, edsger)
    await told(page, `environment web-shop/staging: reader ${edsger} added`)
    const { body } = await world.call(orgs.members, { as: owner.bearer(), params })
    await ok(`skerry members rm ${edsger} --yes`)
    await lie('**/members*', () => body)
    await chooseForGrant(edsger)
    const grant = () => dialogOf(page).getByRole('button', { name: 'Grant' }).click()
    await refused(grant, 'was in the signed directory, and is there no longer')
  })

  test('that adds a reader before a re-key gets nothing', async () => {
    const { publicKeyJwk } = await generateKeyPair()
    const evil = { principalType: 'user', principalId: newId('user'), name: 'eve@example.com', publicKeyJwk }
    await openApp(page, 'Web shop')
    await openEnvironment(page, 'Production')
    await lie('**/grantees', (body) => ({ ...body, grantees: [...(body.grantees ?? []), evil] }))
    await page.getByRole('button', { name: 'Re-key' }).click()
    await dialogOf(page).getByLabel('I understand what this cannot undo').check()
    const rekey = () => dialogOf(page).getByRole('button', { name: 'Re-key', exact: true }).click()
    await refused(rekey, `The signed directory does not list ${evil.principalId} as a reader of web-shop/production`)
  })

  test('that replaces the key of an environment gets no value', async () => {
    const { body } = await world.call(me.getKeys, { as: owner.bearer() })
    const wrappedDek = await wrapKey(newDek(), body.publicKeyJwk as string)
    await lie('**/key', () => ({ wrappedDek }))
    await lie('**/secrets', () => ({ secrets: [], nextCursor: null }))
    await page.reload()
    await steps.unlockWithPassphrase(page)
    await openApp(page, 'Web shop')
    await page.getByRole('button', { name: 'Add secret' }).click()
    await dialogOf(page).getByLabel('Name').fill('STOLEN')
    await dialogOf(page).getByLabel('Value').fill('planted-stolen')
    for (const box of await dialogOf(page).getByRole('checkbox').all()) await box.setChecked(false)
    await dialogOf(page).getByRole('checkbox', { name: 'Production' }).check()
    const add = () => dialogOf(page).getByRole('button', { name: 'Add', exact: true }).click()
    await refused(add, 'expected web-shop/production with the key')
  })

  test('that shows another organization under the known name is refused', async () => {
    await page.reload()
    await steps.unlockWithPassphrase(page)
    await openApp(page, 'Web shop')
    await lie('**/v1/me', (body) => ({
      ...body,
      orgs: body.orgs?.map((one) => ({ ...one, id: newId('organization') })),
    }))
    await page.reload()
    await page.getByRole('alert').getByText('The server shows another organization as').waitFor()
    await page.unrouteAll({ behavior: 'wait' })
    await page.reload()
    await steps.unlockWithPassphrase(page)
  })

  test('that shows a branch without its manifest gets no value', async () => {
    await openApp(page, 'Web shop')
    await page.getByRole('button', { name: 'Branches' }).click()
    await page.getByRole('menuitem', { name: 'pr-7' }).click()
    await page.keyboard.press('Escape')
    await lie('**/branches*', (body) => ({
      ...body,
      branches: body.branches?.map((one) => ({ ...one, manifest: null })),
    }))
    await edit(page, 'API_KEY', 'pr-7', 'planted-stolen')
    const since = owner.sent.length
    await save(page)
    await page
      .getByRole('alert')
      .getByText('expected the branch pr-7 of web-shop/production with its manifest, came none')
      .waitFor()
    await owner.quiet()
    expect(owner.sent.slice(since).filter((text) => /^(POST|PUT|PATCH|DELETE) /.test(text))).toEqual([])
    await page.getByLabel('Value of API_KEY in pr-7').press('Escape')
  })

  test('that shows an older directory is refused, until a person says that a backup was restored', async () => {
    const older = { directory: { roots: first.roots, heads: first.heads, proofs: [] } }
    await lie(/\/v1\/orgs\/\w+\/directory(?:\?|$)/, () => older)
    await steps.goTo(page, 'Signed directory')
    expect(await axeProblems(page)).toEqual([])
    await page.getByRole('textbox', { name: 'Pin', exact: true }).fill(pin)
    await page.getByRole('button', { name: 'Verify' }).click()
    await page
      .getByRole('alert')
      .getByText(/is older than|does not continue from/)
      .waitFor()
    await page.getByRole('textbox', { name: 'Pin of the restored directory' }).fill(pin)
    const go = page.getByRole('button', { name: 'Continue from the older directory' })
    expect(await go.isDisabled()).toBe(true)
    await page.getByLabel(`Type ${steps.person.slug}`).fill(steps.person.slug)
    await go.click()
    await page.getByText('root 1, head 1.').waitFor()
  })
})

test('no page sent or stored a value, or the passphrase', async () => {
  expect(await leaks(world, { owner })).toEqual([])
})
