import type { apps } from '@skerry/contract/apps/endpoints'
import type { branches } from '@skerry/contract/branches/endpoints'
import { limits } from '@skerry/contract/limits'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { deleteExpiredBranch } from '../../model/environments/write.ts'
import type { App } from '../apps/scope.ts'
import { makeEnv, toResponse } from '../envs/create.ts'
import { giveFirstKeys, grantToCreator } from '../envs/give.ts'
import type { InEnv } from '../envs/scope.ts'
import type { InOrg } from '../orgs/scope.ts'
import { coverNew } from '../recovery/covering.ts'
import { listAppBranches, listBranches, lockHolders } from './store.ts'

export async function list({ db, env, query, now }: In<typeof branches.list, InEnv>): Out<typeof branches.list> {
  const cursor = pageFrom(query, 'environment')
  const page = pageOf(await listBranches(db, env, now, cursor), cursor, byCreation)
  return { branches: page.rows, nextCursor: page.nextCursor }
}

export async function listOfApp(input: In<typeof apps.branches, InOrg & { app: App }>): Out<typeof apps.branches> {
  const { db, app, query, now } = input
  const cursor = pageFrom(query, 'environment')
  const page = pageOf(await listAppBranches(db, app, now, cursor), cursor, byCreation)
  return { branches: page.rows, nextCursor: page.nextCursor }
}

/**
 * Creates a branch, which contains only values that differ. Its key goes to the caller, and to others only if they can
 * read the parent. A branch starts with its parent's protection: otherwise a fork would be a way to change values
 * without approval.
 */
export async function create(input: In<typeof branches.create, InEnv>): Out<typeof branches.create> {
  const { context, db, env, principal, origin, body, now, newId, audit } = input
  if (env.applicationId === null || env.parentEnvironmentId !== null)
    throw fail(
      'invalid_request',
      'a branch is forked from an environment of an application that is not itself a branch',
    )
  const grants = await checkGrants(input)
  const expired = await deleteExpiredBranch(db, env, body.slug, now)
  if (expired) {
    audit('branch.expired', expired.id, {
      slug: body.slug,
      parentEnvironmentId: env.id,
      expiresAt: expired.expiresAt,
    })
    await context.environmentsEnded(context, db, origin, env.orgId, { cause: 'branch.expired', causeId: expired.id })
  }
  const branch = await makeEnv(db, {
    orgId: env.orgId,
    id: body.id ?? newId('environment'),
    applicationId: env.applicationId,
    groupId: null,
    parentEnvironmentId: env.id,
    name: body.name ?? body.slug,
    slug: body.slug,
    expiresAt: expiry(body.ttlSeconds, now),
    protection: env.protection,
    manifest: body.manifest ?? null,
    now,
  })
  const given = [grantToCreator(principal, body.wrappedDek), ...grants]
  await giveFirstKeys(input, { orgId: env.orgId, id: branch.id }, given)
  await coverNew(input, { orgId: env.orgId, id: branch.id }, body.recoveryWrappedDek)
  const metadata = {
    slug: branch.slug,
    parentEnvironmentId: env.id,
    expiresAt: branch.expiresAt,
    grants: grants.length,
    grantedTo: given.map(({ principalType, principalId }) => ({ principalType, principalId })),
    ...(env.protection && { protection: env.protection }),
  }
  audit('branch.created', branch.id, metadata)
  return { branch: toResponse(branch) }
}

function expiry(ttlSeconds: number | null | undefined, now: string): string | null {
  if (ttlSeconds === null) return null
  return new Date(Date.parse(now) + (ttlSeconds ?? limits.branchTtlDefaultSeconds) * 1000).toISOString()
}

/**
 * Forking must not widen who can read, so each grant has to name a holder on the parent, and only once. A client that
 * wraps to all holders also names the caller. That grant is left out, because the body has the caller's key already.
 */
async function checkGrants({ db, env, principal, body, now }: In<typeof branches.create, InEnv>) {
  const grants = body.grants ?? []
  const holders = new Set((await lockHolders(db, env, now)).map(key))
  const seen = new Set<string>()
  for (const [index, grant] of grants.entries()) {
    if (!holders.has(key(grant)))
      throw fail('invalid_request', `body.grants.${index}: ${grant.principalId} holds no key grant on the parent`)
    if (seen.has(key(grant))) throw fail('invalid_request', `body.grants.${index}: ${grant.principalId} is named twice`)
    seen.add(key(grant))
  }
  const own = key({ principalType: principal.type, principalId: principal.id })
  return grants.filter((grant) => key(grant) !== own)
}

const key = (grant: { principalType: string; principalId: string }) => `${grant.principalType} ${grant.principalId}`
