import type { rekey } from '@skerry/contract/rekey/endpoints'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { supersedeAll } from '../changes/notices.ts'
import { checkBody, checkCurrent, lockKeyed } from '../changes/rekey/checks.ts'
import { replaceKey } from '../changes/rekey/replace.ts'
import { toResponse } from '../envs/create.ts'
import type { InEnv } from '../envs/scope.ts'

/**
 * Replaces the key: every current ciphertext and every wrapped key at once, or nothing. The secrets must be exactly
 * what the caller has seen, and stay so until commit.
 *
 * A re-key writes every value anew, so in a protected environment it would bypass all approvals. There it is proposed as a
 * change (`changes/rekeys.ts`).
 */
export async function run(input: In<typeof rekey.run, InEnv>): Out<typeof rekey.run> {
  const { db, env, principal, body, now, audit } = input
  checkBody(body, principal)
  const keyed = await lockKeyed(db, env, now)
  if (keyed.protection !== null)
    throw fail('conflict', 'this environment is protected: propose the re-key as a change, which waits for approval')
  checkCurrent(env, body, principal, keyed)
  const { facts, ...counts } = await replaceKey(input, env, { body, author: principal, keyed })
  await supersedeAll(input, env)
  audit('env.rekeyed', env.id, facts)
  return { environment: toResponse(env), ...counts }
}
