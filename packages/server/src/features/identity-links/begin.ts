import { limits } from '@skerry/contract/limits'
import type { Tx } from '../../db/database.ts'
import type { Context } from '../../http/context.ts'
import { cookieLine } from '../../identity/cookies.ts'
import { findSamePerson } from '../../identity/linking.ts'
import { after, type Factors } from '../../identity/sessions.ts'
import { newSecret, sha256 } from '../../kernel/context.ts'
import type { Person } from '../../model/people/users.ts'
import { insertIdentityLink } from './store.ts'

/** The page that asks whether the existing account is the person's own. */
export const identityLinkPage = '/sign-in/identity'

/**
 * Stores a sign-in at the issuer if its verified address belongs to a person of another issuer. Returns the cookie with which
 * this browser continues, or undefined if there is nothing to ask. No session begins before the answer.
 */
export async function beginIdentityLink(
  { db, context, now }: { db: Tx; context: Context; now: string },
  person: Person,
  { mfaAt, issuerSecondFactor }: Factors,
  returnTo: string,
): Promise<string | undefined> {
  const userId = await findSamePerson(db, person)
  if (userId === undefined || person.verifiedEmail === null) return undefined
  const { issuer, subject, name, verifiedEmail: email } = person
  const token = newSecret()
  await insertIdentityLink(db, {
    browserHash: sha256(token),
    userId,
    issuer,
    subject,
    email,
    name,
    issuerSecondFactor: issuerSecondFactor === true,
    mfaAt,
    returnTo,
    now,
    expiresAt: after(now, limits.identityLinkTtlSeconds),
  })
  const maxAge = limits.identityLinkTtlSeconds
  return cookieLine(context.config, 'skerry-identity', token, { maxAge, sameSite: 'strict' })
}
