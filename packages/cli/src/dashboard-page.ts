import { hasDesktop, openBrowser } from './desktop.ts'
import { note, type Output, writeLine } from './output.ts'
import type { Session } from './session.ts'
import type { Flags } from './settings.ts'

export interface BrowserOptions extends Flags {
  browser: boolean
}

/**
 * Prints the address of a page of the organization in the dashboard, and opens it unless `--no-browser` is given.
 * `next` says what to do there.
 */
export async function showPage(
  session: Session,
  path: string,
  { browser, next }: BrowserOptions & { next?: string },
): Promise<Output> {
  const { slug } = await session.org()
  const address = `${session.settings.url}/orgs/${slug}${path}`
  return {
    json: { address },
    text: () => writeLine(address),
    after: async () => {
      if (browser && hasDesktop()) await openBrowser(address)
      else if (browser) note('this machine has no desktop: open the address in a browser')
      if (next !== undefined) note(next)
    },
  }
}
