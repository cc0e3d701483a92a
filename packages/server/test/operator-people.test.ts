import { audit } from '@skerry/contract/audit/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../src/kernel/context.ts'
import { engine } from './engine.ts'
import { type Operated, operate as operateIn, operateProcess } from './operate.ts'
import {
  type Actor,
  acceptInvites,
  grantKey,
  invitePerson,
  newApp,
  newEnv,
  newPerson,
  signUp,
  type Tenant,
} from './tenant.ts'
import { openWorld, start, type World } from './world.ts'

// The operator repairs accounts of people with `skerry-server people`.

let world: World
let [acme, shop, shared]: Tenant[] = []
let ada: Actor
/** A second account of Ada, with another subject, as after a change of the issuer. */
let stranded: Actor
const address = 'ada@example.com'

beforeAll(async () => {
  world = await openWorld()
  ;[acme, shop, shared] = [await signUp(world, 'acme'), await signUp(world, 'shop'), await signUp(world, 'shared')]
  ada = await join(acme as Tenant, address)
  await invitePerson(world, shared as Tenant, address)
  await acceptInvites(world, ada)
  stranded = await newPerson(world, address, { claims: { sub: 'new-ada' } })
})
afterAll(() => world.close())

async function join(tenant: Tenant, email: string, role: 'admin' | 'member' = 'member'): Promise<Actor> {
  const person = await newPerson(world, email)
  await invitePerson(world, tenant, email, role)
  await acceptInvites(world, person)
  return person
}

/** Runs `skerry-server people`. With the embedded database the server is stopped meanwhile. */
async function people(...args: string[]): Promise<Operated> {
  const { config } = world.server.context
  if (engine() === 'embedded') await world.server.close()
  const outcome = await operate(...args)
  if (engine() === 'embedded') {
    world.server = await start(config, world.log, world.clock.now)
    world.url = world.server.url
  }
  return outcome
}

const operate = (...args: string[]) => operateIn(settings(), ['people', ...args])

function settings() {
  const { dataDir, databaseUrl } = world.server.context.config
  return { SKERRY_DATA_DIR: dataDir, SKERRY_DATABASE_URL: databaseUrl ?? '' }
}

const refusalOf = async (...args: string[]) => {
  const { code, stdout, stderr } = await people(...args)
  expect([code, stdout]).toEqual([1, ''])
  return stderr
}

/** The entries of an organization that have the system as the actor. */
async function entriesOf(tenant: Tenant) {
  const params = { orgId: tenant.orgId }
  const { entries } = (await world.call(audit.list, { as: tenant.machine.as, params, query: {} })).body
  return entries
    .filter(({ actorType }) => actorType === 'system')
    .map(({ action, resourceId, metadata }) => ({ action, resourceId, metadata }))
    .reverse()
}

test.runIf(engine() === 'embedded')('the command refuses an embedded database that a running server uses', async () => {
  const { code, stderr } = await operateProcess(settings(), ['people', 'list'])
  expect([code, stderr]).toEqual([1, expect.stringContaining(`is in use by process ${process.pid}`)])
})

test('the list shows people with their sign-in and organizations', async () => {
  const { stdout } = await people('list', '--email', 'ADA@example.com')
  const issuer = world.issuer.url
  expect(stdout).toBe(
    [
      `${ada.id}  ${address}  ${issuer}  acme (member), shared (member)\n`,
      `${stranded.id}  ${address}  ${issuer}  no organization\n`,
    ].join(''),
  )
  const listed = JSON.parse((await people('list', '--org', 'acme', '--json')).stdout).people
  expect(listed).toEqual([
    {
      id: ada.id,
      email: address,
      emailVerified: true,
      name: null,
      issuer,
      subject: `sub-${address}`,
      hasKeyring: true,
      createdAt: expect.any(String),
      memberships: [
        { orgId: acme?.orgId, slug: 'acme', role: 'member' },
        { orgId: shared?.orgId, slug: 'shared', role: 'member' },
      ],
    },
  ])
  expect((await people('list', '--email', 'nobody@example.com')).stdout).toBe('No people found.\n')
  expect(await refusalOf('list', '--org', 'nowhere')).toContain('There is no organization nowhere.')
})

test('the command refuses unknown people, an address of two people, and the same person twice', async () => {
  const unknown = newId('user')
  expect(await refusalOf('link', unknown, stranded.id)).toContain(`There is no person ${unknown}.`)
  expect(await refusalOf('link', ada.id, unknown)).toContain(`There is no person ${unknown}.`)
  expect(await refusalOf('link', address, stranded.id)).toContain('More than one person has the address')
  expect(await refusalOf('link', ada.id, ada.id)).toContain('You gave the same person twice.')
  expect(await refusalOf('make-owner', unknown, '--org', 'acme')).toContain(`There is no person ${unknown}.`)
  expect(await refusalOf('make-owner', ada.id, '--org', 'nowhere')).toContain('There is no organization nowhere.')
  expect(await people('make-owner', ada.id)).toMatchObject({ code: 2, stdout: '' })
})

test('an unverified address finds no person, and the list marks it as unverified', async () => {
  const claimed = 'claimed@example.com'
  const stranger = await newPerson(world, claimed, { claims: { sub: 'stranger', email_verified: false } })
  for (const args of [
    ['make-owner', claimed, '--org', 'acme'],
    ['link', ada.id, claimed],
    ['link', claimed, ada.id],
  ])
    expect(await refusalOf(...args)).toContain(
      `No person has the verified address ${claimed}. Give an id; \`skerry-server people list --email ${claimed}\``,
    )
  expect((await world.call(me.get, { as: stranger.as })).body.orgs).toEqual([])
  const { stdout } = await people('list', '--email', claimed)
  expect(stdout).toBe(`${stranger.id}  ${claimed} (unverified)  ${world.issuer.url}  no organization\n`)
  const owner = await newPerson(world, claimed, { claims: { sub: 'owner-of-mailbox' } })
  const made = await people('make-owner', claimed, '--org', 'shared')
  expect(made.stdout).toContain(`${claimed} [${owner.id}] is an owner of shared.`)
})

test('the command does not link two members of one organization', async () => {
  const twin = await join(shared as Tenant, 'twin@example.com')
  expect(await refusalOf('link', ada.id, twin.id)).toContain(
    'The two people are both members of shared. Remove twin@example.com [',
  )
})

test('a person with keys cannot be merged into another, because nobody else could use the keys', async () => {
  const holder = await join(shop as Tenant, 'holder@example.com')
  const app = await newApp(world, shop as Tenant)
  const environment = await newEnv(world, shop as Tenant, app.id)
  await grantKey(world, shop as Tenant, environment.id, holder)
  expect(await refusalOf('link', ada.id, holder.id)).toContain(`holder@example.com [${holder.id}] has keys in shop`)
  expect((await world.call(me.get, { as: holder.as })).body.orgs).toHaveLength(1)
})

test('a link moves the sign-in and the memberships, and the audit log of each organization records it', async () => {
  // The second account may already own an organization.
  await invitePerson(world, shop as Tenant, address, 'admin')
  await acceptInvites(world, stranded)
  const { stdout } = await people('link', ada.id, stranded.id)
  expect(stdout).toContain(`${address} [${ada.id}] signs in as new-ada (${world.issuer.url}) from now on.`)
  expect(stdout).toContain(`${address} [${ada.id}] has joined shop.`)
  const linked = (await world.call(me.get, { as: stranded.as })).body
  expect([linked.user?.id, linked.orgs.map(({ slug, role }) => [slug, role]).sort()]).toEqual([
    ada.id,
    [
      ['acme', 'member'],
      ['shared', 'member'],
      ['shop', 'owner'],
    ],
  ])
  const metadata = {
    issuer: world.issuer.url,
    formerIssuer: world.issuer.url,
    mergedUserId: stranded.id,
  }
  const entry = { action: 'user.identity_linked', resourceId: ada.id, metadata }
  expect(await entriesOf(acme as Tenant)).toEqual([entry])
  // Entries of one transaction may have the same time, so their order is undefined.
  const ofShop = (await entriesOf(shop as Tenant)).toSorted((one, other) => one.action.localeCompare(other.action))
  expect(ofShop).toEqual([
    { action: 'member.joined', resourceId: ada.id, metadata: { role: 'owner', mergedUserId: stranded.id } },
    { action: 'member.removed', resourceId: stranded.id, metadata: { role: 'owner', environmentIds: [] } },
    entry,
  ])
  // The former sign-in belongs to nobody now, so it creates a new person.
  expect((await world.call(me.get, { as: ada.as })).body.user?.id).not.toBe(ada.id)
})

test('make-owner makes a person an owner, but gives no keys, and the audit log records it', async () => {
  const outsider = await newPerson(world, 'outsider@example.com')
  const { stdout } = await people('make-owner', 'outsider@example.com', '--org', 'acme')
  expect(stdout).toContain(`outsider@example.com [${outsider.id}] is an owner of acme.\nThis gives no keys`)
  const again = await people('make-owner', 'outsider@example.com', '--org', 'acme')
  expect(again.stdout).toBe(`outsider@example.com [${outsider.id}] is an owner of acme already.\n`)
  const { stdout: json } = await people('make-owner', ada.id, '--org', acme?.orgId as string, '--json')
  expect(JSON.parse(json)).toEqual({ userId: ada.id, orgId: acme?.orgId, formerRole: 'member' })
  const { orgs } = (await world.call(me.get, { as: outsider.as })).body
  expect(orgs.map(({ slug, role }) => [slug, role])).toEqual([['acme', 'owner']])
  expect((await entriesOf(acme as Tenant)).slice(1)).toEqual([
    { action: 'member.joined', resourceId: outsider.id, metadata: { role: 'owner' } },
    { action: 'member.role_changed', resourceId: ada.id, metadata: { from: 'member', to: 'owner' } },
  ])
})
