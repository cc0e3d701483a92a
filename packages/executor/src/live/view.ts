import { randomBytes } from 'node:crypto'
import type { WebSocket } from 'ws'
import type { Lease, View } from '../browser/leases.ts'
import type { Executor } from '../executor.ts'
import { isSame } from '../http/same.ts'
import { show } from './show.ts'

/** How long a person has to sign in. */
export const viewMs = 10 * 60_000
const helloMs = 10_000

/** The codes that close a window's connection: its link cannot be used any more, or nothing is left to do. */
const closeCodes = { spent: 4404, over: 4410 } as const

const newSecret = () => randomBytes(32).toString('base64url')

/**
 * Opens the sign-in page for a person. Programs that drive the browser are disconnected, and the pages they used are
 * closed.
 */
export async function askPerson({ leases, origin, now }: Executor, lease: Lease) {
  const before = lease.view
  const [token, timer] = [newSecret(), setTimeout(() => void giveBack(lease, view), viewMs)]
  const leave = async () => {
    clearTimeout(timer)
    lease.signal.removeEventListener('abort', leave)
    view.token = null
    view.key = null
    await view.window?.close(closeCodes.over)
  }
  const view: View = { token, key: null, window: null, leave }
  lease.view = view
  lease.signal.addEventListener('abort', leave)
  for (const agent of lease.agents) agent.close()
  const expiresAt = new Date(now().getTime() + viewMs)
  if (lease.expiresAt < expiresAt) leases.extend(lease, viewMs)
  await before?.leave()
  try {
    await lease.browser.startOver('loginUrl')
  } catch (error) {
    await giveBack(lease, view)
    throw error
  }
  return { liveViewUrl: `${origin}/live/#${token}`, expiresAt: expiresAt.toISOString() }
}

/**
 * Ends the sign-in of a person. Closes the pages in which they typed before a program can connect, and tells the window
 * last.
 */
async function giveBack(lease: Lease, view: View): Promise<void> {
  await view.window?.stop()
  if (!lease.signal.aborted && lease.view === view) await lease.browser.startOver('startUrl').catch(() => {})
  if (lease.view === view) lease.view = null
  await view.leave()
}

/**
 * Handles the connection of a window. Its first message contains the secret of its link, so that no logged address has
 * it.
 */
export function watched({ leases, warn }: Executor, socket: WebSocket): void {
  const late = setTimeout(() => socket.close(closeCodes.spent), helloMs)
  socket.once('close', () => clearTimeout(late))
  socket.once('message', (data) => {
    clearTimeout(late)
    const admitted = admit(leases.all(), String(data))
    if (!admitted) return socket.close(closeCodes.spent)
    const { lease, view } = admitted
    begin(lease, view, socket).catch(() => {
      warn('a live view could not be opened')
      socket.close(closeCodes.over)
    })
  })
}

async function begin(lease: Lease, view: View, socket: WebSocket): Promise<void> {
  const before = view.window
  // A person who connects continues on the Connect page. A person who repairs a connection is done, and programs may
  // continue.
  const done = () => {
    if (lease.holder) void giveBack(lease, view)
  }
  const stop = show(lease.browser, socket, done)
  view.window = {
    stop,
    async close(code) {
      socket.close(code)
      await stop()
    },
  }
  await before?.close(closeCodes.spent)
  socket.send(JSON.stringify({ kind: 'ready', key: view.key, name: lease.browser.site.displayName }))
}

function admit(leases: Lease[], text: string): { lease: Lease; view: View } | undefined {
  const { token, key } = readHello(text)
  for (const lease of leases) {
    const { view } = lease
    if (view?.key && typeof key === 'string' && isSame(key, view.key)) return { lease, view }
    if (!view?.token || typeof token !== 'string' || !isSame(token, view.token)) continue
    view.token = null
    view.key = newSecret()
    return { lease, view }
  }
  return undefined
}

function readHello(text: string): { token?: unknown; key?: unknown } {
  try {
    return (JSON.parse(text) as object | null) ?? {}
  } catch {
    return {}
  }
}
