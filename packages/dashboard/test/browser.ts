import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page, type Request } from 'playwright-core'
import { expect } from 'vitest'

/** Chromium as Debian packages it, or as it is called elsewhere. */
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

/** Why there is no browser on this machine; undefined when there is one. */
export const missingChromium = (): string | undefined =>
  findChromium() === undefined ? 'no Chromium in PATH' : undefined

/** This machine by a name that stands for another host: over plain HTTP no browser trusts it. */
export const elsewhere = 'skerry.test'

let browser: Promise<Browser> | undefined

/** One for all suites of a process, with which it ends. What keeps them apart is a visitor's context. */
function openBrowser(): Promise<Browser> {
  browser ??= launch()
  return browser
}

async function launch(): Promise<Browser> {
  const executablePath = findChromium()
  if (!executablePath) throw new Error('no Chromium in PATH; on Debian: apt-get install chromium')
  // As root, in containers, its own sandbox cannot start.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return chromium.launch({ executablePath, args: [`--host-resolver-rules=MAP ${elsewhere} 127.0.0.1`, ...sandbox] })
}

/** One person at a browser, with a passkey of the device, and everything that went out or was complained about. */
export interface Visitor {
  page: Page
  context: BrowserContext
  /** Console warnings and errors, uncaught exceptions, refusals of the Content-Security-Policy. */
  complaints: string[]
  /** Addresses and bodies of every request, and every address that the page itself had. */
  sent: string[]
  /** The Authorization header of the page's last request: another client of the same person. */
  bearer: () => string
  /** Waits until all that the page asked for has come and is drawn. */
  quiet: () => Promise<void>
  close: () => Promise<void>
}

export async function visit(baseUrl: string, more: { dark?: boolean } = {}): Promise<Visitor> {
  const colorScheme = more.dark ? 'dark' : 'light'
  const named = baseUrl.replace('127.0.0.1', 'localhost')
  const context = await (await openBrowser()).newContext({ baseURL: named, colorScheme, reducedMotion: 'reduce' })
  const page = await context.newPage()
  // Long enough for a machine that has other things to do.
  page.setDefaultTimeout(60_000)
  const complaints: string[] = []
  const sent: string[] = []
  page.on('console', (message) => {
    if (['warning', 'error'].includes(message.type()) && !isExpected(message.text()))
      complaints.push(`${message.type()}: ${message.text()} ${message.location().url}`)
  })
  page.on('pageerror', (error) => complaints.push(`exception: ${error.stack ?? error.message}`))
  context.on('request', (request) => sent.push(`${request.method()} ${request.url()} ${request.postData() ?? ''}`))
  let authorization = ''
  context.on('request', (request) => {
    authorization = request.headers().authorization ?? authorization
  })
  page.on('framenavigated', (frame) => sent.push(frame.url()))
  await page.addInitScript(keepNotices)
  await addPasskeyDevice(page)
  const quiet = watchRequests(page)
  return { page, context, complaints, sent, bearer: () => authorization, quiet, close: () => context.close() }
}

/** In the page: a notice ends by itself after seconds, and a test on a busy machine may look later. */
function keepNotices() {
  const notices: string[] = []
  // One that is only moved is no new one.
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

/** Until a notice was shown with this text, since the last one that was asked for on this page. */
export async function told(page: Page, text: string): Promise<void> {
  const take = (text: string) => {
    const { notices } = globalThis as unknown as { notices: string[] }
    const index = notices.findIndex((notice) => notice.includes(text))
    notices.splice(0, index + 1)
    return index >= 0
  }
  await expect.poll(() => page.evaluate(take, text), { message: text }).toBe(true)
}

/** What an answer leads to is asked for a frame or two later. Playwright's own `networkidle` takes half a second more. */
function watchRequests(page: Page): Visitor['quiet'] {
  const underWay = new Set<Request>()
  page.on('request', (request) => underWay.add(request))
  page.on('requestfinished', (request) => underWay.delete(request))
  page.on('requestfailed', (request) => underWay.delete(request))
  return async () => {
    for (let calm = 0; calm < 2; calm = underWay.size === 0 ? calm + 1 : 0)
      await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
  }
}

/** The browser itself notes each refusal of the server; the pages show them. */
const isExpected = (text: string) => /^Failed to load resource: the server responded with a status of 4\d\d/.test(text)

/** A device that has a passkey and whose owner always agrees (WebAuthn level 3 with PRF). */
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

/** Everything that the browser keeps of this site: storage, cookies, databases, caches, history. */
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
