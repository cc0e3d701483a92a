import { randomBytes } from 'node:crypto'
import { limits } from '@skerry/contract/limits'
import type { secondFactor } from '@skerry/contract/second-factor/endpoints'
import type { TOTP } from 'otpauth'
import type { Tx } from '../../db/database.ts'
import type { In, Out } from '../../http/route.ts'
import { auditUser } from '../../identity/audit-user.ts'
import { stampSession } from '../../identity/session-store.ts'
import { needServerKey } from '../../identity/sessions.ts'
import { findPerson } from '../../identity/store.ts'
import { returnAttempt, takeAttempt } from '../../identity/throttle.ts'
import { fail, refuseAndCommit } from '../../kernel/errors.ts'
import type { ServerKey } from '../../keys/server-key.ts'
import { newRecoveryCodes } from './recovery-codes.ts'
import { needManaged, type Person } from './second-factor.ts'
import { confirmTotp, deleteTotp, findTotp, type TotpRow, takeStep, upsertTotp } from './store.ts'

const periodSeconds = 30

/** RFC 6238 with the parameters that every authenticator app knows: SHA-1, six digits, 30 seconds. */
async function authenticator(secret: Buffer, label = ''): Promise<TOTP> {
  const { Secret, TOTP } = await import('otpauth')
  return new TOTP({
    issuer: 'Skerry',
    label,
    algorithm: 'SHA1',
    digits: 6,
    period: periodSeconds,
    secret: new Secret({ buffer: new Uint8Array(secret).buffer }),
  })
}

export async function enroll(input: In<typeof secondFactor.enrollTotp, Person>): Out<typeof secondFactor.enrollTotp> {
  const { db, context, principal, now } = input
  needManaged(context)
  const serverKey = needServerKey(context)
  const secret = randomBytes(20)
  const sealed = serverKey.seal('totp-secret', principal.id, secret.toString('base64url'))
  if (!(await upsertTotp(db, principal.id, sealed, now)))
    throw fail('conflict', 'an authenticator app is already set up; remove it first')
  const user = await findPerson(db, principal.id)
  const totp = await authenticator(secret, user?.email ?? principal.id)
  return { secret: totp.secret.base32, uri: totp.toString() }
}

/** The first code shows that the app has the secret; it counts as entering the second factor. */
export async function confirm(
  input: In<typeof secondFactor.confirmTotp, Person>,
): Out<typeof secondFactor.confirmTotp> {
  const { db, context, principal, body, now } = input
  needManaged(context)
  const serverKey = needServerKey(context)
  const { id: userId, session } = principal
  await takeAttempt(db, 'second_factor', userId, now)
  const begun = await findTotp(db, userId)
  const ageMs = begun ? Date.parse(now) - Date.parse(begun.createdAt) : Number.POSITIVE_INFINITY
  if (!begun || begun.confirmedAt !== null || ageMs > limits.mfaFreshSeconds * 1000)
    throw fail('conflict', 'begin enrolling first')
  if (!(await isCode(db, serverKey, begun, body.code, now))) return refuseAndCommit('forbidden', 'this code is wrong')
  returnAttempt(db, 'second_factor', userId)
  await confirmTotp(db, userId, now)
  if (session.id !== null) await stampSession(db, session.id, now)
  const recoveryCodes = await newRecoveryCodes(db, serverKey, userId)
  await auditUser(input, userId, 'user.totp_enrolled', userId)
  return { recoveryCodes }
}

/** Recovery codes work in place of the app, so they are deleted with it. */
export async function remove(input: In<typeof secondFactor.removeTotp, Person>): Out<typeof secondFactor.removeTotp> {
  const { db, principal } = input
  if (!(await deleteTotp(db, principal.id))) throw fail('not_found', 'there is no authenticator app')
  await auditUser(input, principal.id, 'user.totp_removed', principal.id)
  return { ok: true }
}

/** Returns true once for each time step, so a code that somebody saw is useless. One step early or late is accepted. */
export async function isCode(db: Tx, serverKey: ServerKey, row: TotpRow, code: string, now: string): Promise<boolean> {
  const secret = serverKey.open('totp-secret', row.userId, row.sealedSecret)
  if (secret === undefined) throw new Error('the server key does not open a secret of its own')
  const timestamp = Date.parse(now)
  const totp = await authenticator(Buffer.from(secret, 'base64url'))
  const delta = totp.validate({ token: code, timestamp, window: 1 })
  return delta !== null && takeStep(db, row.userId, Math.floor(timestamp / 1000 / periodSeconds) + delta)
}
