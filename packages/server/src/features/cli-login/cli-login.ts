import type { cliLogin } from '@skerry/contract/cli-login/endpoints'
import { limits } from '@skerry/contract/limits'
import type { Tx } from '../../db/database.ts'
import type { In, Out } from '../../http/route.ts'
import { auditUser } from '../../identity/audit-user.ts'
import { returnAttempt, takeAttempt } from '../../identity/throttle.ts'
import { CommittedRefusal, fail, refuseAndCommit } from '../../kernel/errors.ts'
import type { UserPrincipal } from '../../kernel/principal.ts'
import { insertCliSession } from '../../model/people/cli-sessions.ts'
import { newCode } from './code.ts'
import { decided, statusOf } from './lifecycle.ts'
import {
  findRequest,
  getApproved,
  insertRequest,
  isCodeTaken,
  type LoginRequest,
  lockRequest,
  updateRequest,
} from './store.ts'

interface Person {
  principal: UserPrincipal
}

const later = (now: string, seconds: number) => new Date(Date.parse(now) + seconds * 1000).toISOString()

/** The device keeps the secret behind the hash. Nothing here is a credential until somebody approves. */
export async function create(input: In<typeof cliLogin.create>): Out<typeof cliLogin.create> {
  const { code, expiresAt } = await insertUnderFreeCode(input)
  return {
    code,
    verifyUrl: `${input.context.config.baseUrl}/cli/${code}`,
    requestExpiresAt: expiresAt,
    pollIntervalSeconds: limits.cliLoginPollSeconds,
  }
}

const codeAttempts = 5

async function insertUnderFreeCode({ db, body, now, origin }: In<typeof cliLogin.create>): Promise<LoginRequest> {
  const { sessionId, tokenHash, deviceLabel, client = null } = body
  const expiresAt = later(now, limits.cliLoginTtlSeconds)
  const { ipAddress } = origin
  for (let attempt = 1; attempt <= codeAttempts; attempt++) {
    const code = newCode()
    const request = { code, sessionId, tokenHash, deviceLabel, client, ipAddress, createdAt: now, expiresAt }
    const inserted = await insertRequest(db, request)
    if (inserted) return inserted
    if (!(await isCodeTaken(db, code))) break
  }
  throw fail('conflict', 'body.sessionId: it or its hash was already used')
}

type Tried = Pick<In<typeof cliLogin.poll>, 'principal' | 'origin' | 'now'>

/** Finds the request of a code. A wrong code stays counted as a try. */
async function requestOf(
  db: Tx,
  { principal, origin, now }: Tried,
  code: string,
  find: typeof lockRequest,
): Promise<LoginRequest | CommittedRefusal> {
  const caller = principal?.id ?? origin.ipAddress ?? ''
  await takeAttempt(db, 'cli_code', caller, now)
  const request = await find(db, code)
  if (!request) return refuseAndCommit('not_found', 'no such request')
  returnAttempt(db, 'cli_code', caller)
  return request
}

export async function poll(input: In<typeof cliLogin.poll>): Out<typeof cliLogin.poll> {
  const { db, body, now } = input
  const request = await requestOf(db, input, body.code, findRequest)
  if (request instanceof CommittedRefusal) return request
  const status = statusOf(request, now)
  if (status !== 'approved') return { status }
  const { sessionId } = request
  return { status, sessionId, ...(await getApproved(db, sessionId)) }
}

export async function get(input: In<typeof cliLogin.get, Person>): Out<typeof cliLogin.get> {
  const { db, params, now } = input
  const found = await requestOf(db, input, params.code, findRequest)
  if (found instanceof CommittedRefusal) return found
  const { code, deviceLabel, client, ipAddress, createdAt, expiresAt: requestExpiresAt } = found
  const status = statusOf(found, now)
  return { request: { code, status, deviceLabel, client, ipAddress, createdAt, requestExpiresAt } }
}

/** From now on the registered hash is a credential of the person who approves. */
export async function approve(input: In<typeof cliLogin.approve, Person>): Out<typeof cliLogin.approve> {
  const { db, principal, params, now } = input
  const request = await requestOf(db, input, params.code, lockRequest)
  if (request instanceof CommittedRefusal) return request
  await updateRequest(db, request.code, decided(request, 'approve', now))
  const { sessionId: id, deviceLabel, client, ipAddress } = request
  const expiresAt = later(now, limits.cliSessionTtlSeconds)
  await insertCliSession(
    db,
    request,
    { userId: principal.id, session: principal.session },
    { createdAt: now, expiresAt },
  )
  await auditUser(input, principal.id, 'cli_session.approved', id, { deviceLabel, client, ipAddress, expiresAt })
  const userId = principal.id
  await input.emit('cli_session.approved', { sessionId: id, userId, deviceLabel, client, ipAddress, expiresAt })
  return { session: { id, expiresAt } }
}

export async function deny(input: In<typeof cliLogin.deny, Person>): Out<typeof cliLogin.deny> {
  const { db, principal, params, now } = input
  const request = await requestOf(db, input, params.code, lockRequest)
  if (request instanceof CommittedRefusal) return request
  await updateRequest(db, request.code, decided(request, 'deny', now))
  const { sessionId, deviceLabel, client, ipAddress } = request
  await auditUser(input, principal.id, 'cli_session.denied', sessionId, { deviceLabel, client, ipAddress })
  return { ok: true }
}
