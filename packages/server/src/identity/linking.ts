import type { Sql, Tx } from '../db/database.ts'
import { fail } from '../kernel/errors.ts'
import { deleteUser, type Person, updateIdentity } from '../model/people/users.ts'
import { type Audit, auditUser } from './audit-user.ts'
import { endSessions, listLinkable, lockIdentities, ownsAnything } from './linking-store.ts'
import { ownIssuer } from './session-tokens.ts'

// A person is found by issuer and subject. After a change of the identity provider the same person has another pair,
// which must be stored with the existing account. The e-mail address finds that account, but it is never enough to sign
// in to it.

/**
 * Finds the person of another issuer with this verified address. Returns undefined if there is none, or more than one.
 */
export async function findSamePerson(db: Sql, person: Person): Promise<string | undefined> {
  if (person.verifiedEmail === null) return undefined
  const [found, another] = await listLinkable(db, person)
  return another === undefined ? found?.id : undefined
}

/**
 * Gives an existing person this identity. The person keeps memberships and keys. The former identity can no longer sign
 * in. If another account without memberships and keys has this identity, that account and its sessions are deleted.
 *
 * Sessions of the built-in sign-in continue, because it proves access to the mailbox. Sessions of a former identity
 * provider end, because it may have verified an address that was not this person's.
 */
export async function linkIdentity(
  { db, now, audit }: { db: Tx; now: string; audit: Audit<'user.identity_linked'> },
  userId: string,
  { issuer, subject, verifiedEmail, name }: Person,
): Promise<void> {
  const rows = await lockIdentities(db, userId, issuer, subject)
  const person = rows.find(({ id }) => id === userId)
  const separate = rows.find(({ id }) => id !== userId)
  if (!person || person.issuer === issuer || person.verifiedEmail !== verifiedEmail)
    throw fail('conflict', 'this account was changed in the meantime; sign in again')
  if (separate && (await ownsAnything(db, separate.id)))
    throw fail(
      'conflict',
      'your new account has a membership or a keyring by now, so you cannot link the two; the operator of this server can, with `skerry-server people link`',
    )
  if (separate) await deleteUser(db, separate.id)
  await updateIdentity(db, userId, { issuer, subject, name })
  if (person.issuer !== ownIssuer) await endSessions(db, userId, now)
  const metadata = { issuer, formerIssuer: person.issuer, mergedUserId: separate?.id ?? null }
  await auditUser({ db, audit }, userId, 'user.identity_linked', userId, metadata)
}
