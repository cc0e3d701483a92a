import type { Sql, Tx } from '../db/database.ts'
import { fail } from '../kernel/errors.ts'
import { deleteUser, endSessions, listLinkable, lockIdentities, ownsAnything, updateIdentity } from './linking-store.ts'
import { ownIssuer } from './session-tokens.ts'
import type { Person } from './store.ts'
import { type Audit, auditPerson } from './trail.ts'

// A person is found by issuer and subject. After a change of the issuer the same human being comes with another pair, so the
// pair has to move to the person who is here already. An address finds that person. It is never enough to become them.

/** The only person of another issuer who has this verified address; undefined where there is none, or more than one. */
export async function findSamePerson(db: Sql, person: Person): Promise<string | undefined> {
  if (person.verifiedEmail === null) return undefined
  const [found, another] = await listLinkable(db, person)
  return another === undefined ? found?.id : undefined
}

/**
 * Makes the identity that of an existing person, who keeps memberships and keys. The identity that the person had before
 * signs nobody in any longer. An empty person who has this identity is deleted, with its sessions.
 *
 * Sessions stay where the built-in sign-in began them: it proves the mailbox by itself. Sessions that a former issuer began
 * end, because that issuer may have vouched for an address that was not this person's.
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
    throw fail('conflict', 'this account was changed meanwhile; sign in again')
  if (separate && (await ownsAnything(db, separate.id)))
    throw fail(
      'conflict',
      'your new account is a member or has a keyring meanwhile, so the two cannot be linked here; the operator of this server can link them with `skerry-server people link`',
    )
  if (separate) await deleteUser(db, separate.id)
  await updateIdentity(db, userId, { issuer, subject, name })
  if (person.issuer !== ownIssuer) await endSessions(db, userId, now)
  const metadata = { issuer, formerIssuer: person.issuer, mergedUserId: separate?.id ?? null }
  await auditPerson({ db, audit }, userId, 'user.identity_linked', userId, metadata)
}
