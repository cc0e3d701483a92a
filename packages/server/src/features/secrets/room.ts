import type { Tx } from '../../db/database.ts'
import type { Context } from '../../kernel/context.ts'
import { fail } from '../../kernel/errors.ts'
import type { Env } from '../envs/scope.ts'
import { countOf, lockCount } from './store.ts'

declare module '../../kernel/context.ts' {
  interface Context {
    room: Room
  }
}

/** How much may still be written into environments before somebody has to count again. */
export interface Room {
  /** Takes a write from what memory knows to be free; false where it does not know. */
  take(environmentId: string, bytes: number): boolean
  counted(environmentId: string, free: Free): void
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
/** Others write too. */
const trustedMs = 60_000
const rememberedMax = 10_000

export function openRoom(now: () => Date): Room {
  const known = new Map<string, Free & { untilMs: number }>()
  return {
    take(environmentId, bytes) {
      const free = known.get(environmentId)
      if (!free || free.untilMs < now().getTime() || free.secrets < 1 || free.bytes < bytes) return false
      // As if it were a new one: what a write replaces is found at the next count.
      free.secrets--
      free.bytes -= bytes
      return true
    },
    counted(environmentId, { secrets, bytes }) {
      if (known.size >= rememberedMax) known.clear()
      const untilMs = now().getTime() + trustedMs
      known.set(environmentId, { secrets: Math.floor(secrets / share), bytes: Math.floor(bytes / share), untilMs })
    },
  }
}

/**
 * Refuses what would make an environment larger than a re-key takes in one request. Counted only where memory does not know
 * of room: then those who write there wait for each other, so that many at once do not fill one last place.
 */
export async function checkRoom(
  context: Pick<Context, 'config' | 'room'>,
  db: Tx,
  env: Env,
  { name, bytes }: { name: string; bytes: number },
): Promise<void> {
  if (context.room.take(env.id, bytes)) return
  const { environmentSecretsMax, environmentBytesMax } = context.config
  await lockCount(db, env)
  const is = await countOf(db, env.orgId, env.id, name)
  const secrets = is.secrets + (is.replaces === null ? 1 : 0)
  const after = is.bytes + bytes - (is.replaces ?? 0)
  if (is.replaces === null && secrets > environmentSecretsMax)
    throw fail('quota_exceeded', `the environment holds ${is.secrets} secrets, and may hold ${environmentSecretsMax}`)
  // What makes it no larger is taken: it may be from before the limit.
  if (bytes > (is.replaces ?? 0) && after > environmentBytesMax)
    throw fail('quota_exceeded', `the environment would hold ${after} bytes, and may hold ${environmentBytesMax}`)
  context.room.counted(env.id, { secrets: environmentSecretsMax - secrets, bytes: environmentBytesMax - after })
}

/** The same for a write that shares a statement: false where it has to go the long way, which says what stands against it. */
export async function hasRoom(
  { config, db, room }: Pick<Context, 'config' | 'db' | 'room'>,
  { orgId, environmentId, name, bytes }: { orgId: string; environmentId: string; name: string; bytes: number },
): Promise<boolean> {
  if (room.take(environmentId, bytes)) return true
  const is = await countOf(db, orgId, environmentId, name)
  const free = { secrets: config.environmentSecretsMax - is.secrets, bytes: config.environmentBytesMax - is.bytes }
  room.counted(environmentId, free)
  return room.take(environmentId, bytes)
}
