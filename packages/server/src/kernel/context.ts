import { hash, randomBytes } from 'node:crypto'
import { base62, type IdKind, idLength, idPrefixes } from '@skerry/contract/prefixes'
import type { Config } from '../config.ts'
import type { Database } from '../db/database.ts'
import type { ResolveCache } from '../features/resolve/cache.ts'
import type { Writes } from '../features/secrets/writes.ts'
import type { LastUsed } from '../identity/last-used.ts'
import type { Oidc } from '../identity/oidc.ts'
import type { RejectedTokens } from '../identity/rejected-tokens.ts'
import type { SessionTokens } from '../identity/session-tokens.ts'
import type { Meter } from '../jobs/meter.ts'
import type { Queue } from '../jobs/queue.ts'
import type { Keypairs } from '../keys/keypairs.ts'
import type { ServerKey } from '../keys/server-key.ts'
import type { Outbound } from '../outbound/outbound.ts'
import type { Log } from './log.ts'
import type { Limiter } from './rate-limits.ts'

/** Everything that the server works with. Made once in server.ts; tests make their own, with another clock. */
export interface Context {
  config: Config
  db: Database
  log: Log
  queue: Queue
  cache: ResolveCache
  writes: Writes
  meter: Meter
  limiter: Limiter
  lastUsed: LastUsed
  rejectedTokens: RejectedTokens
  outbound: Outbound
  oidc: Oidc | null
  /** null with PostgreSQL and no SKERRY_SERVER_KEY: nobody can be signed in. */
  serverKey: ServerKey | null
  /** The server's own keys, to which clients wrap what it must use. */
  keypairs: Keypairs
  sessionTokens: SessionTokens
  /** The one clock, so that tests need no sleeps. */
  now: () => Date
}

export const instant = (context: Context): string => context.now().toISOString()

/** A new row id: prefix and 22 base62 characters, 131 bits. Bytes from 248 on are dropped, so no character is likelier. */
export function newId(kind: IdKind): string {
  let id = ''
  while (id.length < idLength)
    for (const byte of randomBytes(32)) if (byte < 248 && id.length < idLength) id += base62[byte % 62]
  return idPrefixes[kind] + id
}

/** 32 random bytes, base64url: a secret that this server makes and shows once. */
export const newSecret = (): string => randomBytes(32).toString('base64url')

/** How bearers and client secrets are stored: 256 random bits need no slow hash. */
export const sha256 = (data: string | Uint8Array): string => hash('sha256', data, 'base64url')
