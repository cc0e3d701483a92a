import { apps } from '@skerry/contract/apps/endpoints'
import { signInAs } from '../../server/test/people.ts'
import { startAppPlatform } from '../../server/test/services/app-platform.ts'
import { builtIn, openWorld, type World } from '../../server/test/world.ts'
import { type Visitor, visit } from './browser.ts'
import { type Filled, fillOrg } from './fill.ts'
import * as steps from './steps.ts'
import { harbour, longNames } from './teams.ts'

export type { Filled } from './fill.ts'

/** A server with an empty organization and two filled ones, and the people who visit it. */
export interface Site {
  world: World
  visitors: {
    owner: Visitor
    /** Holds the key of one environment only. */
    member: Visitor
    /** Is in no organization and has no key. */
    newcomer: Visitor
    /** Is not signed in. */
    stranger: Visitor
  }
  ordinary: Filled
  long: Filled
  close: () => Promise<void>
}

export async function openSite(): Promise<Site> {
  const platform = await startAppPlatform()
  const world = await openWorld({ ...builtIn, ...platform.settings })
  const owner = await visit(world.url)
  const { bearer } = owner
  await steps.setUp(owner.page, world)
  await steps.makeKeyring(owner.page)
  await steps.addPasskey(owner.page, 'Laptop')
  await steps.setUpAuthenticator(owner.page, world)
  await owner.page.getByRole('button', { name: 'I have kept them' }).click()
  const ordinary = await fillOrg(world, platform, bearer, harbour)
  const billing = { name: 'Billing', slug: 'billing' }
  await world.call(apps.create, { as: bearer(), params: { orgId: ordinary.orgId }, body: billing })
  const long = await fillOrg(world, platform, bearer, longNames)
  const visitors = {
    owner,
    member: await signedIn(world, harbour.people.at(-1)?.email as string),
    newcomer: await signedIn(world, 'linus@example.com'),
    stranger: await visit(world.url),
  }
  const close = async () => {
    await Promise.all(Object.values(visitors).map((visitor) => visitor.close()))
    await world.close()
    await platform.stop()
  }
  return { world, visitors, ordinary, long, close }
}

async function signedIn(world: World, email: string): Promise<Visitor> {
  await signInAs(world, email)
  const visitor = await visit(world.url)
  await visitor.page.goto('/sign-in')
  await steps.signInByMail(visitor.page, world, email)
  return visitor
}
