import { grants } from '@skerry/contract/grants'
import { me } from '@skerry/contract/me'
import { invites } from '@skerry/contract/orgs'
import { wrapKey } from '@skerry/crypto/wrap'
import type { Browser } from 'playwright-core'
import { findings, needle, type Place as Text } from '../../server/test/needles.ts'
import type { World } from '../../server/test/world.ts'
import { openOrg } from './apps-journey.ts'
import { storedText, type Visitor, visit } from './browser.ts'
import * as journey from './journey.ts'
import { bearerOf, newPlace, type Place } from './org-journey.ts'

/** Someone at a browser of their own, and the Authorization header of another client of the same person. */
export interface Someone extends Visitor {
  email: string
  bearer: () => string
}

/** The owner of an organization, who made Web shop / Production, and a member of it; both with an unlocked keyring. */
export async function meet(world: World, browser: Browser) {
  const owner = await arrive(world, browser, journey.person.email)
  await journey.setUp(owner.page, world)
  await journey.makeKeyring(owner.page)
  const place = await newPlace(world, owner.bearer())
  await openOrg(owner.page)
  return { owner, member: await join(world, browser, owner, place, 'grace@example.com'), place }
}

/** Invited, signed in with a link from a mail, and with a keyring. */
export async function join(world: World, browser: Browser, owner: Someone, { orgId }: Place, email: string) {
  await world.call(invites.create, { as: owner.bearer(), params: { orgId }, body: { email } })
  const member = await arrive(world, browser, email)
  await member.page.goto('/')
  await journey.signInByMail(member.page, world, email)
  await member.page.goto('/account/keyring')
  await journey.makeKeyring(member.page)
  await openOrg(member.page)
  return member
}

async function arrive(world: World, browser: Browser, email: string): Promise<Someone> {
  const visitor = await visit(browser, world.url)
  return { ...visitor, email, bearer: bearerOf(visitor) }
}

/** Gives the place's key to a person, by another client of the owner. */
export async function grantTo(world: World, owner: Someone, place: Place, to: Someone): Promise<void> {
  const { body: own } = await world.call(me.get, { as: to.bearer() })
  const wrappedDek = await wrapKey(place.raw, own.user?.publicKeyJwk as string)
  const { error } = await world.call(grants.create, {
    as: owner.bearer(),
    params: { orgId: place.orgId, envId: place.envId },
    body: { principalType: 'user', principalId: own.principal.id, wrappedDek },
  })
  if (error) throw new Error(error.message)
}

/** Where values were left that should be nowhere but on the page: in a request, in storage, in an address, in the log. */
export async function leaks(world: World, people: Someone[], planted: Record<string, string>): Promise<string[]> {
  const needles = Object.entries({ ...planted, passphrase: journey.person.passphrase }).map(([what, value]) =>
    needle(what, value),
  )
  const places: Text[] = [{ where: 'the log', text: world.log.join('') }]
  for (const one of people) {
    places.push(...one.sent.map((text) => ({ where: `a request of ${one.email}`, text })))
    places.push(...(await storedText(one)).map((text) => ({ where: `what ${one.email}’s browser keeps`, text })))
  }
  return findings(needles, places)
}
