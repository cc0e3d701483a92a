import type { protection as endpoints } from '@skerry/contract/changes'
import { limits } from '@skerry/contract/limits'
import type { In, Out } from '../../http/route.ts'
import type { InEnv } from '../envs/scope.ts'
import { countOpen, lockProtection, writeProtection } from './store.ts'

export async function get({ db, env }: In<typeof endpoints.get, InEnv>): Out<typeof endpoints.get> {
  return { protection: env.protection, openChangeRequests: await countOpen(db, env) }
}

/**
 * What is not given takes its default when protection begins, and stays as it is afterwards. Changes that wait keep the
 * settings that they were proposed under, so neither loosening nor tightening touches them. A direct write that was
 * under way when protection began still lands; what was proposed before it did is then superseded.
 */
export async function put({ db, env, body, audit }: In<typeof endpoints.put, InEnv>): Out<typeof endpoints.put> {
  const before = await lockProtection(db, env)
  const protection = {
    requiredApprovals: limits.requiredApprovalsDefault,
    allowSelfApproval: false,
    ...before,
    ...body,
  }
  await writeProtection(db, env, protection)
  audit(before ? 'env.protection_updated' : 'env.protection_enabled', env.id, protection)
  return { protection }
}

/** Queued changes stay queued: to release them all at once is not what one approver may do. */
export async function remove({ db, env, audit }: In<typeof endpoints.delete, InEnv>): Out<typeof endpoints.delete> {
  const before = await lockProtection(db, env)
  if (!before) return { ok: true }
  await writeProtection(db, env, null)
  audit('env.protection_disabled', env.id, before)
  return { ok: true }
}
