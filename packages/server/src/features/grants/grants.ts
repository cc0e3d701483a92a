import type { grants } from '@skerry/contract/grants/endpoints'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { after } from '../../identity/sessions.ts'
import { fail } from '../../kernel/errors.ts'
import { lockEnvironment } from '../../model/environments/table.ts'
import { lockGrant } from '../../model/grants/table.ts'
import { giveGrant, revokeGrant } from '../../model/grants/write.ts'
import { lockOrg } from '../../model/organizations/table.ts'
import { closeAnswered } from '../access-requests/answered.ts'
import type { InEnv } from '../envs/scope.ts'
import type { InOrg } from '../orgs/scope.ts'
import { checkEnd } from './ends.ts'
import type { Grant } from './scope.ts'
import { findRecoveryOf, findUsableToken, holdsKeys, listAccess, listGrants, listReaders } from './store.ts'

export async function own({ env }: In<typeof grants.own, InEnv>): Out<typeof grants.own> {
  return { wrappedDek: env.wrappedDek as string }
}

export async function list({ db, env, query, now }: In<typeof grants.list, InEnv>): Out<typeof grants.list> {
  const cursor = pageFrom(query, 'keyGrant')
  const page = pageOf(await listGrants(db, env, now, cursor), cursor, byCreation)
  return { grants: page.rows, nextCursor: page.nextCursor }
}

/** Lists those who read through a grant, and those who could open the key together without one. */
export async function readers({ db, env, now }: In<typeof grants.readers, InEnv>): Out<typeof grants.readers> {
  return { readers: await listReaders(db, env, now), recovery: (await findRecoveryOf(db, env)) ?? null }
}

/** Lists who can read which environment. The wrapped keys are left out. */
export async function overview({
  db,
  org,
  query,
  now,
}: In<typeof grants.overview, InOrg>): Out<typeof grants.overview> {
  const cursor = pageFrom(query, 'keyGrant')
  const rows = await listAccess(db, org, { withBranches: query.branches === 'true', now }, cursor)
  const { rows: page, nextCursor } = pageOf(rows, cursor, ({ since, grantId }) => [since, grantId])
  return { access: page.map(({ grantId: _, ...access }) => access), nextCursor }
}

export async function create(input: In<typeof grants.create, InEnv>): Out<typeof grants.create> {
  const { db, org, env, principal, body, now } = input
  const { seconds, ...key } = body
  if (!(await lockEnvironment(db, env, 'key share'))) throw fail('not_found', 'no such env')
  const own = await lockGrant(db, env, { principalType: principal.type, principalId: principal.id }, now)
  if (own?.wrappedDek !== env.wrappedDek) throw fail('conflict', 'the key has been replaced in the meantime')
  const endsAt = seconds === undefined ? null : after(now, seconds)
  checkEnd(own.endsAt, endsAt)
  await checkGrantee(input)
  const grant = await giveGrant(input, env, { ...key, endsAt })
  if (!grant) throw fail('conflict', `${body.principalId} already has a key grant on this environment`)
  if (body.principalType === 'user') await closeAnswered(input, org.id, [grant])
  return { grant }
}

/**
 * A key goes only to someone of this organization who can use it. A bound token gets keys only of its environment, of
 * branches of that, and of groups, which are granted before they are composed. It gets no key of another application.
 */
async function checkGrantee({ db, org, env, body, now }: In<typeof grants.create, InEnv>) {
  if (body.principalType === 'user') {
    if (!(await holdsKeys(db, org, body.principalId)))
      throw fail('invalid_request', 'body.principalId: not a member who has uploaded keys')
    return
  }
  const token = await findUsableToken(db, org, body.principalId, now)
  if (!token) throw fail('invalid_request', 'body.principalId: is not a valid service token of this organization')
  const bound = token.environmentId
  const within = bound === null || env.groupId !== null || env.id === bound || env.parentEnvironmentId === bound
  // A token that is bound to a branch also reads the parent's layer.
  if (!within && env.id !== token.parentEnvironmentId)
    throw fail('invalid_request', 'body.principalId: this token is bound to another environment')
}

export async function remove(input: In<typeof grants.delete, InEnv & { grant: Grant }>): Out<typeof grants.delete> {
  // Keys that teams ask for are granted under this lock, so none of them follows the revocation.
  await lockOrg(input.db, input.org)
  await revokeGrant(input, input.env, input.grant)
  return { ok: true }
}
