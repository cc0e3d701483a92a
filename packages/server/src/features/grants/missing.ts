import type { grants } from '@skerry/contract/grants/endpoints'
import { limits } from '@skerry/contract/limits'
import { pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { lockEnvironments } from '../../model/environments/table.ts'
import { lockOrg } from '../../model/organizations/table.ts'
import { lockMember } from '../../model/people/memberships.ts'
import { replacePlan } from '../../model/teams/write.ts'
import { type InOrg, isAdmin } from '../orgs/scope.ts'
import { listMissing } from './missing-store.ts'
import { isMember, listPlanned } from './plan-store.ts'

/** Lists the keys that people shall get and do not have. Members who are not admins see the keys that they wait for. */
export async function missing(input: In<typeof grants.missing, InOrg>): Out<typeof grants.missing> {
  const { db, org, principal, query, now } = input
  const cursor = pageFrom(query, 'missing', limits.missingGrantsDefault)
  const { teamId } = query
  const userId = isAdmin(input) ? query.userId : principal.id
  if (query.userId !== undefined && query.userId !== userId)
    throw fail('forbidden', 'only admins may list the missing keys of others')
  const rows = await listMissing(db, org, principal, { teamId, userId, now }, cursor)
  const page = pageOf(rows, cursor, (row) => [row.environmentCreatedAt, `${row.environmentId}.${row.principalId}`])
  return {
    missing: page.rows.map(({ environmentCreatedAt: _, ...row }) => row),
    nextCursor: page.nextCursor,
  }
}

/** Lists the planned keys of a person. A member sees the keys that they wait for in `missing`. */
export async function planned({ db, org, params }: In<typeof grants.planned, InOrg>): Out<typeof grants.planned> {
  if (!(await isMember(db, org, params.userId))) throw fail('not_found', 'no such member')
  return { environmentIds: await listPlanned(db, org, params.userId) }
}

/** Plans keys for a person without a team. A key that the person holds needs no plan. */
export async function plan(input: In<typeof grants.plan, InOrg>): Out<typeof grants.plan> {
  const { db, org, params, body, now, audit } = input
  await lockOrg(db, org)
  if (!(await lockMember(db, org, params.userId, 'key share'))) throw fail('not_found', 'no such member')
  const there = await lockEnvironments(db, org.id, body.environmentIds, now)
  const gone = body.environmentIds.findIndex((id) => !there.has(id))
  if (gone >= 0) throw fail('not_found', `body.environmentIds.${gone}: no such env`)
  const person = { orgId: org.id, userId: params.userId }
  const changed = await replacePlan(db, person, body.environmentIds, now)
  const environmentIds = await listPlanned(db, org, params.userId)
  if (changed) audit('grant.planned', params.userId, { environmentIds })
  return { environmentIds }
}
