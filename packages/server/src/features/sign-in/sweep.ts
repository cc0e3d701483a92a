import type { Context } from '../../http/context.ts'
import { deleteExpiredChallenges } from '../../identity/passkey-store.ts'
import { deleteOldSessions } from '../../identity/session-store.ts'
import { deleteOldSigningKeys } from '../../identity/session-tokens.ts'
import { after } from '../../identity/sessions.ts'
import { deleteEndedAttempts } from '../../identity/throttle.ts'
import { instant } from '../../kernel/context.ts'
import { deleteExpired } from './store.ts'

const keptSeconds = 86_400

/** Deletes what has expired: links, challenges, attempts, sessions and signing keys. */
export async function sweepSignIn(context: Context): Promise<void> {
  const now = instant(context)
  await deleteExpired(context.db, now)
  await deleteExpiredChallenges(context.db, now)
  await deleteEndedAttempts(context.db, now)
  await deleteOldSessions(context.db, after(now, -keptSeconds))
  await deleteOldSigningKeys(context.db, context.now())
}
