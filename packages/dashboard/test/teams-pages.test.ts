import { apps } from '@skerry/contract/apps/endpoints'
import { grants } from '@skerry/contract/grants/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { members } from '@skerry/contract/members/endpoints'
import { teams } from '@skerry/contract/teams/endpoints'
import { newDek } from '@skerry/crypto/secret'
import { wrapKey } from '@skerry/crypto/wrap'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { dialogOf } from './apps-steps.ts'
import { told } from './browser.ts'
import { choose } from './org-steps.ts'
import { countPresses } from './presses.ts'
import { join, leaks, openOwner } from './scene.ts'
import * as steps from './steps.ts'

// The pages of teams, and the dialogs that grant keys. `hostile/teams.test.ts` has a server that lies.

const scene = await openOwner()
const { world, owner, page } = scene
const hana = 'hana@example.com'
const mateo = 'mateo@example.com'

const own = (await world.call(me.get, { as: owner.bearer() })).body
const orgId = own.orgs[0]?.id as string
const as = () => owner.bearer()

/** Creates an application with environments whose keys the owner holds. Returns the ids by slug. */
async function newApplication(name: string, slug: string, environments: string[]) {
  const { body: made } = await world.call(apps.create, { as: as(), params: { orgId }, body: { name, slug } })
  const ids: Record<string, string> = {}
  for (const env of environments) {
    const wrappedDek = await wrapKey(newDek(), own.user?.publicKeyJwk as string)
    const { body } = await world.call(apps.createEnv, {
      as: as(),
      params: { orgId, appId: made.app.id },
      body: { name: `${env[0]?.toUpperCase()}${env.slice(1)}`, slug: env, wrappedDek },
    })
    ids[env] = body.environment.id
  }
  return ids
}

const shop = await newApplication('Web shop', 'web-shop', ['production', 'staging', 'qa', 'preview', 'development'])
const checkout = await newApplication('Checkout API', 'checkout', ['production', 'staging', 'qa', 'preview'])
const worker = await newApplication('Payments worker', 'worker', ['production', 'staging', 'qa', 'development'])
const hanaVisitor = await join(scene, hana)
const hanaId = (await world.call(me.get, { as: hanaVisitor.bearer() })).body.principal.id

const holders = async (envId: string) =>
  (await world.call(grants.list, { as: as(), params: { orgId, envId } })).body.grants.map((one) => one.principalId)
const missingOf = async () =>
  (await world.call(grants.missing, { as: as(), params: { orgId }, query: {} })).body.missing.length
const box = (name: string) => dialogOf(page).getByRole('checkbox', { name, exact: true })

/** Opens the dialog on the page of a team. */
async function openGrant(on: Page): Promise<void> {
  await on.getByRole('button', { name: 'Grant access' }).click()
  await on.getByRole('checkbox', { name: 'Web shop, all but production' }).waitFor()
}

/** Compares the words of a person in the open dialog. */
async function compare(name: string): Promise<void> {
  await dialogOf(page)
    .getByRole('button', { name: `Compare words of ${name}` })
    .click()
  await dialogOf(page).getByLabel(`I compared these words with ${name}`).click()
}

async function openTeam(name: string): Promise<void> {
  await steps.goTo(page, 'Teams')
  await page.getByRole('link', { name, exact: true }).click()
  await page.getByRole('heading', { name, level: 1 }).waitFor()
}

describe('a team', () => {
  test('is created, renamed and gets people', async () => {
    await steps.goTo(page, 'Teams')
    await page.getByText('No team yet').waitFor()
    await page.getByRole('button', { name: 'New team' }).click()
    await dialogOf(page).getByLabel('Name').fill('Store')
    await dialogOf(page).getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Store', level: 1 }).waitFor()
    await steps.openTab(page, 'Settings')
    await page.getByRole('button', { name: 'Rename…' }).click()
    await dialogOf(page).getByLabel('Name').fill('Storefront')
    await dialogOf(page).getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('heading', { name: 'Storefront', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Add people' }).click()
    await dialogOf(page).getByLabel('People').click()
    await page.getByRole('option', { name: hana }).click()
    await page.keyboard.press('Tab')
    await dialogOf(page).getByRole('button', { name: 'Add', exact: true }).click()
    await dialogOf(page).waitFor({ state: 'hidden' })
    await steps.openTab(page, 'People')
    await page.getByRole('row', { name: hana }).waitFor()
  })

  test('gets ten environments with five presses, and its people the keys', async () => {
    const total = await countPresses(page)
    await openTeam('Storefront')
    // The words are compared once for each person, and not for each grant.
    await openGrant(page)
    await compare(hana)
    await dialogOf(page).getByText('1 verified.').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Cancel' }).click()
    const before = total()
    await openGrant(page)
    await box('Web shop, all but production').click()
    await box('Checkout API, all but production').click()
    await box('Payments worker, all but production').click()
    await dialogOf(page).getByText('No production environment is included.').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Grant 10 environments' }).click()
    await dialogOf(page).waitFor({ state: 'hidden' })
    expect(total() - before).toBe(5)
    await told(page, '10 environments granted.')
    for (const { production, ...others } of [shop, checkout, worker]) {
      for (const id of Object.values(others)) expect(await holders(id)).toContain(hanaId)
      expect(await holders(production as string)).not.toContain(hanaId)
    }
    await steps.openTab(page, 'Access')
    await expect.poll(() => page.getByText('1 of 1 has the key').count()).toBe(10)
  })

  test('shows what it has already in the grid', async () => {
    await openGrant(page)
    await dialogOf(page).getByRole('img', { name: 'Staging of Web shop: can read it already' }).waitFor()
    expect(await box('Production of Web shop').isChecked()).toBe(false)
    await dialogOf(page).getByRole('button', { name: 'Cancel' }).click()
  })
})

describe('a person who joins later', () => {
  beforeAll(async () => {
    await join(scene, mateo)
  })

  test('waits, is named before a grant, and gets the keys after a comparison of words', async () => {
    await openTeam('Storefront')
    await page.getByRole('button', { name: 'Add people' }).click()
    await dialogOf(page).getByLabel('People').click()
    await page.getByRole('option', { name: mateo }).click()
    await page.keyboard.press('Tab')
    await dialogOf(page).getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('10 keys wait').waitFor()
    await openGrant(page)
    await dialogOf(page).getByText('1 waits, and get').or(dialogOf(page).getByText('1 waits')).first().waitFor()
    await dialogOf(page).getByText('you have not compared the words.').waitFor()
    await box('Production of Web shop').click()
    await dialogOf(page).getByRole('button', { name: 'Grant 1 environment' }).click()
    await dialogOf(page).waitFor({ state: 'hidden' })
    await page.getByText('11 keys wait').waitFor()
    const before = await holders(shop.production as string)
    expect(before).toContain(hanaId)
    await page.getByRole('button', { name: 'Complete' }).click()
    await compare(mateo)
    await dialogOf(page).getByRole('button', { name: 'Grant 11 keys' }).click()
    await dialogOf(page).waitFor({ state: 'hidden' })
    expect(await holders(shop.production as string)).toHaveLength(before.length + 1)
    expect(await missingOf()).toBe(0)
  })
})

describe('an interrupted grant', () => {
  test('keeps what failed ticked, and the next try grants the rest', async () => {
    const lab = await newApplication('Second lab', 'second-lab', ['staging', 'qa', 'preview'])
    await openTeam('Storefront')
    await openGrant(page)
    let sent = 0
    await page.route('**/grants', (route) => {
      if (route.request().method() !== 'POST' || ++sent === 1) return route.fallback()
      return route.abort()
    })
    await box('Second lab, all but production').click()
    await dialogOf(page).getByRole('button', { name: 'Grant 3 environments' }).click()
    await dialogOf(page).getByText('The server cannot be reached').waitFor()
    await dialogOf(page).getByRole('button', { name: 'Grant 2 environments' }).waitFor()
    await page.unrouteAll({ behavior: 'wait' })
    // Another holder grants one of them meanwhile.
    await dialogOf(page).getByRole('button', { name: 'Cancel' }).click()
    await openGrant(page)
    await dialogOf(page).getByRole('button', { name: 'Grant 2 environments' }).click()
    await dialogOf(page).waitFor({ state: 'hidden' })
    for (const id of Object.values(lab)) expect(await holders(id)).toContain(hanaId)
  })
})

describe('a person without a team', () => {
  test('gets an environment for a limited time from the list of members', async () => {
    const lab = await newApplication('Third lab', 'third-lab', ['staging'])
    await steps.goTo(page, 'Members')
    await choose(page, hana, 'Grant access…')
    await box('Staging of Third lab').click()
    await dialogOf(page).getByLabel('For how long').click()
    await page.getByRole('option', { name: '8 hours' }).click()
    await dialogOf(page).getByRole('button', { name: 'Grant 1 environment' }).click()
    await dialogOf(page).waitFor({ state: 'hidden' })
    const params = { orgId, envId: lab.staging as string }
    const { readers } = (await world.call(grants.readers, { as: as(), params })).body
    expect(readers.find(({ principalId }) => principalId === hanaId)?.endsAt).not.toBeNull()
  })

  test('gets what this person cannot read from somebody else, and it waits until then', async () => {
    const { body: made } = await world.call(apps.create, {
      as: as(),
      params: { orgId },
      body: { name: 'Theirs', slug: 'theirs' },
    })
    await world.call(members.update, { as: as(), params: { orgId, userId: hanaId }, body: { role: 'admin' } })
    const hers = (await world.call(me.get, { as: hanaVisitor.bearer() })).body
    const created = await world.call(apps.createEnv, {
      as: hanaVisitor.bearer(),
      params: { orgId, appId: made.app.id },
      body: {
        name: 'Staging',
        slug: 'staging',
        wrappedDek: await wrapKey(newDek(), hers.user?.publicKeyJwk as string),
      },
    })
    const envId = created.body.environment.id
    await steps.goTo(page, 'Members')
    await choose(page, mateo, 'Grant access…')
    await box('Staging of Theirs, you do not hold the key').click()
    await dialogOf(page).getByRole('button', { name: 'Store 1 environment' }).click()
    await dialogOf(page).waitFor({ state: 'hidden' })
    await told(page, '1 environment waits for someone who holds the key.')
    const missing = await world.call(grants.missing, { as: hanaVisitor.bearer(), params: { orgId }, query: {} })
    expect(missing.body.missing).toMatchObject([{ environmentId: envId, planned: true, held: true }])
  })
})

test('a team of 500 people is shown page by page, and searched at once', async () => {
  const { body: made } = await world.call(teams.create, { as: as(), params: { orgId }, body: { name: 'Fleet' } })
  const { db } = world.server.context
  await db.rows(
    `insert into users (id, issuer, subject, email, created_at)
     select 'usr_' || lpad(n::text, 22, '0'), 'test', n::text, 'sailor' || n || '@example.com', now()
       from generate_series(1, 499) as n`,
  )
  await db.rows(
    `insert into memberships (org_id, user_id, role, created_at)
     select $1, 'usr_' || lpad(n::text, 22, '0'), 'member', now() from generate_series(1, 499) as n`,
    [orgId],
  )
  const userIds = [...Array(499).keys()].map((n) => `usr_${String(n + 1).padStart(22, '0')}`)
  const params = { orgId, teamId: made.team.id }
  const added = await world.call(teams.addMembers, { as: as(), params, body: { userIds: [hanaId, ...userIds] } })
  expect(added.body.team.members).toBe(500)
  await openTeam('Fleet')
  await steps.openTab(page, 'People')
  await page.getByRole('row', { name: hana }).waitFor()
  expect(await page.getByRole('table', { name: 'People of the team' }).getByRole('row').count()).toBeLessThan(200)
  await page.getByLabel('Find a person').fill('sailor499')
  await page.getByRole('row', { name: 'sailor499@example.com' }).waitFor()
  await openGrant(page)
  await dialogOf(page).getByText('499 wait, and get no key now.').waitFor()
  await box('Second lab, all but production').click()
  await dialogOf(page).getByRole('button', { name: 'Grant 3 environments' }).click()
  // The page stores 1,500 plans, which takes longer on a busy machine.
  await dialogOf(page).waitFor({ state: 'hidden', timeout: 300_000 })
  await page.getByText('At least 1000 keys wait').waitFor()
  await world.call(teams.delete, { as: as(), params })
})

test('a member sees teams and changes nothing', async () => {
  const { page: theirs } = await join(scene, 'noor@example.com')
  await steps.goTo(theirs, 'Teams')
  await theirs.getByRole('link', { name: 'Storefront' }).click()
  await theirs.getByRole('heading', { name: 'Storefront', level: 1 }).waitFor()
  await theirs.getByText('web-shop/staging').waitFor()
  const offered = theirs.getByRole('button', { name: /^(Grant access|Add people|Take away|Complete)/ })
  expect(await offered.count()).toBe(0)
})

test('a team loses an environment and is deleted, and its people lose the keys', async () => {
  await openTeam('Storefront')
  await page.getByRole('button', { name: 'Take away web-shop/production' }).click()
  await dialogOf(page).getByRole('button', { name: 'Take away' }).click()
  await dialogOf(page).waitFor({ state: 'hidden' })
  expect(await holders(shop.production as string)).not.toContain(hanaId)
  await page.getByRole('link', { name: 'Re-key Web shop / Production' }).waitFor()
  await steps.openTab(page, 'Settings')
  await page.getByRole('button', { name: 'Delete…' }).click()
  await dialogOf(page).getByLabel('Type Storefront to confirm').fill('Storefront')
  await dialogOf(page).getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('heading', { name: 'Teams', level: 1 }).waitFor()
  await expect.poll(() => page.getByRole('link', { name: 'Storefront', exact: true }).count()).toBe(0)
  expect(await holders(shop.staging as string)).not.toContain(hanaId)
})

test('no plaintext is left anywhere', async () => {
  expect(await leaks(world, { owner })).toEqual([])
  expect(owner.complaints.filter((text) => !text.includes('ERR_FAILED'))).toEqual([])
})
