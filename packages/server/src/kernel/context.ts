import { hash, randomBytes, randomFillSync } from 'node:crypto'
import type { AuditAction } from '@skerry/contract/actions'
import { base62, type IdKind, idLength, idPrefixes } from '@skerry/contract/prefixes'
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import type { Faults } from './faults.ts'
import type { Log } from './log.ts'
import type { Limiter } from './rate-limits.ts'

/**
 * The context for code of every folder above `db`. A folder that adds to it defines its own context
 * (`identity/context.ts`, `http/context.ts`), and app.ts defines the whole.
 */
export interface KernelContext {
  config: Config
  db: Database
  log: Log
  faults: Faults
  limiter: Limiter
  evictions: Evictions
  announcements: Announcements
  /** The only clock, so that tests need no sleeps. */
  now: () => Date
}

/**
 * An eviction names the environment whose cached answers a committed change made stale. A null environment means every
 * answer of the organization.
 */
export interface Evictions {
  evict(orgId: string, environmentId: string | null): void
}

/** An audit entry whose transaction was committed, with the parts that decide who hears of it. */
export interface Committed {
  orgId: string | null
  id: string
  action: AuditAction
  actorType: string
  actorId: string | null
  resourceType: string
  resourceId: string | null
  metadata: Record<string, unknown>
  createdAt: string
}

/** Tells callers who watch their organization live about committed changes. */
export interface Announcements {
  /** Whether anybody watches the organization on this server. If nobody does, its entries need not be announced. */
  isWatched(orgId: string): boolean
  announce(entries: readonly Committed[]): void
}

export const instant = (context: Pick<KernelContext, 'now'>): string => context.now().toISOString()

/**
 * Creates a row id: a prefix and 22 base62 characters, 131 bits. Bytes from 248 on are dropped, so that every character
 * is equally likely.
 */
export function newId(kind: IdKind): string {
  let id = ''
  while (id.length < idLength)
    for (const byte of randomBlock()) if (byte < 248 && id.length < idLength) id += base62[byte % 62]
  return idPrefixes[kind] + id
}

const blockBytes = 32
const pool = Buffer.alloc(128 * blockBytes)
let poolUsed = pool.length

/**
 * Returns fresh random bytes. The system is asked for many at once: a call for 32 bytes takes 2 µs, and a write needs
 * two ids.
 */
function randomBlock(): Buffer {
  if (poolUsed === pool.length) {
    randomFillSync(pool)
    poolUsed = 0
  }
  poolUsed += blockBytes
  return pool.subarray(poolUsed - blockBytes, poolUsed)
}

/**
 * Creates the id of an audit entry. It begins with its millisecond, so that an index of millions of entries grows only
 * at its end. 83 random bits follow.
 */
export function newAuditId(now: Date): string {
  let time = ''
  for (let left = now.getTime(); time.length < auditTimeLength; left = Math.floor(left / base62.length))
    time = base62[left % base62.length] + time
  const { length } = idPrefixes.audit
  return idPrefixes.audit + time + newId('audit').slice(length + auditTimeLength)
}

/** The number of base62 characters for a millisecond: enough for six thousand years. */
const auditTimeLength = 8

/** Creates a secret of 32 random bytes, base64url, which the server shows only once. */
export const newSecret = (): string => randomBytes(32).toString('base64url')

/** Hashes bearer tokens and client secrets for storage. They have 256 random bits, so they need no slow hash. */
export const sha256 = (data: string | Uint8Array): string => hash('sha256', data, 'base64url')
