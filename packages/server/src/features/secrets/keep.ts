import { limits } from '@skerry/contract/limits'
import type { Tx } from '../../db/database.ts'
import { fail } from '../../kernel/errors.ts'
import { type DeletedRow, keepSecret } from '../../model/secrets/deleted.ts'
import type { Env } from '../envs/scope.ts'
import { countDeleted } from './deleted-store.ts'

const dayMs = 86_400_000

/** Deletes a secret so that it can be restored. Lock the environment, then the secret, first. */
export async function keepDeleted(
  db: Tx,
  env: Env,
  secretId: string,
  { keepFor, author, now }: { keepFor: string; author: { type: string; id: string }; now: string },
): Promise<DeletedRow> {
  const kept = await countDeleted(db, env)
  if (kept >= limits.deletedSecretsMax)
    throw fail(
      'quota_exceeded',
      `the environment keeps ${kept} deleted secrets, and may keep ${limits.deletedSecretsMax}: purge some, or delete without keepFor`,
    )
  const keptUntil = new Date(Date.parse(now) + Number.parseInt(keepFor, 10) * dayMs).toISOString()
  return keepSecret(db, env, secretId, { author, now, keptUntil })
}
