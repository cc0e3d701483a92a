import type { protection as endpoints } from '@skerry/contract/changes/endpoints'
import { limits } from '@skerry/contract/limits'
import type { In, Out } from '../../http/route.ts'
import { userAgentOf } from '../../kernel/audit.ts'
import { fail } from '../../kernel/errors.ts'
import { findEnvironmentLabel } from '../../model/environments/label.ts'
import { lockEnvironment } from '../../model/environments/table.ts'
import { putProtection } from '../../model/environments/write.ts'
import { findName } from '../../model/people/names.ts'
import type { InEnv } from '../envs/scope.ts'
import { countOpen } from './store.ts'

export async function get({ db, env }: In<typeof endpoints.get, InEnv>): Out<typeof endpoints.get> {
  return { protection: env.protection, openChangeRequests: await countOpen(db, env) }
}

/**
 * A setting that the body leaves out gets its default when protection begins, and stays unchanged later. Queued changes
 * keep the settings of their proposal, so looser or stricter settings do not affect them. A direct write that is in
 * progress when protection begins still completes, and supersedes what was proposed before it.
 */
export async function put({ db, env, body, audit }: In<typeof endpoints.put, InEnv>): Out<typeof endpoints.put> {
  const there = await lockEnvironment(db, env, 'no key update')
  if (!there) throw fail('not_found', 'no such env')
  const before = there.protection
  const protection = {
    requiredApprovals: limits.requiredApprovalsDefault,
    allowSelfApproval: false,
    ...before,
    ...body,
  }
  await putProtection(db, env, protection)
  audit(before ? 'env.protection_updated' : 'env.protection_enabled', env.id, protection)
  return { protection }
}

/**
 * Queued changes stay queued, because one approver must not release them all at once. From now on one admin may change
 * every value, so all admins are notified, also the one who did it: somebody else may have used that session.
 */
export async function remove(input: In<typeof endpoints.delete, InEnv>): Out<typeof endpoints.delete> {
  const { db, env, principal, origin, audit, emit } = input
  const before = (await lockEnvironment(db, env, 'no key update'))?.protection
  if (!before) return { ok: true }
  await putProtection(db, env, null)
  audit('env.protection_disabled', env.id, before)
  const { ipAddress } = origin
  await emit('env.protection_disabled', {
    environmentId: env.id,
    environment: await findEnvironmentLabel(db, env.orgId, env.id),
    by: await findName(db, env.orgId, principal),
    ipAddress,
    userAgent: userAgentOf(origin),
  })
  return { ok: true }
}
