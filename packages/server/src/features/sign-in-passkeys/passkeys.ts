import { limits } from '@skerry/contract/limits'
import type { signInPasskeys } from '@skerry/contract/sign-in-passkeys/endpoints'
import type { In, Out } from '../../http/route.ts'
import { auditUser } from '../../identity/audit-user.ts'
import { enrollmentOptions, verifyEnrollment } from '../../identity/passkeys.ts'
import { stampSession } from '../../identity/session-store.ts'
import { needServerKey } from '../../identity/sessions.ts'
import { findPerson } from '../../identity/store.ts'
import { fail, refuseAndCommit } from '../../kernel/errors.ts'
import { deleteSignInPasskey, insertSignInPasskey } from '../../model/people/sign-in-passkeys.ts'
import { needManaged, type Person } from '../second-factor/second-factor.ts'
import { countPasskeys, listPasskeys } from './store.ts'

export async function list({ db, principal }: In<typeof signInPasskeys.list, Person>): Out<typeof signInPasskeys.list> {
  return { passkeys: await listPasskeys(db, principal.id) }
}

export async function options(input: In<typeof signInPasskeys.options, Person>): Out<typeof signInPasskeys.options> {
  const { db, context, principal } = input
  needManaged(context)
  needServerKey(context)
  const user = await findPerson(db, principal.id)
  if (!user) throw fail('unauthorized', 'session token refused')
  return enrollmentOptions(input, user)
}

/** The device asked for a fingerprint, face or PIN to make the passkey, so the second factor has just been entered. */
export async function create(input: In<typeof signInPasskeys.create, Person>): Out<typeof signInPasskeys.create> {
  const { db, context, principal, body, now, newId } = input
  needManaged(context)
  const verified = await verifyEnrollment(input, principal.id, body)
  if (!verified) return refuseAndCommit('forbidden', 'this passkey was not made for this challenge; begin again')
  if ((await countPasskeys(db, principal.id)) >= limits.passkeysMax)
    throw fail('conflict', `at most ${limits.passkeysMax} passkeys`)
  const passkey = await insertSignInPasskey(db, {
    id: newId('signInPasskey'),
    userId: principal.id,
    ...verified,
    label: body.label,
    now,
  })
  if (!passkey) throw fail('conflict', 'this passkey is already enrolled')
  if (principal.session.id !== null) await stampSession(db, principal.session.id, now)
  await auditUser(input, principal.id, 'user.sign_in_passkey_enrolled', passkey.id)
  return { passkey }
}

export async function remove(input: In<typeof signInPasskeys.delete, Person>): Out<typeof signInPasskeys.delete> {
  const { db, principal, params } = input
  if (!(await deleteSignInPasskey(db, principal.id, params.signInPasskeyId))) throw fail('not_found', 'no such passkey')
  await auditUser(input, principal.id, 'user.sign_in_passkey_removed', params.signInPasskeyId)
  return { ok: true }
}
