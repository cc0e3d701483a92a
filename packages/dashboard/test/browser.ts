import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page, type Request } from 'playwright-core'
import { expect } from 'vitest'

/** The names of Chromium's program: Debian's first, then those of other systems. */
const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

function findChromium(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Says that this machine has no browser. Undefined if it has one. */
export const missingChromium = (): string | undefined =>
  findChromium() === undefined ? 'there is no Chromium in PATH' : undefined

/** A host name that resolves to this machine. It stands for another host, which no browser trusts over plain HTTP. */
export const elsewhere = 'skerry.test'

let browser: Promise<Browser> | undefined

/**
 * Opens one browser for all suites of a process. It ends with the process. Each visitor has a separate browser context.
 */
function openBrowser(): Promise<Browser> {
  browser ??= launch()
  return browser
}

async function launch(): Promise<Browser> {
  const executablePath = findChromium()
  if (!executablePath) throw new Error('there is no Chromium in PATH; on Debian: apt-get install chromium')
  // Chromium's own sandbox cannot start as root, which is usual in containers.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return chromium.launch({ executablePath, args: [`--host-resolver-rules=MAP ${elsewhere} 127.0.0.1`, ...sandbox] })
}

/** A person at a browser with a passkey device, with a record of all requests and complaints. */
export interface Visitor {
  page: Page
  context: BrowserContext
  /** Console warnings and errors, uncaught exceptions, and violations of the Content-Security-Policy. */
  complaints: string[]
  /** The URL and body of every request, and every URL that the page itself had. */
  sent: string[]
  /**
   * Returns the Authorization header of the page's last request. A test uses it to act as another client of the same
   * person.
   */
  bearer: () => string
  /** Waits until all requests have ended and the page is drawn. */
  quiet: () => Promise<void>
  close: () => Promise<void>
}

export async function visit(baseUrl: string, more: { dark?: boolean } = {}): Promise<Visitor> {
  const colorScheme = more.dark ? 'dark' : 'light'
  const named = baseUrl.replace('127.0.0.1', 'localhost')
  const context = await (await openBrowser()).newContext({ baseURL: named, colorScheme, reducedMotion: 'reduce' })
  const complaints: string[] = []
  const sent: string[] = []
  const page = await addPage({ context, complaints, sent })
  context.on('request', (request) => sent.push(`${request.method()} ${request.url()} ${request.postData() ?? ''}`))
  let authorization = ''
  context.on('request', (request) => {
    authorization = request.headers().authorization ?? authorization
  })
  await addPasskeyDevice(page)
  const quiet = watchRequests(page)
  return { page, context, complaints, sent, bearer: () => authorization, quiet, close: () => context.close() }
}

/** Opens another tab of a visitor's browser. It has no passkey device. */
export async function addPage(visitor: Pick<Visitor, 'context' | 'complaints' | 'sent'>): Promise<Page> {
  const { context, complaints, sent } = visitor
  const page = await context.newPage()
  // Long enough for a busy machine.
  page.setDefaultTimeout(60_000)
  page.on('console', (message) => {
    if (['warning', 'error'].includes(message.type()) && !isExpected(message.text()))
      complaints.push(`${message.type()}: ${message.text()} ${message.location().url}`)
  })
  page.on('pageerror', (error) => complaints.push(`exception: ${error.stack ?? error.message}`))
  page.on('framenavigated', (frame) => sent.push(frame.url()))
  await page.addInitScript(keepNotices)
  return page
}

const contextIds = new WeakMap<BrowserContext, Promise<string | undefined>>()

/** Returns the id of a browser context in DevTools. Its session stays open: to end it would remove the passkey device. */
function contextIdOf(page: Page): Promise<string | undefined> {
  const context = page.context()
  const known = contextIds.get(context)
  if (known) return known
  const id = context
    .newCDPSession(page)
    .then((devTools) => devTools.send('Target.getTargetInfo'))
    .then(({ targetInfo }) => targetInfo.browserContextId)
  contextIds.set(context, id)
  return id
}

/** Returns the scripts of the shared workers that run in the browser of this page. */
export async function keyringWorkers(page: Page): Promise<string[]> {
  const contextId = await contextIdOf(page)
  const devTools = await (await openBrowser()).newBrowserCDPSession()
  const { targetInfos } = await devTools.send('Target.getTargets')
  await devTools.detach()
  return targetInfos
    .filter(({ type, browserContextId }) => type === 'shared_worker' && browserContextId === contextId)
    .map(({ url }) => url)
}

/**
 * Runs in the page and records its toasts. A toast disappears after seconds, and a test on a busy machine may check
 * later.
 */
function keepNotices() {
  const notices: string[] = []
  // A toast that only moves in the page is not counted again.
  const seen = new WeakSet<Element>()
  Object.assign(globalThis, { notices })
  new MutationObserver((changes) => {
    for (const node of changes.flatMap(({ addedNodes }) => [...addedNodes]))
      if (node instanceof Element)
        for (const notice of [node, ...node.querySelectorAll('*')])
          if (notice.matches('.mantine-Notification-root') && !seen.has(notice)) {
            seen.add(notice)
            notices.push(notice.textContent)
          }
  }).observe(document, { childList: true, subtree: true })
}

/** Waits for a toast with this text. It must have appeared after the toast of the last call. */
export async function told(page: Page, text: string): Promise<void> {
  const take = (text: string) => {
    const { notices } = globalThis as unknown as { notices: string[] }
    const index = notices.findIndex((notice) => notice.includes(text))
    notices.splice(0, index + 1)
    return index >= 0
  }
  await expect.poll(() => page.evaluate(take, text), { message: text }).toBe(true)
}

/**
 * Returns a function that waits for all requests. A page may send follow-up requests one or two frames after an answer.
 * Playwright's own `networkidle` takes half a second longer.
 */
function watchRequests(page: Page): Visitor['quiet'] {
  const underWay = new Set<Request>()
  // The stream of events stays open. The browser does not say when the script of a shared worker has come.
  const isEndless = (request: Request) => /\/events$|\/worker-[\w-]+\.js$/.test(request.url())
  page.on('request', (request) => isEndless(request) || underWay.add(request))
  page.on('requestfinished', (request) => underWay.delete(request))
  page.on('requestfailed', (request) => underWay.delete(request))
  return async () => {
    for (let calm = 0; calm < 2; calm = underWay.size === 0 ? calm + 1 : 0)
      await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
  }
}

/** The browser logs each refusal of the server (4xx). The pages show them anyway. */
const isExpected = (text: string) => /^Failed to load resource: the server responded with a status of 4\d\d/.test(text)

/** Adds a virtual passkey device whose owner always agrees (WebAuthn level 3 with PRF). */
async function addPasskeyDevice(page: Page): Promise<void> {
  const devTools = await page.context().newCDPSession(page)
  await devTools.send('WebAuthn.enable')
  await devTools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      ctap2Version: 'ctap2_1',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      hasPrf: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}

/** Returns everything that the browser stores for this site: storage, cookies, databases, caches and history. */
export async function storedText({ page, context }: Visitor): Promise<string[]> {
  const kept = await page.evaluate(async () => [
    JSON.stringify({ ...localStorage }),
    JSON.stringify({ ...sessionStorage }),
    JSON.stringify(await indexedDB.databases()),
    JSON.stringify(await caches.keys()),
    JSON.stringify(history.state),
    location.href,
    document.title,
  ])
  return [...kept, JSON.stringify(await context.cookies())]
}
