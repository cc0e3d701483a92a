import { randomBytes } from 'node:crypto'
import type { Client } from '@skerry/sdk/client'
import { RefusedError } from '@skerry/sdk/errors'
import { sleep } from '@skerry/sdk/internal/transport'
import type { Connection } from '../credentials.ts'
import { fail } from '../http/refusal.ts'
import { type BrowserDeps, openSiteBrowser, type SiteBrowser } from './site-browser.ts'

/** A browser that somebody has for a while. */
export interface Lease {
  id: string
  browser: SiteBrowser
  /** Whose session it is; null while a person connects, when no backend may ask for it. */
  holder: Holder | null
  expiresAt: Date
  /** While a person signs in, nobody else sees or drives the page. */
  view: View | null
  /** Connections that drive it. */
  agents: Set<{ close(): void }>
  /** Aborted with its end: every connection to the browser ends then. */
  signal: AbortSignal
}

/** A person who is asked to sign in, in a window that shows them a browser. */
export interface View {
  /** Of the link; null once somebody has opened it. */
  token: string | null
  /** With which the window that opened the link comes back: phones cut the connection of a window in the background. */
  key: string | null
  /** The window that is connected. */
  window: { stop(): Promise<void>; close(code: number): Promise<void> } | null
  /** Nothing is shown any more. */
  leave(): Promise<void>
}

export interface Holder {
  connection: Connection
  projectId: string
  /** Of the slot `session` when it was read; 0 for none. */
  revision: number
}

type Wanted = Pick<Lease, 'holder'> & Pick<SiteBrowser, 'site'> & { state: string | undefined; ttlMs: number }

export interface Leases {
  /** @throws VaultRefusal `limit_reached`. */
  begin(id: string, wanted: Wanted): Promise<Lease>
  /** @throws VaultRefusal `not_found`, `user_mismatch`. */
  of(leaseId: string, userRef: string): Lease & { holder: Holder }
  /** Undefined for one that is over. */
  find(id: string): Lease | undefined
  all(): Lease[]
  extend(lease: Lease, ttlMs: number): void
  end(lease: Lease): Promise<void>
  close(): Promise<void>
}

export const newLeaseId = (): string => `vls_${randomBytes(16).toString('hex')}`

/** The browser of a connection that is revoked ends within this time. */
const lookEveryMs = 5_000

interface Own extends Lease {
  abort(): void
  timer: NodeJS.Timeout | undefined
}

interface LeaseDeps extends BrowserDeps {
  server: Client['vaultExecutor']
  now: () => Date
  warn: (message: string) => void
}

export function openLeases(deps: LeaseDeps): Leases {
  const { config, now, warn } = deps
  const leases = new Map<string, Own>()
  const underWay = new Map<string, Promise<Lease>>()
  const end = async ({ id }: Lease) => {
    const lease = leases.get(id)
    if (!lease) return
    leases.delete(id)
    clearTimeout(lease.timer)
    lease.abort()
    await lease.browser.close().catch(() => warn('what a browser left could not be removed'))
  }
  const extend = (lease: Lease, ttlMs: number) => {
    const own = leases.get(lease.id)
    if (!own) return
    own.expiresAt = new Date(now().getTime() + ttlMs)
    clearTimeout(own.timer)
    own.timer = setTimeout(() => void end(own), ttlMs)
  }
  const begin = async (id: string, { holder, site, state, ttlMs }: Wanted) => {
    const browser = await openSiteBrowser(deps, id, site, state)
    const ended = new AbortController()
    const own: Own = {
      ...{ id, browser, holder, expiresAt: now(), view: null, agents: new Set(), signal: ended.signal },
      abort: () => ended.abort(),
      timer: undefined,
    }
    leases.set(id, own)
    browser.context.once('close', () => void end(own))
    extend(own, ttlMs)
    if (holder) watch(deps, own, () => end(own)).catch(() => {})
    return own
  }
  const find = (id: string) => {
    const found = leases.get(id)
    if (!found || found.expiresAt > now()) return found
    void end(found)
    return undefined
  }
  return {
    begin(id, wanted) {
      const known = underWay.get(id)
      if (known) return known
      if (leases.size + underWay.size >= config.browser.max)
        throw fail('limit_reached', `${config.browser.max} browsers are open, and no more may be`)
      const begun = begin(id, wanted).finally(() => underWay.delete(id))
      underWay.set(id, begun)
      return begun
    },
    of(leaseId, userRef) {
      const lease = find(leaseId)
      if (!lease?.holder) throw fail('not_found', 'no such browser: it was released, or its time is over')
      if (lease.holder.connection.userRef !== userRef)
        throw fail('user_mismatch', 'the browser belongs to another user')
      return lease as Lease & { holder: Holder }
    },
    find,
    all: () => [...leases.values()].filter(({ id }) => find(id)),
    extend,
    end,
    async close() {
      await Promise.allSettled(underWay.values())
      await Promise.all([...leases.values()].map(end))
    },
  }
}

/** What was revoked is used no longer. A server that cannot be reached says nothing about it. */
async function watch({ server }: LeaseDeps, { holder, signal }: Lease, end: () => Promise<void>): Promise<void> {
  const params = { vaultConnectionId: holder!.connection.id }
  for (;;) {
    await sleep(lookEveryMs, signal)
    const isRevoked = await server.connection({ params }).then(
      ({ connection }) => connection.status === 'revoked',
      (error) => error instanceof RefusedError,
    )
    if (isRevoked) return end()
  }
}
