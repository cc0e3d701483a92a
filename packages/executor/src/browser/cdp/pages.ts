import type { Page } from 'playwright-core'

/** How the DevTools protocol names a page. */
interface Target {
  targetId: string
  /** Libraries take a page without it for one of the browser's own. */
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

/** How a connection to a lease names its session with a page. */
export const sessionIdOf = ({ targetId }: Pick<Target, 'targetId'>): string => `session-${targetId}`
