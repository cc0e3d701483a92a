import type { health } from '@skerry/contract/signup'
import { pendingMigrations } from '../../db/migrate.ts'
import { fail } from '../../http/errors.ts'
import type { In, Out } from '../../http/route.ts'

export async function live(_: In<typeof health.live>): Out<typeof health.live> {
  return { status: 'ok' }
}

/** Says no, and not more: the reason is for the log, not for whoever can reach this path. */
export async function ready({ context }: In<typeof health.ready>): Out<typeof health.ready> {
  const pending = await pendingMigrations(context.db).catch(() => null)
  if (pending === null) throw fail('internal', 'not ready: the database does not answer')
  if (pending.length > 0) throw fail('internal', 'not ready: the database schema is not up to date')
  return { status: 'ready' }
}
