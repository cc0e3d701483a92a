import type { envs } from '@skerry/contract/envs/endpoints'
import { pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { deleteEnvironment, renameEnvironment } from '../../model/environments/write.ts'
import { isAdmin } from '../orgs/scope.ts'
import { toResponse } from './create.ts'
import { type InEnv, protectedBranch } from './scope.ts'
import { listGrantees } from './store.ts'

export async function get({ env }: In<typeof envs.get, InEnv>): Out<typeof envs.get> {
  return { environment: toResponse(env) }
}

export async function update({ db, env, body, now, audit }: In<typeof envs.update, InEnv>): Out<typeof envs.update> {
  const environment = await renameEnvironment(db, env, body.name, now)
  if (!environment) throw fail('not_found', 'no such env')
  audit('env.updated', env.id, { name: body.name })
  return { environment }
}

/** Deletes an environment with its branches, secrets, history, key grants, compositions and bound service tokens. */
export async function remove(input: In<typeof envs.delete, InEnv>): Out<typeof envs.delete> {
  const { context, db, env, role, origin, audit } = input
  const deleted = await deleteEnvironment(db, env)
  if (!deleted) throw fail('not_found', 'no such env')
  // Protection may have begun after the access check.
  if (deleted.isProtected && !isAdmin({ role })) throw protectedBranch()
  const { slug, parentEnvironmentId, applicationId, groupId } = env
  if (parentEnvironmentId) audit('branch.deleted', env.id, { slug, parentEnvironmentId })
  else audit('env.deleted', env.id, { slug, applicationId, groupId })
  const cause = parentEnvironmentId ? 'branch.deleted' : 'env.deleted'
  await context.environmentsEnded(context, db, origin, env.orgId, { cause, causeId: env.id })
  return { ok: true }
}

export async function grantees({ db, env, query, now }: In<typeof envs.grantees, InEnv>): Out<typeof envs.grantees> {
  const cursor = pageFrom(query, 'keyGrant')
  const page = pageOf(await listGrantees(db, env, now, cursor), cursor, (row) => [row.createdAt, row.id])
  return { grantees: page.rows.map(({ createdAt, id, ...grantee }) => grantee), nextCursor: page.nextCursor }
}
