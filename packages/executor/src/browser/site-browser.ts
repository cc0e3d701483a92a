import { ConfigError } from '@skerry/proxy/config/read'
import type { Upstreams } from '@skerry/proxy/upstream'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import type { Config } from '../config/config.ts'
import { isWithin, type Site } from '../config/site.ts'
import { fail } from '../http/refusal.ts'
import { startChromium } from './chromium.ts'
import { openGate } from './gate.ts'

/** What the slot `session` holds, as JSON: cookies, and the local storage of each origin. */
type SessionState = Exclude<BrowserContextOptions['storageState'], string | undefined>

/** A browser that can reach one site. */
export interface SiteBrowser {
  site: Site
  context: BrowserContext
  /** The page that was opened last and is still there: a sign-in may go on in a window of its own. */
  page(): Page
  /** Opens the start of the site in the page -> whether it lets this browser in. */
  enter(): Promise<boolean>
  /** Leaves every page, with the scripts that were put into it and what was typed there, and opens another one. */
  startOver(at: 'startUrl' | 'loginUrl'): Promise<void>
  /**
   * What the slot is to hold; null where it would let nobody in. It is tried in a context of its own, and taken from there:
   * a site may answer each visit with another cookie.
   */
  state(): Promise<string | null>
  close(): Promise<void>
}

/** What a browser is started with. */
export interface BrowserDeps {
  config: Config
  stateFolder: string
  upstreams: Upstreams
}

const loadMs = 30_000
/** Sites that send people to the sign-in page by script do so once they have asked their API. */
const settleMs = 5_000
const size = { width: 1280, height: 800 }

export async function openSiteBrowser(
  { config, stateFolder, upstreams }: BrowserDeps,
  id: string,
  site: Site,
  state: string | undefined,
): Promise<SiteBrowser> {
  const gate = await openGate(site.reachable, upstreams)
  const storageState = state === undefined ? {} : { storageState: JSON.parse(state) as SessionState }
  const { browser, context, close } = await startChromium({ config, stateFolder }, id, gate.url, {
    viewport: size,
    ...storageState,
  }).catch((error) => {
    gate.close()
    // Its words hold paths and settings of this machine, and may hold what was to be restored.
    throw error instanceof ConfigError ? error : fail('unavailable', 'no browser could be started')
  })
  await context.newPage()
  const enterIn = async (page: Page) => {
    const status = await visit(page, site.startUrl)
    await page.waitForLoadState('networkidle', { timeout: settleMs }).catch(() => {})
    if (status >= 500) throw fail('provider_failed', `the site answered ${status}`)
    return status < 400 && isSignedInAt(site, page.url())
  }
  const page = () => context.pages().at(-1)!
  return {
    site,
    context,
    page,
    enter: () => enterIn(page()),
    async startOver(at) {
      const left = context.pages()
      const next = await context.newPage()
      await Promise.all(left.map((one) => one.close()))
      await visit(next, site[at])
    },
    async state() {
      const tried = await browser.newContext({ viewport: size, storageState: await context.storageState() })
      try {
        const isLetIn = await enterIn(await tried.newPage())
        return isLetIn ? JSON.stringify(await tried.storageState()) : null
      } finally {
        await tried.close()
      }
    },
    async close() {
      await close()
      gate.close()
    },
  }
}

/** The status of the answer. */
async function visit(page: Page, address: URL): Promise<number> {
  try {
    const response = await page.goto(address.href, { waitUntil: 'load', timeout: loadMs })
    return response?.status() ?? 200
  } catch {
    throw fail('provider_failed', 'the site cannot be reached, or leads to a host that is none of its domains')
  }
}

/** A browser at an address of the site that is not one of people who are signed out is signed in. */
function isSignedInAt({ signedOutUrlPrefixes, reachable }: Site, address: string): boolean {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol) || !isWithin(reachable, url)) return false
  return !signedOutUrlPrefixes.some(({ href }) => url.href.startsWith(href))
}
