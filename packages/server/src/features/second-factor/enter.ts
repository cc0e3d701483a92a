import type { secondFactor } from '@skerry/contract/second-factor/endpoints'
import { type In, type Out, Reply } from '../../http/route.ts'
import { auditUser } from '../../identity/audit-user.ts'
import { assertionOptions, verifyAssertion } from '../../identity/passkeys.ts'
import { stampSession } from '../../identity/session-store.ts'
import { needServerKey, signedIn } from '../../identity/sessions.ts'
import { returnAttempt, takeAttempt } from '../../identity/throttle.ts'
import { fail, refuseAndCommit } from '../../kernel/errors.ts'
import { isRecoveryCode } from './recovery-codes.ts'
import { needManaged, type Person } from './second-factor.ts'
import { findTotp } from './store.ts'
import { isCode } from './totp.ts'

type Request = In<typeof secondFactor.stepUp, Person>

export async function enterOptions(
  input: In<typeof secondFactor.stepUpOptions, Person>,
): Out<typeof secondFactor.stepUpOptions> {
  needManaged(input.context)
  return assertionOptions(input, input.principal.id)
}

/** All tries of a person share one count: five wrong ones in ten minutes, across all servers. */
export async function enter(input: Request): Out<typeof secondFactor.stepUp> {
  const { db, context, principal, body, now } = input
  needManaged(context)
  const { id: userId, session } = principal
  checkOneFactor(body)
  if (session.id === null || !session.secondFactor) throw fail('conflict', 'you have no second factor to enter')
  await takeAttempt(db, 'second_factor', userId, now)
  if (!(await isRightFactor(input, userId, body)))
    return refuseAndCommit('forbidden', 'the second factor is wrong, or was used before')
  returnAttempt(db, 'second_factor', userId)
  const stamped = await stampSession(db, session.id, now)
  if (!stamped) throw fail('unauthorized', 'session token refused')
  if (body.recoveryCode !== undefined) await auditUser(input, userId, 'user.recovery_code_used', userId)
  await auditUser(input, userId, 'session.second_factor_entered', session.id)
  const { answer, headers } = await signedIn(input, { id: session.id, mfaAt: now, ...stamped })
  return new Reply(200, answer, headers)
}

type Entered = Request['body']

export function checkOneFactor(body: Entered): void {
  if (Object.keys(body).length !== 1) throw fail('invalid_request', 'body: give one of code, recoveryCode and passkey')
}

/** Checks a second factor of the person. A code works once, so this call uses it up. */
export async function isRightFactor(
  work: Pick<Request, 'db' | 'context' | 'now'>,
  userId: string,
  body: Entered,
): Promise<boolean> {
  const { db, context, now } = work
  const serverKey = needServerKey(context)
  if (body.passkey) return (await verifyAssertion(work, userId, body.passkey)) !== undefined
  if (body.recoveryCode !== undefined) return isRecoveryCode(db, serverKey, userId, body.recoveryCode, now)
  const totp = await findTotp(db, userId)
  if (!totp || totp.confirmedAt === null || body.code === undefined) return false
  return isCode(db, serverKey, totp, body.code, now)
}
