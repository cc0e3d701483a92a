import { deleteOldInvalidations } from '../db/invalidations.ts'
import { expireBranches } from '../features/branches/jobs.ts'
import { sweepCliLogins } from '../features/cli-login/jobs.ts'
import { mailLink, mailWithLink } from '../features/sign-in/link-mail.ts'
import { sweepSignIn } from '../features/sign-in/sweep.ts'
import { deleteExpiredAccessTokens } from '../identity/store.ts'
import { type Context, instant } from '../kernel/context.ts'
import { openMail } from './mail.ts'
import { maintain } from './maintain.ts'
import type { Handlers } from './queue.ts'

/** What each job does. */
export function handlers(context: Context): Handlers {
  const mail = openMail(context.config)
  return {
    mail: ({ signsIn, ...letter }) => (signsIn ? mailWithLink(context, mail, letter) : mail(letter)),
    'sign_in.link': (request) => mailLink(context, mail, request),
    'branches.expire': () => expireBranches(context),
    sweep: async () => {
      await deleteOldInvalidations(context.db)
      await deleteExpiredAccessTokens(context.db, instant(context))
      await sweepCliLogins(context)
      await sweepSignIn(context)
    },
    maintain: () => maintain(context),
  }
}
