import { hasDesktop, openBrowser } from './desktop.ts'
import { note, writeJson, writeLine } from './output.ts'
import type { Session } from './session.ts'
import type { Flags } from './settings.ts'

export interface BrowserOptions extends Flags {
  browser: boolean
}

/** Prints the address of a page of the organization in the dashboard, and opens it unless told otherwise. */
export async function showPage(session: Session, path: string, { json, browser }: BrowserOptions): Promise<void> {
  const { slug } = await session.org()
  const address = `${session.settings.url}/orgs/${slug}${path}`
  if (json) writeJson({ address })
  else writeLine(address)
  if (browser && hasDesktop()) await openBrowser(address)
  else if (browser) note('there is no desktop here: open the address in a browser')
}
