import { randomBytes } from 'node:crypto'
import type { Client } from '@skerry/sdk/client'
import { RefusedError } from '@skerry/sdk/errors'
import { sleep } from '@skerry/sdk/internal/transport'
import type { Connection } from '../credentials.ts'
import { fail } from '../http/refusal.ts'
import { type BrowserDeps, openSiteBrowser, type SiteBrowser } from './site-browser.ts'

/** A browser that a caller uses for a limited time. */
export interface Lease {
  id: string
  browser: SiteBrowser
  /**
   * The connection whose session the browser uses. Null while a person connects: then no backend may use the browser.
   */
  holder: Holder | null
  expiresAt: Date
  /** Set while a person signs in. Then nobody else sees or drives the page. */
  view: View | null
  /** The connections that drive the browser. */
  agents: Set<{ close(): void }>
  /** Aborted when the lease ends. Every connection to the browser then ends too. */
  signal: AbortSignal
}

/** A request to a person to sign in, in a window that shows them a browser. */
export interface View {
  /** The token in the link. Null once somebody has opened the link. */
  token: string | null
  /** The key with which that window connects again, because phones cut the connection of a window in the background. */
  key: string | null
  /** The connected window. */
  window: { stop(): Promise<void>; close(code: number): Promise<void> } | null
  /** Stops showing the browser. */
  leave(): Promise<void>
}

export interface Holder {
  connection: Connection
  projectId: string
  /** The revision of the slot `session` when it was read. 0 if there was none. */
  revision: number
}

type Wanted = Pick<Lease, 'holder'> & Pick<SiteBrowser, 'site'> & { state: string | undefined; ttlMs: number }

export interface Leases {
  /** @throws VaultRefusal `limit_reached`. */
  begin(id: string, wanted: Wanted): Promise<Lease>
  /** @throws VaultRefusal `not_found`, `user_mismatch`. */
  of(leaseId: string, userRef: string): Lease & { holder: Holder }
  /** Undefined if the lease is over. */
  find(id: string): Lease | undefined
  all(): Lease[]
  extend(lease: Lease, ttlMs: number): void
  end(lease: Lease): Promise<void>
  close(): Promise<void>
}

export const newLeaseId = (): string => `vls_${randomBytes(16).toString('hex')}`

/** When a connection is revoked, its browser ends within this time. */
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
    await lease.browser.close().catch(() => warn('the files of an ended browser could not be deleted'))
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
        throw fail('limit_reached', `${config.browser.max} browsers are open, which is the limit; release one first`)
      const begun = begin(id, wanted).finally(() => underWay.delete(id))
      underWay.set(id, begun)
      return begun
    },
    of(leaseId, userRef) {
      const lease = find(leaseId)
      if (!lease?.holder) throw fail('not_found', 'there is no such browser: it was released or its time ended')
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

/** Ends a lease when its connection is revoked. An unreachable server does not end it. */
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
