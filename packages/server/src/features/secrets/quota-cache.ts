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

/** The parts of the context with which a write finds out whether the quota admits it. */
export type QuotaDeps = Pick<QuotaContext, 'config' | 'now' | 'quotaCache' | 'usageQueries'>

/** How much may still be written before somebody has to count again: into an environment, or an organization under a plan. */
export interface QuotaCache {
  /** Reserves quota for a write. False where too little is known to be free: then the write has to be counted. */
  reserve(placeId: string, bytes: number): boolean
  /** Gives back the reserved secret of a write that made no new secret. */
  release(placeId: string): void
  /** Keeps what a count found to be free. */
  store(placeId: string, free: Free): void
  /** Whether the last count left so little that every write must be counted. */
  isTight(placeId: string): boolean
  /** Has it counted, once for all who ask meanwhile: writes that come together find the quota used up together. */
  count(placeId: string, count: () => Promise<Free>): Promise<void>
  /** Forgets everything: the counts were of another database. */
  clear(): void
}

interface Free {
  secrets: number
  bytes: number
}

/**
 * Of what is free, one server takes this part before it counts again: writes below the limit cost no query, and several
 * servers that each remember their part stay below it together.
 */
const share = 16
/** What can be under way at once, which is in no count yet. So little is never free in memory: there, writes wait for each other. */
const underWay: Free = { secrets: 1000, bytes: 4 * 1024 * 1024 }
/** Others write too. */
const trustedMs = 60_000
const rememberedMax = 10_000

export function openQuotaCache(now: () => Date): QuotaCache {
  const known = new Map<string, Free & { untilMs: number; isTight: boolean }>()
  const counts = new Map<string, Promise<void>>()
  const quotaCache: QuotaCache = {
    reserve(placeId, bytes) {
      const free = known.get(placeId)
      if (!free || free.untilMs < now().getTime() || free.secrets < 1 || free.bytes < bytes) return false
      // As if it were a new one. The bytes of what it replaces are found at the next count.
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
 * Refuses what would make an environment larger than a re-key takes in one request. Counted only where memory knows
 * of no free quota: then those who write there wait for each other, so that many at once do not fill one last place.
 */
export async function checkEnvironmentQuota(
  context: QuotaDeps,
  db: Tx,
  env: Env,
  { name, bytes }: { name: string; bytes: number },
): Promise<void> {
  if (reservesQuota(context, env.orgId, env.id, bytes)) return
  const { environmentSecretsMax, environmentBytesMax } = context.config
  await lockEnvironment(db, env, 'no key update')
  const content = await countContent(db, env.orgId, env.id, [name])
  const after = contentAfter(content, { name, bytes })
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
}

interface Write {
  name: string
  bytes: number
}

function contentAfter({ secrets, bytes, sizes }: Content, write: Write): Free {
  const replaced = sizes.get(write.name)
  return { secrets: secrets + (replaced === undefined ? 1 : 0), bytes: bytes + write.bytes - (replaced ?? 0) }
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

/** Both: where plans are enforced, what an organization may still add is free in none of its environments once it is used. */
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
