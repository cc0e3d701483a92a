import type { Tx } from '../../db/database.ts'
import type { Context } from '../../kernel/context.ts'
import { fail } from '../../kernel/errors.ts'
import { checkQuota } from '../billing/quota.ts'
import type { Env } from '../envs/scope.ts'
import { countOf, lockCount } from './store.ts'

declare module '../../kernel/context.ts' {
  interface Context {
    room: Room
  }
}

/** How much may still be written before somebody has to count again: into an environment, or an organization under a plan. */
export interface Room {
  /** Takes a write from what memory knows to be free; false where it does not know. */
  take(placeId: string, bytes: number): boolean
  /** The place of a secret back, where a write that took one made no new secret. */
  giveBack(placeId: string): void
  counted(placeId: string, free: Free): void
  /** Has it counted, once for all who ask meanwhile: writes that come together find the room of a place used up together. */
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

export function openRoom(now: () => Date): Room {
  const known = new Map<string, Free & { untilMs: number }>()
  const counts = new Map<string, Promise<void>>()
  const room: Room = {
    take(placeId, bytes) {
      const free = known.get(placeId)
      if (!free || free.untilMs < now().getTime() || free.secrets < 1 || free.bytes < bytes) return false
      // As if it were a new one. The bytes of what it replaces are found at the next count.
      free.secrets--
      free.bytes -= bytes
      return true
    },
    giveBack(placeId) {
      const free = known.get(placeId)
      if (free) free.secrets++
    },
    counted(placeId, { secrets, bytes }) {
      if (known.size >= rememberedMax) known.clear()
      const untilMs = now().getTime() + trustedMs
      known.set(placeId, {
        secrets: Math.floor((secrets - underWay.secrets) / share),
        bytes: Math.floor((bytes - underWay.bytes) / share),
        untilMs,
      })
    },
    count(placeId, count) {
      const underWay = counts.get(placeId)
      if (underWay) return underWay
      const counting = count()
        .then((free) => room.counted(placeId, free))
        .finally(() => counts.delete(placeId))
      counts.set(placeId, counting)
      return counting
    },
    clear() {
      known.clear()
      counts.clear()
    },
  }
  return room
}

/**
 * Refuses what would make an environment larger than a re-key takes in one request. Counted only where memory does not know
 * of room: then those who write there wait for each other, so that many at once do not fill one last place.
 */
export async function checkRoom(
  context: Pick<Context, 'config' | 'now' | 'room'>,
  db: Tx,
  env: Env,
  { name, bytes }: { name: string; bytes: number },
): Promise<void> {
  if (takesRoom(context, env.orgId, env.id, bytes)) return
  const { environmentSecretsMax, environmentBytesMax } = context.config
  await lockCount(db, env)
  const is = await countOf(db, env.orgId, env.id, name)
  const secrets = is.secrets + (is.replaces === null ? 1 : 0)
  const after = is.bytes + bytes - (is.replaces ?? 0)
  if (is.replaces === null) await checkPlan(context, db, env.orgId)
  if (is.replaces === null && secrets > environmentSecretsMax)
    throw fail('quota_exceeded', `the environment holds ${is.secrets} secrets, and may hold ${environmentSecretsMax}`)
  // What makes it no larger is taken: it may be from before the limit.
  if (bytes > (is.replaces ?? 0) && after > environmentBytesMax)
    throw fail('quota_exceeded', `the environment would hold ${after} bytes, and may hold ${environmentBytesMax}`)
  context.room.counted(env.id, { secrets: environmentSecretsMax - secrets, bytes: environmentBytesMax - after })
}

/** Both: where plans are enforced, what an organization may still add is free in none of its environments once it is used. */
const takesRoom = (
  { config, room }: Pick<Context, 'config' | 'room'>,
  orgId: string,
  environmentId: string,
  bytes: number,
): boolean => room.take(environmentId, bytes) && (!config.plansEnforced || room.take(orgId, 0))

async function checkPlan(context: Pick<Context, 'config' | 'now' | 'room'>, db: Tx, orgId: string): Promise<void> {
  const free = await checkQuota(context, db, { id: orgId }, 'secrets')
  context.room.counted(orgId, { secrets: free, bytes: Number.POSITIVE_INFINITY })
}

/** The same for a write that shares a statement: false where it has to go the long way, which says what stands against it. */
export async function hasRoom(
  { config, db, room }: Pick<Context, 'config' | 'db' | 'room'>,
  { orgId, environmentId, name, bytes }: { orgId: string; environmentId: string; name: string; bytes: number },
): Promise<boolean> {
  if (takesRoom({ config, room }, orgId, environmentId, bytes)) return true
  // The plan is looked up the long way.
  if (config.plansEnforced) return false
  await room.count(environmentId, async () => {
    const is = await countOf(db, orgId, environmentId, name)
    return { secrets: config.environmentSecretsMax - is.secrets, bytes: config.environmentBytesMax - is.bytes }
  })
  return room.take(environmentId, bytes)
}
