import { envs } from '@skerry/contract/envs/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { invites, members } from '@skerry/contract/members/endpoints'
import { teams } from '@skerry/contract/teams/endpoints'
import { expect, test } from 'vitest'
import { create, createApp, dialogOf, placeOf } from './apps-steps.ts'
import type { Visitor } from './browser.ts'
import { newTeam } from './org-steps.ts'
import { leaks, openOwner } from './scene.ts'
import * as steps from './steps.ts'

// Keys that an invitation or a team intends for a person, when something goes wrong on the way.

const { world, owner, arrive } = await openOwner()
const { page } = owner
await createApp(page, 'Web shop')
for (const name of ['Production', 'Staging', 'Development']) await create(page, 'New environment', name)
await createApp(page, 'Billing')
for (const name of ['Staging', 'Development']) await create(page, 'New environment', name)
const as = () => owner.bearer()
const { orgId, envs: shop } = await placeOf(world, as(), 'web-shop')
const { envs: billing } = await placeOf(world, as(), 'billing')
const visitors: Record<string, Visitor> = { owner }

async function openInvite(...emails: string[]) {
  await steps.goTo(page, 'Members')
  await page.getByRole('button', { name: 'Invite', exact: true }).click()
  await dialogOf(page).getByLabel('E-mail').fill(emails.join(', '))
  return dialogOf(page)
}

/** Accepts the invitation in another browser, and makes a keyring. */
async function joinInvited(email: string) {
  const visitor = await arrive()
  if (email === 'ben@example.com') visitors.ben = visitor
  await visitor.page.goto('/')
  await steps.signInByMail(visitor.page, world, email)
  await steps.acceptInvitation(visitor.page)
  await visitor.page.getByRole('heading', { name: 'Welcome to Acme & Co', level: 1 }).waitFor()
  await visitor.page.getByLabel('Passphrase', { exact: true }).fill(steps.person.passphrase)
  await visitor.page.getByLabel('Passphrase again').fill(steps.person.passphrase)
  await visitor.page.getByRole('button', { name: 'Make the keyring' }).click()
  await visitor.page.getByRole('heading', { name: 'Save your recovery kit' }).waitFor()
  const { body } = await world.call(me.get, { as: visitor.bearer() })
  return { ...visitor, id: body.principal.id }
}

async function readableBy(visitor: Pick<Visitor, 'bearer'>): Promise<string[]> {
  const { body } = await world.call(me.keyHoldings, { as: visitor.bearer() })
  return body.holdings.map(({ label }) => label).sort()
}

const pendingOf = async () => (await world.call(invites.list, { as: as(), params: { orgId } })).body.invites

test('several people are invited at once with environments of the grid', async () => {
  const dialog = await openInvite('ben@example.com', 'Cleo <cleo@example.com>')
  await dialog.getByLabel('Web shop, all but production').click()
  await dialog.getByLabel('Billing, all but production').click()
  await dialog.getByRole('button', { name: 'Send 2 invitations' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('row', { name: 'ben@example.com' }).getByText('4 environments').waitFor()
  const intended = [shop.staging, shop.development, billing.staging, billing.development].sort()
  expect((await pendingOf()).map(({ email, environmentIds }) => [email, environmentIds])).toEqual([
    ['ben@example.com', intended],
    ['cleo@example.com', intended],
  ])
})

test('an address that is no address is named, and one that is refused stays for another try', async () => {
  const dialog = await openInvite('nobody', 'ben@example.com')
  await dialog.getByText('Not an address: nobody').waitFor()
  expect(await dialog.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true)
  await dialog.getByLabel('E-mail').fill('ben@example.com dora@example.com')
  await dialog.getByRole('button', { name: 'Send 2 invitations' }).click()
  await dialog.getByText('ben@example.com: An invitation is already open.').waitFor()
  expect(await dialog.getByLabel('E-mail').inputValue()).toBe('ben@example.com')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('row', { name: 'dora@example.com' }).waitFor()
})

test('an invitation for a team or an environment that was deleted meanwhile is refused, and nobody is invited', async () => {
  const teamId = await newTeam(world, as(), 'Gone soon', ['billing'])
  const dialog = await openInvite('eve@example.com')
  await dialog.getByLabel('Gone soon, 2 environments').check()
  const creating = `**/v1/orgs/*/invites`
  await page.route(creating, async (route) => {
    if (route.request().method() === 'POST') await world.call(teams.delete, { as: as(), params: { orgId, teamId } })
    await route.fallback()
  })
  await dialog.getByRole('button', { name: 'Send' }).click()
  await dialog.getByText('eve@example.com: No such team.').waitFor()
  expect((await pendingOf()).map(({ email }) => email)).not.toContain('eve@example.com')
  await page.unroute(creating)
  await dialog.getByLabel('Gone soon').waitFor({ state: 'detached' })
  await dialog.getByRole('button', { name: 'Send' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect((await pendingOf()).find(({ email }) => email === 'eve@example.com')?.teamIds).toEqual([])
})

test('an invitation for an environment that does not exist is refused', async () => {
  const body = { email: 'gus@example.com', environmentIds: ['env_00000000000000000000000000'] }
  const { status } = await world.call(invites.create, { as: as(), params: { orgId }, body })
  expect(status).toBeGreaterThanOrEqual(400)
  expect((await pendingOf()).map(({ email }) => email)).not.toContain('gus@example.com')
})

test('an interrupted press stores the comparison, and the next one passes on the rest', async () => {
  const ben = await joinInvited('ben@example.com')
  await page.getByText('ben is ready.').or(page.getByText('ben@example.com is ready.')).first().waitFor()
  await steps.goTo(page, 'Members')
  await page.getByRole('button', { name: /^Compare words with ben/ }).click()
  const dialog = dialogOf(page)
  await page.route('**/v1/orgs/*/grants', (route) => route.abort())
  await dialog.getByRole('button', { name: 'They match, pass on 4 keys' }).click()
  await dialog.getByText('The server cannot be reached').waitFor()
  expect(await readableBy(ben)).toEqual([])
  await page.unroute('**/v1/orgs/*/grants')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: /^Pass on 4 keys to ben/ }).click()
  await dialogOf(page).getByRole('button', { name: 'Pass on 4 keys' }).click()
  await dialogOf(page).waitFor({ state: 'detached' })
  expect(await readableBy(ben)).toEqual([
    'billing/development',
    'billing/staging',
    'web-shop/development',
    'web-shop/staging',
  ])
})

test('a key that the admin does not hold is named with its holders, and waits for them', async () => {
  await world.server.context.db.rows('delete from key_grants where org_id = $1 and environment_id = $2', [
    orgId,
    shop.staging,
  ])
  const cleo = await joinInvited('cleo@example.com')
  await page.getByRole('button', { name: /^Compare words with cleo/ }).click()
  const dialog = dialogOf(page)
  await dialog.getByText('You do not hold all keys').waitFor()
  await dialog.getByText('web-shop/staging: no other admin holds this.').waitFor()
  await dialog.getByRole('button', { name: 'They match, pass on 3 keys' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(await readableBy(cleo)).toEqual(['billing/development', 'billing/staging', 'web-shop/development'])
})

test('an environment that is deleted during the press is named, and the others are passed on', async () => {
  const dora = await joinInvited('dora@example.com')
  await world.call(teams.create, { as: as(), params: { orgId }, body: { name: 'Late' } })
  const { body } = await world.call(teams.list, { as: as(), params: { orgId } })
  const teamId = body.teams.find(({ name }) => name === 'Late')?.id as string
  const params = { orgId, teamId }
  const environmentIds = [billing.development, shop.production] as string[]
  await world.call(teams.addEnvironments, { as: as(), params, body: { environmentIds } })
  await world.call(teams.addMembers, { as: as(), params, body: { userIds: [dora.id] } })
  await page.getByRole('button', { name: /^Compare words with dora/ }).click()
  const dialog = dialogOf(page)
  await page.route('**/v1/orgs/*/grants', async (route) => {
    await world.call(envs.delete, { as: as(), params: { orgId, envId: billing.development as string } })
    await route.fallback()
  })
  await dialog.getByRole('button', { name: 'They match, pass on 2 keys' }).click()
  await dialog.getByText('Not passed on: was deleted.').waitFor()
  await page.unroute('**/v1/orgs/*/grants')
  expect(await readableBy(dora)).toEqual(['web-shop/production'])
  await dialog.getByRole('button', { name: 'Cancel' }).click()
})

test('a person who leaves during the press gets nothing, and the admin reads why', async () => {
  await openInvite('finn@example.com').then(async (dialog) => {
    await dialog.getByLabel('Late, 1 environment').check()
    await dialog.getByRole('button', { name: 'Send' }).click()
    await dialog.waitFor({ state: 'detached' })
  })
  const finn = await joinInvited('finn@example.com')
  await page.getByRole('button', { name: /^Compare words with finn/ }).click()
  await page.route('**/v1/orgs/*/grants', async (route) => {
    await world.call(members.remove, { as: as(), params: { orgId, userId: finn.id } })
    await route.fallback()
  })
  await dialogOf(page).getByRole('button', { name: 'They match, pass on 1 key' }).click()
  await dialogOf(page)
    .getByText('the person has left', { exact: false })
    .or(dialogOf(page).getByText('This person has left the organization.'))
    .first()
    .waitFor()
  await page.unroute('**/v1/orgs/*/grants')
  expect(await readableBy(finn)).toEqual([])
})

test('no page sent or stored a secret value or a passphrase', async () => {
  expect(await leaks(world, visitors)).toEqual([])
})
