import type { secondFactor } from '@skerry/contract/second-factor/endpoints'
import type { Sql } from '../../db/database.ts'
import type { Context } from '../../http/context.ts'
import type { In, Out } from '../../http/route.ts'
import { auditUser } from '../../identity/audit-user.ts'
import { needServerKey } from '../../identity/sessions.ts'
import { fail } from '../../kernel/errors.ts'
import type { UserPrincipal } from '../../kernel/principal.ts'
import { newRecoveryCodes } from './recovery-codes.ts'
import { countFactors } from './store.ts'

export interface Person {
  principal: UserPrincipal
}

/** A person who signs in at an external issuer enters second factors there. */
export function needManaged({ oidc }: Context): void {
  if (oidc) throw fail('conflict', 'an external issuer manages the second factors of this server')
}

export async function get({
  db,
  principal,
  context,
}: In<typeof secondFactor.get, Person>): Out<typeof secondFactor.get> {
  const { secondFactor: enrolled, mfaAt } = principal.session
  return { enrolled, managed: context.oidc === null, mfaAt, ...(await countFactors(db, principal.id)) }
}

/** The second factors that Skerry stores for this person, whatever the sign-in; null if there are none. */
export async function findOwnFactors(db: Sql, userId: string) {
  const { totp, signInPasskeys } = await countFactors(db, userId)
  return totp || signInPasskeys > 0 ? { totp, passkeys: signInPasskeys > 0 } : null
}

export async function renew(
  input: In<typeof secondFactor.renewRecoveryCodes, Person>,
): Out<typeof secondFactor.renewRecoveryCodes> {
  const { db, context, principal } = input
  needManaged(context)
  if (!principal.session.secondFactor) throw fail('conflict', 'recovery codes need a second factor: enroll one first')
  const recoveryCodes = await newRecoveryCodes(db, needServerKey(context), principal.id)
  await auditUser(input, principal.id, 'user.recovery_codes_renewed', principal.id)
  return { recoveryCodes }
}
