import { type Context, instant } from '../../http/context.ts'
import { deleteEndedRequests, deleteOldTries } from './store.ts'

/** A device that asks late is still told that its request has ended; and no window of tries is longer. */
const keptSeconds = 3600

/** Forgets requests that have ended, decided or not, and tries of codes that count no more. Sessions stay. */
export async function sweepCliLogins(context: Context): Promise<void> {
  const before = new Date(Date.parse(instant(context)) - keptSeconds * 1000).toISOString()
  await deleteEndedRequests(context.db, before)
  await deleteOldTries(context.db, before)
}
