import { setTimeout as after } from 'node:timers/promises'
import type { health } from '@skerry/contract/signup'
import { pendingMigrations } from '../../db/migrate.ts'
import { fail } from '../../http/errors.ts'
import type { In, Out } from '../../http/route.ts'

export async function live(_: In<typeof health.live>): Out<typeof health.live> {
  return { status: 'ok' }
}

/** Whoever asks decides where traffic goes: a database that has fallen silent must not keep them waiting. */
const answerWithinMs = 2000

/** Says no, and not more: the reason is for the log, not for whoever can reach this path. */
export async function ready({ context }: In<typeof health.ready>): Out<typeof health.ready> {
  const late = new AbortController()
  const pending = await Promise.race([
    pendingMigrations(context.db).catch(() => null),
    after(answerWithinMs, null, { signal: late.signal }).catch(() => null),
  ])
  late.abort()
  if (pending === null) throw fail('internal', 'not ready: the database does not answer')
  if (pending.length > 0) throw fail('internal', 'not ready: the database schema is not up to date')
  return { status: 'ready' }
}
