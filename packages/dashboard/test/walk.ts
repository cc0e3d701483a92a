import { me } from '@skerry/contract/me'
import { invites } from '@skerry/contract/orgs'
import type { Browser, Page } from 'playwright-core'
import { builtIn, openWorld, type World } from '../../server/test/world.ts'
import { bearerOf, openOrg } from './apps-journey.ts'
import { openBrowser, storedText, type Visitor, visit } from './browser.ts'
import * as journey from './journey.ts'

/** A server of its own, and its first person at a browser: owner of an organization, with a keyring that is unlocked. */
export interface Walk {
  world: World
  browser: Browser
  visitor: Visitor
  page: Page
  /** The Authorization header of the page's last request: another client of the same person. */
  bearer: () => string
  close: () => Promise<void>
}

export async function beginWalk(): Promise<Walk> {
  const world = await openWorld(builtIn)
  const browser = await openBrowser()
  const visitor = await visit(browser, world.url)
  const { page } = visitor
  const bearer = bearerOf(visitor)
  await journey.setUp(page, world)
  await journey.makeKeyring(page)
  await openOrg(page)
  const close = async () => {
    await browser.close()
    await world.close()
  }
  return { world, browser, visitor, page, bearer, close }
}

/** Someone else at a browser of their own: invited, joined as a member, with a keyring, at the organization's page. */
export async function joinWalk({ world, browser, bearer }: Walk, email: string): Promise<Visitor> {
  const { body: own } = await world.call(me.get, { as: bearer() })
  const params = { orgId: own.orgs[0]?.id as string }
  const { error } = await world.call(invites.create, { as: bearer(), params, body: { email } })
  if (error) throw new Error(error.message)
  const visitor = await visit(browser, world.url)
  await visitor.page.goto('/')
  await journey.signInByMail(visitor.page, world, email)
  await visitor.page.goto('/account/keyring')
  await journey.makeKeyring(visitor.page)
  await openOrg(visitor.page)
  return visitor
}

/** Whatever left a visitor's page, or is kept by their browser, with a planted plaintext in it. */
export async function plantedIn(visitor: Visitor): Promise<string[]> {
  if (visitor.sent.length < 30) throw new Error(`only ${visitor.sent.length} requests were seen`)
  return [...visitor.sent, ...(await storedText(visitor))].filter((text) => text.includes('planted'))
}
