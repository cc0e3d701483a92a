import type { cliLogin } from '@skerry/contract/cli-login'
import { limits } from '@skerry/contract/limits'
import { fail } from '../../http/errors.ts'
import type { UserPrincipal } from '../../http/principal.ts'
import type { In, Out } from '../../http/route.ts'
import { recordOfPerson } from '../me/trail.ts'
import { notifyUser } from '../notifications/notify.ts'
import { newCode } from './code.ts'
import { decided, statusOf } from './states.ts'
import {
  findRequest,
  getApproved,
  insertRequest,
  insertSession,
  isCodeTaken,
  type LoginRequest,
  lockRequest,
  updateRequest,
} from './store.ts'

interface Person {
  principal: UserPrincipal
}

const later = (now: string, seconds: number) => new Date(Date.parse(now) + seconds * 1000).toISOString()

/** The device keeps what the hash is of; until somebody approves, nothing here is a credential. */
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
  throw fail('conflict', 'body.sessionId: used already, or its hash is')
}

const noSuchRequest = () => fail('not_found', 'no such request')

export async function poll({ db, body, now }: In<typeof cliLogin.poll>): Out<typeof cliLogin.poll> {
  const request = await findRequest(db, body.code)
  if (!request) throw noSuchRequest()
  const status = statusOf(request, now)
  if (status !== 'approved') return { status }
  const { sessionId } = request
  return { status, sessionId, ...(await getApproved(db, sessionId)) }
}

export async function get({ db, params, now }: In<typeof cliLogin.get, Person>): Out<typeof cliLogin.get> {
  const found = await findRequest(db, params.code)
  if (!found) throw noSuchRequest()
  const { code, deviceLabel, client, ipAddress, createdAt, expiresAt: requestExpiresAt } = found
  const status = statusOf(found, now)
  return { request: { code, status, deviceLabel, client, ipAddress, createdAt, requestExpiresAt } }
}

/** From now on the registered hash is a credential of the person who says so. */
export async function approve(input: In<typeof cliLogin.approve, Person>): Out<typeof cliLogin.approve> {
  const { db, principal, params, now } = input
  const request = await lockRequest(db, params.code)
  if (!request) throw noSuchRequest()
  await updateRequest(db, request.code, decided(request, 'approve', now))
  const { sessionId: id, deviceLabel, client, ipAddress } = request
  const expiresAt = later(now, limits.cliSessionTtlSeconds)
  await insertSession(db, request, { userId: principal.id, session: principal.session }, { createdAt: now, expiresAt })
  await recordOfPerson(input, 'cli_session.approved', id, { deviceLabel, client, ipAddress, expiresAt })
  await notifyUser(input, principal.id, 'cli_session_approved', { deviceLabel, client, ipAddress, at: now, expiresAt })
  return { session: { id, expiresAt } }
}

export async function deny(input: In<typeof cliLogin.deny, Person>): Out<typeof cliLogin.deny> {
  const { db, params, now } = input
  const request = await lockRequest(db, params.code)
  if (!request) throw noSuchRequest()
  await updateRequest(db, request.code, decided(request, 'deny', now))
  const { sessionId, deviceLabel, client, ipAddress } = request
  await recordOfPerson(input, 'cli_session.denied', sessionId, { deviceLabel, client, ipAddress })
  return { ok: true }
}
