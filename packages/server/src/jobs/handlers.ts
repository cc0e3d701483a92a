import { deleteOldChanges } from '../db/invalidations.ts'
import { expireBranches } from '../features/branches/jobs.ts'
import { type Context, instant } from '../http/context.ts'
import { deleteExpiredAccessTokens } from '../identity/store.ts'
import { openMail } from './mail.ts'
import { maintain } from './maintain.ts'
import type { Handlers } from './queue.ts'

/** What each job does. */
export function handlers(context: Context): Handlers {
  return {
    mail: openMail(context.config),
    'branches.expire': () => expireBranches(context),
    sweep: async () => {
      await deleteOldChanges(context.db)
      await deleteExpiredAccessTokens(context.db, instant(context))
    },
    maintain: () => maintain(context),
  }
}
