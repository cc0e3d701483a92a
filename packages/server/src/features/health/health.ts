import { setTimeout as after } from 'node:timers/promises'
import type { health } from '@skerry/contract/health'
import { pendingMigrations } from '../../db/migrate.ts'
import type { In, Out } from '../../http/route.ts'
import type { Context } from '../../kernel/context.ts'
import { fail } from '../../kernel/errors.ts'

export async function live(_: In<typeof health.live>): Out<typeof health.live> {
  return { status: 'ok' }
}

/** The caller is what directs traffic, such as a load balancer: a database that does not answer must not keep it waiting. */
const answerWithinMs = 2000

/** Says no, and not more: the reason is for the log, not for everyone who can reach this path. */
export async function ready({ context }: In<typeof health.ready>): Out<typeof health.ready> {
  const late = new AbortController()
  const reason = await Promise.race([
    whyNotReady(context).catch(() => noAnswer),
    after(answerWithinMs, noAnswer, { signal: late.signal }).catch(() => noAnswer),
  ])
  late.abort()
  if (reason !== null) throw fail('internal', `not ready: ${reason}`)
  return { status: 'ready' }
}

const noAnswer = 'the database does not answer'

async function whyNotReady({ db: { watch: db }, fullDisk }: Context): Promise<string | null> {
  if (fullDisk.isFull()) return 'the disk of the database is full'
  if ((await pendingMigrations(db)).length > 0) return 'the database schema is not up to date'
  // As one that was the primary until a moment ago does.
  const state = await db.row<{ value: string }>(`select current_setting('transaction_read_only') as value`)
  return state?.value === 'off' ? null : 'the database takes no writes'
}
