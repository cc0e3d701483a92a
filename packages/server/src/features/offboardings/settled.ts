import type { Tx } from '../../db/database.ts'
import { settleRekeyed } from './store.ts'

/**
 * Marks the rows of an environment that is about to get a new key. A re-key by the person who leaves, or with a token of
 * theirs, settles nothing, because they know the new key. Call it before the secrets are written anew: a re-key writes a
 * version of each secret, which is no new value.
 */
export const settleRows = (
  { db, principal, now }: { db: Tx; principal: { type: string; id: string }; now: string },
  env: { orgId: string; id: string },
): Promise<void> => settleRekeyed(db, env, principal, now)
