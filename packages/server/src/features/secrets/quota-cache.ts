import type { Config } from '../../config.ts'
import type { Tx } from '../../db/database.ts'
import type { Context } from '../../http/context.ts'
import { fail } from '../../kernel/errors.ts'
import { lockEnvironment } from '../../model/environments/table.ts'
import { checkQuota } from '../billing/quota.ts'
import type { Env } from '../envs/scope.ts'
import { type Content, countContent } from './store.ts'

export interface QuotaContext extends Context {
  quotaCache: QuotaCache
}

/** The parts of the context that a write needs to check the quota. */
export type QuotaDeps = Pick<QuotaContext, 'config' | 'now' | 'quotaCache' | 'usageQueries'>

/** How much may be written before the next count: to an environment, or in an organization under a plan. */
export interface QuotaCache {
  /** Reserves quota for a write. Returns false if too little is known to be free: then the write must be counted. */
  reserve(placeId: string, bytes: number): boolean
  /** Releases the reserved secret of a write that made no new secret. */
  release(placeId: string): void
  /** Stores how much a count found to be free. */
  store(placeId: string, free: Free): void
  /** Whether the last count left so little that every write must be counted. */
  isTight(placeId: string): boolean
  /** Counts once for all who ask at the same time, because simultaneous writes find the quota used up together. */
  count(placeId: string, count: () => Promise<Free>): Promise<void>
  /** Forgets all counts, because they belong to another database. */
  clear(): void
}

interface Free {
  secrets: number
  bytes: number
}

/**
 * A server reserves this part of the free quota (one 16th) before it counts again. Writes far from the limit then need
 * no query, and several servers that each reserve their part stay below the limit together.
 */
const share = 16
/**
 * How much can be under way at once without being in a count. If no more than this is free, every write is counted, and
 * writes wait for each other.
 */
const underWay: Free = { secrets: 1000, bytes: 4 * 1024 * 1024 }
/** A count is trusted for 60 s, because other servers write too. */
const trustedMs = 60_000
const rememberedMax = 10_000

export function openQuotaCache(now: () => Date): QuotaCache {
  const known = new Map<string, Free & { untilMs: number; isTight: boolean }>()
  const counts = new Map<string, Promise<void>>()
  const quotaCache: QuotaCache = {
    reserve(placeId, bytes) {
      const free = known.get(placeId)
      if (!free || free.untilMs < now().getTime() || free.secrets < 1 || free.bytes < bytes) return false
      // Counts the write as a new secret. The next count finds the bytes of the value that it replaces.
      free.secrets--
      free.bytes -= bytes
      return true
    },
    release(placeId) {
      const free = known.get(placeId)
      if (free) free.secrets++
    },
    store(placeId, { secrets, bytes }) {
      if (known.size >= rememberedMax) known.clear()
      const untilMs = now().getTime() + trustedMs
      known.set(placeId, {
        secrets: Math.floor((secrets - underWay.secrets) / share),
        bytes: Math.floor((bytes - underWay.bytes) / share),
        untilMs,
        isTight: secrets <= underWay.secrets || bytes <= underWay.bytes,
      })
    },
    isTight(placeId) {
      const free = known.get(placeId)
      return free?.isTight === true && free.untilMs >= now().getTime()
    },
    count(placeId, count) {
      const underWay = counts.get(placeId)
      if (underWay) return underWay
      const counting = count()
        .then((free) => quotaCache.store(placeId, free))
        .finally(() => counts.delete(placeId))
      counts.set(placeId, counting)
      return counting
    },
    clear() {
      known.clear()
      counts.clear()
    },
  }
  return quotaCache
}

/**
 * Refuses a write that would make an environment larger than a re-key accepts in one request. It counts only if memory
 * knows of no free quota. Then writes to the environment wait for each other, so that simultaneous ones cannot exceed
 * the limit. Returns whether it reserved a secret, which a write that makes no new one releases.
 */
export async function checkEnvironmentQuota(context: QuotaDeps, db: Tx, env: Env, write: Write): Promise<boolean> {
  const { name, bytes, recordBytes = 0 } = write
  if (reservesQuota(context, env.orgId, env.id, bytes + recordBytes)) return true
  const { environmentSecretsMax, environmentBytesMax } = context.config
  await lockEnvironment(db, env, 'no key update')
  const content = await countContent(db, env.orgId, env.id, [name])
  const after = contentAfter(content, write)
  if (!content.sizes.has(name)) await checkPlan(context, db, env.orgId)
  const excess = excessOf(context.config, content, after)
  if (excess === 'secrets')
    throw fail(
      'quota_exceeded',
      `the environment holds ${content.secrets} secrets, and may hold ${environmentSecretsMax}`,
    )
  if (excess === 'bytes')
    throw fail('quota_exceeded', `the environment would hold ${after.bytes} bytes, and may hold ${environmentBytesMax}`)
  context.quotaCache.store(env.id, freeOf(context.config, after))
  return false
}

interface Write {
  name: string
  bytes: number
  /** The record of former names, if a rename or the restore of a deleted secret brings one. Other writes keep it. */
  recordBytes?: number
}

function contentAfter({ secrets, bytes, sizes }: Content, write: Write): Free {
  const replaced = sizes.get(write.name)
  const before = replaced ?? { bytes: 0, recordBytes: 0 }
  const { recordBytes = before.recordBytes } = write
  return {
    secrets: secrets + (replaced === undefined ? 1 : 0),
    bytes: bytes + write.bytes - before.bytes + recordBytes - before.recordBytes,
  }
}

type Limits = Pick<Config, 'environmentSecretsMax' | 'environmentBytesMax'>

/** A write that does not grow the environment is allowed above a limit, because its content may be older than the limit. */
function excessOf(
  { environmentSecretsMax, environmentBytesMax }: Limits,
  before: Free,
  after: Free,
): 'secrets' | 'bytes' | null {
  if (after.secrets > before.secrets && after.secrets > environmentSecretsMax) return 'secrets'
  return after.bytes > before.bytes && after.bytes > environmentBytesMax ? 'bytes' : null
}

const freeOf = ({ environmentSecretsMax, environmentBytesMax }: Limits, content: Free): Free => ({
  secrets: environmentSecretsMax - content.secrets,
  bytes: environmentBytesMax - content.bytes,
})

/**
 * Counts once for a group of writes to one environment, after any other count of that environment. Returns the writes that stay
 * within the limits, in their order. No two writes of a group have the same name.
 */
export async function admitGroup<W extends Write>(
  { config, quotaCache }: Pick<QuotaContext, 'config' | 'quotaCache'>,
  db: Tx,
  env: { orgId: string; id: string },
  writes: readonly W[],
): Promise<W[]> {
  await lockEnvironment(db, env, 'no key update')
  const names = writes.map(({ name }) => name)
  let content = await countContent(db, env.orgId, env.id, names)
  const admitted = writes.filter((write) => {
    const after = contentAfter(content, write)
    if (excessOf(config, content, after) !== null) return false
    content = { ...content, ...after }
    return true
  })
  quotaCache.store(env.id, freeOf(config, content))
  return admitted
}

/** Reserves quota of the environment and, if plans are enforced, of the organization that all environments share. */
const reservesQuota = (
  { config, quotaCache }: Pick<QuotaContext, 'config' | 'quotaCache'>,
  orgId: string,
  environmentId: string,
  bytes: number,
): boolean => quotaCache.reserve(environmentId, bytes) && (!config.plansEnforced || quotaCache.reserve(orgId, 0))

async function checkPlan(context: QuotaDeps, db: Tx, orgId: string): Promise<void> {
  const free = await checkQuota(context, db, { id: orgId }, 'secrets')
  context.quotaCache.store(orgId, { secrets: free, bytes: Number.POSITIVE_INFINITY })
}

/**
 * Chooses the group of a write by a token: `free` needs no count, `tight` is counted with its group, and `long` has a
 * transaction of its own, which looks up the plan.
 */
export async function chooseGroup(
  { config, db, quotaCache }: Pick<QuotaContext, 'config' | 'db' | 'quotaCache'>,
  { orgId, environmentId, bytes }: { orgId: string; environmentId: string; bytes: number },
): Promise<'free' | 'tight' | 'long'> {
  if (reservesQuota({ config, quotaCache }, orgId, environmentId, bytes)) return 'free'
  if (config.plansEnforced) return 'long'
  if (quotaCache.isTight(environmentId)) return 'tight'
  await quotaCache.count(environmentId, async () => freeOf(config, await countContent(db, orgId, environmentId, [])))
  return quotaCache.reserve(environmentId, bytes) ? 'free' : 'tight'
}
