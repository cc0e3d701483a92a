import { grants } from '@skerry/contract/grants/endpoints'
import { me } from '@skerry/contract/me/endpoints'
import { invites } from '@skerry/contract/members/endpoints'
import { wrapKey } from '@skerry/crypto/wrap'
import type { Page } from 'playwright-core'
import { afterAll } from 'vitest'
import { findings, needle, type Place as Text } from '../../server/test/needles.ts'
import { builtIn, openWorld, type World } from '../../server/test/world.ts'
import { create, createApp, openOrg } from './apps-steps.ts'
import { storedText, type Visitor, visit } from './browser.ts'
import { newPlace, type Place } from './org-steps.ts'
import * as steps from './steps.ts'

// The setup of a suite, called at the top of its file. The server and its visitors end with the suite.

/** A server for one suite, and a function that lets people visit it with a browser. */
export interface Scene {
  world: World
  arrive: (more?: { dark: true }) => Promise<Visitor>
}

/** A stage with the owner of an organization, who has an unlocked keyring and is on the organization's page. */
export interface OwnerScene extends Scene {
  owner: Visitor
  page: Page
}

export async function openScene(settings: Record<string, string> = builtIn): Promise<Scene> {
  const world = await openWorld(settings)
  afterAll(() => world.close())
  const visitors: Visitor[] = []
  afterAll(() => Promise.all(visitors.map((visitor) => visitor.close())))
  const arrive: Scene['arrive'] = async (more) => {
    const visitor = await visit(world.url, more)
    visitors.push(visitor)
    return visitor
  }
  return { world, arrive }
}

/** @example const { world, owner, page } = await openOwner() */
export async function openOwner(settings?: Record<string, string>): Promise<OwnerScene> {
  const stage = await openScene(settings)
  const owner = await stage.arrive()
  const { page } = owner
  await steps.setUp(page, stage.world)
  await steps.makeKeyring(page)
  await openOrg(page)
  return { ...stage, owner, page }
}

/** Like `openOwner`, with the application Web shop and its environments, each made on the page. */
export async function openShop(...environments: string[]): Promise<OwnerScene> {
  const walk = await openOwner()
  await createApp(walk.page, 'Web shop')
  for (const name of environments) await create(walk.page, 'New environment', name)
  return walk
}

/** Starts a walk with an owner, their environment Web shop / Production, and a member with an unlocked keyring. */
export async function openPair() {
  const walk = await openOwner()
  const place = await newPlace(walk.world, walk.owner.bearer())
  return { ...walk, place, member: await join(walk, 'grace@example.com') }
}

/** Adds a person with their own browser: invited, signed in with a link from an e-mail, and with a keyring. */
export async function join({ world, arrive, owner }: OwnerScene, email: string): Promise<Visitor> {
  const as = owner.bearer()
  const { body: own } = await world.call(me.get, { as })
  const params = { orgId: own.orgs[0]?.id as string }
  const { error } = await world.call(invites.create, { as, params, body: { email } })
  if (error) throw new Error(error.message)
  const visitor = await arrive()
  await visitor.page.goto('/')
  await steps.signInByMail(visitor.page, world, email)
  await steps.acceptInvitation(visitor.page)
  await visitor.page.goto('/account/keyring')
  await steps.makeKeyring(visitor.page)
  await openOrg(visitor.page)
  return visitor
}

/** Grants an environment's key to a person, through another client of the owner. */
export async function grantTo({ world, owner }: OwnerScene, place: Place, to: Visitor): Promise<void> {
  const { body: own } = await world.call(me.get, { as: to.bearer() })
  const wrappedDek = await wrapKey(place.raw, own.user?.publicKeyJwk as string)
  const { error } = await world.call(grants.create, {
    as: owner.bearer(),
    params: { orgId: place.orgId, envId: place.envId },
    body: { principalType: 'user', principalId: own.principal.id, wrappedDek },
  })
  if (error) throw new Error(error.message)
}

/** Returns all texts that the pages left behind: in the log, requests, addresses and the browser's storage. */
export async function tracesOf(world: World, visitors: Record<string, Visitor>): Promise<Text[]> {
  const places: Text[] = [{ where: 'the log', text: world.log.join('') }]
  for (const [who, visitor] of Object.entries(visitors)) {
    if (visitor.sent.length < 30) throw new Error(`only ${visitor.sent.length} requests of ${who} were seen`)
    places.push(...visitor.sent.map((text) => ({ where: `a request of ${who}`, text })))
    places.push(...(await storedText(visitor)).map((text) => ({ where: `what ${who}’s browser keeps`, text })))
  }
  return places
}

/**
 * Returns where plaintext was left that may be only on the page. Every value and passphrase of these suites contains
 * the word `planted`.
 */
export const leaks = async (world: World, visitors: Record<string, Visitor>): Promise<string[]> =>
  findings([needle('plaintext', 'planted')], await tracesOf(world, visitors))
