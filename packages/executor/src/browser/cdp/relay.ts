import type { CDPSession, Page } from 'playwright-core'
import type { WebSocket } from 'ws'
import type { Executor } from '../../executor.ts'
import { fail, VaultRefusal } from '../../http/refusal.ts'
import type { Lease } from '../leases.ts'
import { treatment } from './methods.ts'
import { sessionIdOf, targetOf } from './pages.ts'

type Params = Record<string, unknown>

/** A command of the DevTools protocol. A command without a session is for the browser. */
interface Command {
  id: number
  method: string
  params?: Params
  sessionId?: string
}

/** Sends like `CDPSession.send`, but with any method. */
type Send = (method: string, params: Params) => Promise<object>

const underWayMax = 1000

/**
 * Opens a connection that drives the pages of a lease by the DevTools protocol, for Playwright, Puppeteer and others.
 * The connection sees a browser with only these pages. Commands to the browser itself are answered here.
 *
 * @throws VaultRefusal `not_found`, `conflict` while a person is signing in.
 */
export function driven({ leases }: Pick<Executor, 'leases'>, leaseId: string): (socket: WebSocket) => void {
  const lease = leases.find(leaseId)
  if (!lease?.holder) throw fail('not_found', 'there is no such browser: it was released or its time ended')
  if (lease.view) throw fail('conflict', 'a person is signing in with this browser')
  return (socket) => drive(lease, socket)
}

function drive(lease: Lease, socket: WebSocket): void {
  const { context } = lease.browser
  const tell: Tell = (message) => socket.send(JSON.stringify(message))
  const pages = openPages(lease, tell)
  const agent = { close: () => end(1000) }
  let isOver = false
  let underWay = 0
  // The connection ends at once, because a program that does not answer its close could continue to use it.
  const end = (code: number) => {
    if (isOver) return
    isOver = true
    context.off('page', pages.came)
    lease.signal.removeEventListener('abort', agent.close)
    lease.agents.delete(agent)
    pages.leave()
    socket.close(code)
  }
  lease.agents.add(agent)
  lease.signal.addEventListener('abort', agent.close)
  context.on('page', pages.came)
  socket.once('close', agent.close)
  socket.on('message', async (data) => {
    if (isOver) return
    const command = readCommand(String(data))
    if (!command || underWay >= underWayMax) return end(1008)
    const { id, sessionId } = command
    const back = sessionId === undefined ? { id } : { id, sessionId }
    underWay++
    const answer = await pages.run(command).then(
      (result) => ({ ...back, result }),
      (error) => ({ ...back, error: { code: -32000, message: wordsOf(error) } }),
    )
    underWay--
    if (!isOver) tell(answer)
    if (command.method === 'Browser.close') end(1000)
  })
  // Since the request, a person may have been asked to sign in, or the lease may have ended.
  if (lease.view || lease.signal.aborted) end(1000)
}

type Tell = (message: object) => void

/** The sessions of one connection with pages. A script that a session has added ends with the session. */
function openSessions({ browser: { context } }: Lease, tell: Tell) {
  const sessions = new Map<string, Promise<{ send: Send; session: CDPSession }>>()
  let isOver = false
  const attach = (page: Page, sessionId: string) => {
    const begun = context.newCDPSession(page).then((session) => {
      session.on('event', ({ method, params = {} }) => {
        if (!isOver && !method.startsWith('Target.')) tell({ sessionId, method, params })
      })
      return { session, send: session.send.bind(session) as unknown as Send }
    })
    sessions.set(sessionId, begun)
    page.once('close', async () => {
      sessions.delete(sessionId)
      const { targetId } = await targetOf(page)
      tell({ method: 'Target.detachedFromTarget', params: { sessionId, targetId } })
    })
    return begun
  }
  return {
    has: (sessionId: string) => sessions.has(sessionId),
    async find(sessionId: string) {
      const known = sessions.get(sessionId)
      if (known) return known
      for (const page of context.pages())
        if (sessionIdOf(await targetOf(page)) === sessionId) return attach(page, sessionId)
      throw fail('not_found', 'there is no such session')
    },
    async detach(sessionId: string) {
      const found = sessions.get(sessionId)
      sessions.delete(sessionId)
      await (await found)?.session.detach()
    },
    end() {
      isOver = true
      for (const one of sessions.values()) one.then(({ session }) => session.detach()).catch(() => {})
    },
  }
}

/** The pages of a lease as one connection sees them. */
function openPages(lease: Lease, tell: Tell) {
  const { context } = lease.browser
  const sessions = openSessions(lease, tell)
  let isAttaching = false
  let hasLeft = false
  const infoOf = async (page: Page) => {
    const target = await targetOf(page)
    const title = await page.title().catch(() => '')
    const attached = sessions.has(sessionIdOf(target))
    return { ...target, type: 'page', title, url: page.url(), attached, canAccessOpener: false }
  }
  const all = () => Promise.all(context.pages().map(infoOf))
  const announce = async (page: Page) => {
    const targetInfo = { ...(await infoOf(page)), attached: true }
    const sessionId = sessionIdOf(targetInfo)
    tell({ method: 'Target.attachedToTarget', params: { sessionId, targetInfo, waitingForDebugger: false } })
  }
  const atBrowser: Record<string, (params: Params) => Promise<object>> = {
    'Browser.getVersion': async () => {
      const page = context.pages()[0]!
      return (await sessions.find(sessionIdOf(await targetOf(page)))).send('Browser.getVersion', {})
    },
    // Closing the connection does not release the lease. The backend releases it through the executor.
    'Browser.close': async () => ({}),
    'Browser.setDownloadBehavior': async () => ({}),
    'Target.getBrowserContexts': async () => ({ browserContextIds: [] }),
    'Target.getTargets': async () => ({ targetInfos: await all() }),
    'Target.getTargetInfo': async ({ targetId }) => ({
      targetInfo: (await all()).find((one) => one.targetId === targetId) ?? browserInfo,
    }),
    'Target.setDiscoverTargets': async () => {
      for (const targetInfo of await all()) tell({ method: 'Target.targetCreated', params: { targetInfo } })
      return {}
    },
    'Target.setAutoAttach': async ({ autoAttach }) => {
      isAttaching = autoAttach === true
      if (isAttaching) for (const page of context.pages()) await announce(page)
      return {}
    },
    'Target.attachToTarget': async ({ targetId }) => {
      const sessionId = sessionIdOf({ targetId: String(targetId) })
      await sessions.find(sessionId)
      return { sessionId }
    },
    'Target.detachFromTarget': async ({ sessionId }) => {
      await sessions.detach(String(sessionId))
      return {}
    },
  }
  return {
    async run({ method, params = {}, sessionId }: Command): Promise<object> {
      if (hasLeft) throw fail('not_found', 'the connection has ended')
      if (sessionId === undefined) {
        if (!Object.hasOwn(atBrowser, method)) throw fail('not_allowed', `${method} is not allowed`)
        return atBrowser[method]!(params)
      }
      if (treatment(method, params) === 'ignore') return {}
      return (await sessions.find(sessionId)).send(method, params)
    },
    came(page: Page) {
      if (isAttaching) announce(page).catch(() => {})
    },
    leave() {
      hasLeft = true
      sessions.end()
    },
  }
}

const browserInfo = { targetId: 'browser', type: 'browser', title: '', url: '', attached: true, canAccessOpener: false }

function readCommand(text: string): Command | undefined {
  try {
    const { id, method, params, sessionId } = JSON.parse(text) as Partial<Command>
    const isParams = params === undefined || (typeof params === 'object' && params !== null && !Array.isArray(params))
    const isSession = sessionId === undefined || typeof sessionId === 'string'
    if (!Number.isSafeInteger(id) || typeof method !== 'string' || !isParams || !isSession) return undefined
    return { id: id!, method, ...(params && { params }), ...(sessionId !== undefined && { sessionId }) }
  } catch {
    return undefined
  }
}

/** Returns Chromium's own error text. The prefix that our library adds is of no use to another library. */
function wordsOf(error: unknown): string {
  const words = error instanceof Error ? error.message : 'failed'
  return error instanceof VaultRefusal ? words : words.replace(/^.*?Protocol error \([^)]*\): /s, '')
}
