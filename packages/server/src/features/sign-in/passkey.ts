import type { signIn } from '@skerry/contract/sign-in/endpoints'
import { type In, type Out, Reply } from '../../http/route.ts'
import { assertionOptions, verifyAssertion } from '../../identity/passkeys.ts'
import { needServerKey, startSession } from '../../identity/sessions.ts'
import { returnAttempt, takeAttempt } from '../../identity/throttle.ts'
import { refuseAndCommit } from '../../kernel/errors.ts'
import { needBuiltIn } from './person.ts'

export async function options(input: In<typeof signIn.passkeyOptions>): Out<typeof signIn.passkeyOptions> {
  needBuiltIn(input.context)
  needServerKey(input.context)
  return assertionOptions(input, null)
}

/** The device asked for a fingerprint, face or PIN. The device and this check are two factors. */
export async function signInWithPasskey(input: In<typeof signIn.passkey>): Out<typeof signIn.passkey> {
  const { db, context, body, now, origin } = input
  needBuiltIn(context)
  needServerKey(context)
  const caller = origin.ipAddress ?? ''
  await takeAttempt(db, 'sign_in', caller, now)
  const passkey = await verifyAssertion(input, null, body)
  if (!passkey) return refuseAndCommit('unauthorized', 'this passkey does not sign anyone in here')
  returnAttempt(db, 'sign_in', caller)
  const { answer, headers } = await startSession(input, passkey.userId, { mfaAt: now, issuerSecondFactor: null })
  return new Reply(200, answer, headers)
}
