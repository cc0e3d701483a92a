import type { Page } from 'playwright-core'

/** The ids of a page in the DevTools protocol. */
interface Target {
  targetId: string
  /** Without it, libraries take a page for one of the browser's own. */
  browserContextId: string
}

const known = new WeakMap<Page, Promise<Target>>()

export function targetOf(page: Page): Promise<Target> {
  const found = known.get(page) ?? ask(page)
  known.set(page, found)
  return found
}

async function ask(page: Page): Promise<Target> {
  const session = await page.context().newCDPSession(page)
  const { targetInfo } = await session.send('Target.getTargetInfo')
  await session.detach()
  return { targetId: targetInfo.targetId, browserContextId: targetInfo.browserContextId ?? '' }
}

/** The name of the session with a page, in a connection to a lease. */
export const sessionIdOf = ({ targetId }: Pick<Target, 'targetId'>): string => `session-${targetId}`
