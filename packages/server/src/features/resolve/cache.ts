import type { Context } from '../../http/context.ts'
import type { PrebuiltResponse } from '../../http/prebuilt-response.ts'
import type { TokenMemory } from '../../identity/token-memory.ts'
import type { Evictions } from '../../kernel/context.ts'
import type { TokenPrincipal } from '../../kernel/principal.ts'

export interface ResolveContext extends Context {
  cache: ResolveCache
}

/** An answer ready to send, and what it depends on. */
export interface Answer {
  orgId: string
  environmentIds: readonly string[]
  etag: string
  whole: PrebuiltResponse
  /** The response for a caller who already has this answer. */
  unchanged: PrebuiltResponse
  /** The time, in epoch milliseconds, at which a branch, a key grant or the token of the answer ends. */
  validUntilMs: number
}

/** How long after its last poll of invalidations a process may still answer from memory. */
export const unpolledMaxMs = 1000

/**
 * Caches answers of resolve by principal and query, never across principals. Also caches the service tokens that ask,
 * by the hash of their bearer. A change of an organization’s structure evicts everything of the organization. A change
 * of secrets evicts the answers of their environment.
 *
 * An answer must not be cached if its organization changed while it was read. `keep` refuses it by the generation that
 * was taken before the read.
 */
export interface ResolveCache extends TokenMemory, Evictions {
  find(key: string, nowMs: number): Answer | undefined
  keep(generation: number, key: string, answer: Answer): void
  /** Forgets everything, because changes may have been missed. */
  clear(): void
  /** Notes that all changes up to this instant (of performance.now) have been read. */
  polled(atMs: number): void
  /** When the cache was last asked, so that an idle process stops polling. */
  readonly askedAtMs: number
}

interface Org {
  keys: Set<string>
  tokens: Set<string>
}

const tokensMax = 50_000
const evictionsMax = 10_000

/**
 * The memory that an answer takes beside its body and key: tag, headers, ids, map entries. Measured with 138,000
 * answers.
 */
const besideBytes = 1024
const sizeOf = (key: string, { whole }: Answer): number => whole.body.length + key.length + besideBytes

export interface CacheOptions {
  bytesMax: number
  /** True if no other process can write, so that there is nothing to poll for. */
  alone: boolean
  monotonicMs: () => number
}

export function openCache({ bytesMax, alone, monotonicMs }: CacheOptions): ResolveCache {
  const answers = new Map<string, Answer>()
  const tokens = new Map<string, TokenPrincipal>()
  const orgs = new Map<string, Org>()
  const generations = openGenerations()
  let bytes = 0
  let polledAtMs = Number.NEGATIVE_INFINITY
  let askedAtMs = Number.NEGATIVE_INFINITY

  const isCurrent = () => {
    const now = monotonicMs()
    askedAtMs = now
    return alone || now - polledAtMs < unpolledMaxMs
  }
  const drop = (key: string) => {
    const answer = answers.get(key)
    if (!answer) return
    answers.delete(key)
    bytes -= sizeOf(key, answer)
    orgs.get(answer.orgId)?.keys.delete(key)
  }
  const orgOf = (orgId: string) => {
    const org = orgs.get(orgId) ?? { keys: new Set(), tokens: new Set() }
    orgs.set(orgId, org)
    return org
  }

  return {
    get askedAtMs() {
      return askedAtMs
    },
    find(key, nowMs) {
      if (!isCurrent()) return undefined
      const answer = answers.get(key)
      if (!answer || answer.validUntilMs > nowMs) return answer
      drop(key)
      return undefined
    },
    findConfirmedToken: (bearerHash) => (isCurrent() ? tokens.get(bearerHash) : undefined),
    findUnconfirmedToken: (bearerHash) => tokens.get(bearerHash),
    generation: generations.current,
    keep(generation, key, answer) {
      if (sizeOf(key, answer) > bytesMax || generations.isStale(generation, answer.orgId)) return
      drop(key)
      answers.set(key, answer)
      orgOf(answer.orgId).keys.add(key)
      bytes += sizeOf(key, answer)
      while (bytes > bytesMax) drop(answers.keys().next().value as string)
    },
    keepToken(generation, bearerHash, token) {
      if (generations.isStale(generation, token.orgId)) return
      if (tokens.size >= tokensMax) this.clear()
      tokens.set(bearerHash, token)
      orgOf(token.orgId).tokens.add(bearerHash)
    },
    evict(orgId, environmentId) {
      generations.evict(orgId)
      const org = orgs.get(orgId)
      if (!org) return
      for (const key of org.keys)
        if (environmentId === null || answers.get(key)?.environmentIds.includes(environmentId)) drop(key)
      if (environmentId !== null) return
      for (const hash of org.tokens) tokens.delete(hash)
      orgs.delete(orgId)
    },
    clear() {
      generations.evictAll()
      bytes = 0
      answers.clear()
      tokens.clear()
      orgs.clear()
    },
    polled(atMs) {
      polledAtMs = atMs
    },
  }
}

/** Counts evictions, and remembers when each organization had its last one. */
function openGenerations() {
  const evictedAt = new Map<string, number>()
  let count = 1
  /** Older generations than this are refused, whichever organization they concern. */
  let floor = 0
  return {
    current: () => count,
    isStale: (generation: number, orgId: string) => generation < floor || generation < (evictedAt.get(orgId) ?? 0),
    evict(orgId: string) {
      count++
      if (evictedAt.size >= evictionsMax) {
        evictedAt.clear()
        floor = count
      }
      evictedAt.set(orgId, count)
    },
    evictAll() {
      floor = ++count
      evictedAt.clear()
    },
  }
}
