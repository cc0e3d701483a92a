import { hash, randomBytes, randomFillSync } from 'node:crypto'
import { base62, type IdKind, idLength, idPrefixes } from '@skerry/contract/prefixes'
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import type { Faults } from './faults.ts'
import type { Log } from './log.ts'
import type { Limiter } from './rate-limits.ts'

/**
 * What code of any folder above `db` may use. Each folder that adds to it names its own context (`identity/context.ts`,
 * `http/context.ts`), and app.ts the whole.
 */
export interface KernelContext {
  config: Config
  db: Database
  log: Log
  faults: Faults
  limiter: Limiter
  evictions: Evictions
  /** The one clock, so that tests need no sleeps. */
  now: () => Date
}

/** What a committed change tells: answers about the environment, or with null about the organization, may be wrong now. */
export interface Evictions {
  evict(orgId: string, environmentId: string | null): void
}

export const instant = (context: Pick<KernelContext, 'now'>): string => context.now().toISOString()

/** A new row id: prefix and 22 base62 characters, 131 bits. Bytes from 248 on are dropped, so no character is likelier. */
export function newId(kind: IdKind): string {
  let id = ''
  while (id.length < idLength)
    for (const byte of randomBlock()) if (byte < 248 && id.length < idLength) id += base62[byte % 62]
  return idPrefixes[kind] + id
}

const blockBytes = 32
const pool = Buffer.alloc(128 * blockBytes)
let poolUsed = pool.length

/** Bytes that no other block has. The system is asked for many at once: a call for 32 takes 2 µs, and a write needs two ids. */
function randomBlock(): Buffer {
  if (poolUsed === pool.length) {
    randomFillSync(pool)
    poolUsed = 0
  }
  poolUsed += blockBytes
  return pool.subarray(poolUsed - blockBytes, poolUsed)
}

/**
 * The id of an audit entry begins with its millisecond, so that the index of millions of them grows at its end alone. 83
 * random bits follow.
 */
export function newAuditId(now: Date): string {
  let time = ''
  for (let left = now.getTime(); time.length < auditTimeLength; left = Math.floor(left / base62.length))
    time = base62[left % base62.length] + time
  const { length } = idPrefixes.audit
  return idPrefixes.audit + time + newId('audit').slice(length + auditTimeLength)
}

/** Base62 characters of a millisecond: enough for six thousand years. */
const auditTimeLength = 8

/** 32 random bytes, base64url: a secret that this server makes and shows once. */
export const newSecret = (): string => randomBytes(32).toString('base64url')

/** How bearers and client secrets are stored: 256 random bits need no slow hash. */
export const sha256 = (data: string | Uint8Array): string => hash('sha256', data, 'base64url')
