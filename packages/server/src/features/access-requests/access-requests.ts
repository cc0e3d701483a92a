import type { accessRequests } from '@skerry/contract/access-requests/endpoints'
import { limits } from '@skerry/contract/limits'
import { byCreation, pageFrom, pageOf } from '../../http/page.ts'
import type { In, Out } from '../../http/route.ts'
import { after } from '../../identity/sessions.ts'
import { takeAttempt } from '../../identity/throttle.ts'
import { fail } from '../../kernel/errors.ts'
import type { UserPrincipal } from '../../kernel/principal.ts'
import { lockMember } from '../../model/people/memberships.ts'
import { findName } from '../../model/people/names.ts'
import { type InOrg, isAdmin } from '../orgs/scope.ts'
import { requestLifecycle } from './lifecycle.ts'
import type { OnRequest } from './scope.ts'
import { closeRequest, countOpen, getRequest, insertRequest, listRequests, listWanted } from './store.ts'

export async function list(input: In<typeof accessRequests.list, InOrg>): Out<typeof accessRequests.list> {
  const { db, org, principal, query, now } = input
  const cursor = pageFrom(query, 'accessRequest')
  const userId = isAdmin(input) ? null : principal.id
  const seen = { userId, status: query.status ?? 'any', now } as const
  const page = pageOf(await listRequests(db, input, seen, cursor), cursor, byCreation)
  return { requests: page.rows, open: await countOpen(db, org, userId, now), nextCursor: page.nextCursor }
}

export async function get({ accessRequest }: In<typeof accessRequests.get, OnRequest>): Out<typeof accessRequests.get> {
  return { request: accessRequest }
}

type InPerson = InOrg & { principal: UserPrincipal }

export async function create(input: In<typeof accessRequests.create, InPerson>): Out<typeof accessRequests.create> {
  const { context, db, org, principal, body, now, newId, audit, emit } = input
  const { environmentIds, reason = null, forSeconds = null } = body
  // Requests of one person at the same time wait here for each other.
  if (!(await lockMember(db, org, principal.id, 'no key update'))) throw fail('not_found', 'no such org')
  const labels = await checkWanted(input)
  if ((await countOpen(db, org, principal.id, now)) >= limits.accessRequestsOpenMax)
    throw fail('conflict', `${limits.accessRequestsOpenMax} of your requests are open: withdraw one first`)
  if (context.config.rateLimits) await takeAttempt(db, 'access_request', `${org.id} ${principal.id}`, now)
  const id = newId('accessRequest')
  const expiresAt = after(now, limits.accessRequestTtlSeconds)
  await insertRequest(db, org, { id, userId: principal.id, reason, forSeconds, environmentIds, now, expiresAt })
  audit('access_request.opened', id, {
    userId: principal.id,
    environmentIds,
    reason,
    ...(forSeconds === null ? {} : { forSeconds }),
  })
  const person = await findName(db, org.id, principal)
  await emit('access_request.opened', { requestId: id, userId: principal.id, person, environments: labels, reason })
  return { request: await getRequest(db, input, id, now) }
}

/** Returns the labels of the environments. A request for a key that the person has would never be answered. */
async function checkWanted(input: In<typeof accessRequests.create, InPerson>): Promise<string[]> {
  const { db, org, principal, body, now } = input
  const found = await listWanted(db, org, principal.id, body.environmentIds, now)
  if (found.length < body.environmentIds.length) throw fail('not_found', 'body.environmentIds: no such env')
  for (const { label, held, asked } of found) {
    if (held) throw fail('conflict', `you hold the key of ${label} already`)
    if (asked) throw fail('conflict', `you asked for ${label} already`)
  }
  return found.map(({ label }) => label)
}

export async function decline(input: In<typeof accessRequests.decline, OnRequest>): Out<typeof accessRequests.decline> {
  const { db, org, principal, accessRequest, body, now, audit, emit } = input
  const { id, userId, environments } = accessRequest
  const { reason = null } = body
  requestLifecycle.check(accessRequest.status, 'decline')
  if (!(await closeRequest(db, org, id, { status: 'declined', by: principal, answer: reason, now })))
    throw fail('conflict', 'the access request is no longer open')
  audit('access_request.declined', id, { userId, reason })
  const labels = environments.filter(({ granted }) => !granted).map(({ label }) => label)
  const closedBy = await findName(db, org.id, principal)
  await emit('access_request.closed', {
    requestId: id,
    userId,
    status: 'declined',
    environments: labels,
    closedBy,
    answer: reason,
  })
  return { request: await getRequest(db, input, id, now) }
}

export async function withdraw(
  input: In<typeof accessRequests.withdraw, OnRequest>,
): Out<typeof accessRequests.withdraw> {
  const { db, org, principal, accessRequest, now, audit } = input
  const { id, userId } = accessRequest
  requestLifecycle.check(accessRequest.status, 'withdraw')
  if (!(await closeRequest(db, org, id, { status: 'withdrawn', by: principal, answer: null, now })))
    throw fail('conflict', 'the access request is no longer open')
  audit('access_request.withdrawn', id, { userId })
  return { request: await getRequest(db, input, id, now) }
}
