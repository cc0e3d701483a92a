import { ConfigError } from '@skerry/proxy/config/read'
import type { Upstreams } from '@skerry/proxy/upstream'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import type { Config } from '../config/config.ts'
import { isWithin, type Site } from '../config/site.ts'
import { fail } from '../http/refusal.ts'
import { startChromium } from './chromium.ts'
import { openGate } from './gate.ts'

/** The content of the slot `session`, as JSON: cookies, and the local storage of each origin. */
type SessionState = Exclude<BrowserContextOptions['storageState'], string | undefined>

/** A browser that can reach one site. */
export interface SiteBrowser {
  site: Site
  context: BrowserContext
  /** The page that was opened last and is still open. A sign-in may continue in a window of its own. */
  page(): Page
  /** Opens the start page of the site -> whether the site accepts this browser as signed in. */
  enter(): Promise<boolean>
  /** Closes every page, with the scripts and input in it, and opens a new one. */
  startOver(at: 'startUrl' | 'loginUrl'): Promise<void>
  /**
   * The state to store in the slot, or null if the site would not accept it as signed in. The state is tried in a
   * separate context and read from there, because a site may set another cookie at each visit.
   */
  state(): Promise<string | null>
  close(): Promise<void>
}

/** The parts that a browser needs to start. */
export interface BrowserDeps {
  config: Config
  stateFolder: string
  upstreams: Upstreams
}

const loadMs = 30_000
/**
 * Some sites send people to the sign-in page by script, after a call to their API. This is how long to wait for that.
 */
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
    // The error text contains paths and settings of this machine, and may contain the state to restore.
    throw error instanceof ConfigError ? error : fail('unavailable', 'the browser could not be started')
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

/** Opens an address and returns the status of the answer. */
async function visit(page: Page, address: URL): Promise<number> {
  try {
    const response = await page.goto(address.href, { waitUntil: 'load', timeout: loadMs })
    return response?.status() ?? 200
  } catch {
    throw fail('provider_failed', 'the site cannot be reached, or it redirects to a host outside its domains')
  }
}

/** A browser is signed in if its address is on the site, but is not one of the addresses for signed-out people. */
function isSignedInAt({ signedOutUrlPrefixes, reachable }: Site, address: string): boolean {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol) || !isWithin(reachable, url)) return false
  return !signedOutUrlPrefixes.some(({ href }) => url.href.startsWith(href))
}
