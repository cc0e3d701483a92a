import { setTimeout as after } from 'node:timers/promises'
import type { health } from '@skerry/contract/health/endpoints'
import { findSchemaFault } from '../../db/migrate.ts'
import type { Context } from '../../http/context.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'

export async function live(_: In<typeof health.live>): Out<typeof health.live> {
  return { status: 'ok' }
}

/**
 * Tells load balancers whether to send requests here. A database that accepts no writes still counts as ready, because
 * most requests are reads.
 */
export async function ready({ context }: In<typeof health.ready>): Out<typeof health.ready> {
  await refuseWhere(whyNoReads(context))
  return { status: 'ready' }
}

export async function readyWrites({ context }: In<typeof health.readyWrites>): Out<typeof health.readyWrites> {
  await refuseWhere(whyNoWrites(context))
  return { status: 'ready' }
}

/** Callers such as load balancers direct traffic, so a database that does not answer must not keep them waiting. */
const answerWithinMs = 2000

const noAnswer = 'the database does not answer'

/** Refuses with only the kind of reason. Details are for the log, because everyone can reach this path. */
async function refuseWhere(asked: Promise<string | null>): Promise<void> {
  const late = new AbortController()
  const reason = await Promise.race([
    asked.catch(() => noAnswer),
    after(answerWithinMs, noAnswer, { signal: late.signal }).catch(() => noAnswer),
  ])
  late.abort()
  if (reason !== null) throw fail('unavailable', `not ready: ${reason}`)
}

/** Another release may have migrated the database, or somebody may have restored an older one, since this server started. */
const schemaFaults = {
  older: 'the database schema is older than this release; start the server again, which migrates it',
  newer: 'the database schema is newer than this release; start the newer release',
  different: 'the database schema belongs to another release; start the release that migrated it',
}

async function whyNoReads({ db: { watch: db } }: Context): Promise<string | null> {
  const fault = await findSchemaFault(db)
  return fault === null ? null : schemaFaults[fault]
}

async function whyNoWrites(context: Context): Promise<string | null> {
  const reason = await whyNoReads(context)
  if (reason !== null) return reason
  // A database that was the primary until a moment ago is read-only now.
  const state = await context.db.watch.row<{ value: string }>(
    `select current_setting('transaction_read_only') as value`,
  )
  if (state?.value !== 'off') return 'the database takes no writes'
  return (await context.fullDisk.isFull()) ? 'the disk of the database is full' : null
}
