import type { Sql, Tx } from '../../db/database.ts'
import type { Role } from '../../model/people/memberships.ts'

export interface ListedPerson {
  id: string
  email: string | null
  emailVerified: boolean
  name: string | null
  issuer: string
  subject: string
  hasKeyring: boolean
  createdAt: string
  memberships: { orgId: string; slug: string; role: Role }[]
}

export const listPeople = (db: Sql, { email, orgId }: { email: string | null; orgId: string | null }) =>
  db.rows<ListedPerson>(
    `select u.id, u.email, coalesce(u.email = u.verified_email, false) as email_verified, u.name, u.issuer, u.subject,
            u.public_key_jwk is not null as has_keyring, u.created_at,
            coalesce((select jsonb_agg(jsonb_build_object('orgId', o.id, 'slug', o.slug, 'role', m.role) order by o.slug)
                        from memberships m join organizations o on o.id = m.org_id where m.user_id = u.id), '[]'
                    ) as memberships
       from users u
      where ($1::text is null or $1 in (lower(u.email), u.verified_email))
        and ($2::text is null or exists (select from memberships m where m.org_id = $2 and m.user_id = u.id))
      order by u.created_at, u.id`,
    [email?.toLowerCase() ?? null, orgId],
  )

export interface PersonRow {
  id: string
  email: string | null
  emailVerified: boolean
  issuer: string
  subject: string
  name: string | null
}

const personColumns = 'id, email, coalesce(email = verified_email, false) as email_verified, issuer, subject, name'

/** Matches verified addresses only: an identity provider that does not verify addresses lets an account claim any address. */
export const findPeople = (db: Sql, idOrAddress: string) =>
  db.rows<PersonRow>(`select ${personColumns} from users where id = $1 or verified_email = $2 order by id limit 3`, [
    idOrAddress,
    idOrAddress.toLowerCase(),
  ])

export const lockPeople = (tx: Tx, ids: string[]) =>
  tx.rows<PersonRow>(`select ${personColumns} from users where id = any($1::text[]) order by id for update`, [ids])

export interface MembershipRow {
  orgId: string
  slug: string
  role: Role
}

/** Locks the organizations, so that memberships of one organization change one after the other. */
export const lockMemberships = (tx: Tx, userId: string) =>
  tx.rows<MembershipRow>(
    `select o.id as org_id, o.slug, m.role from memberships m join organizations o on o.id = m.org_id
      where m.user_id = $1 order by o.id for no key update of o`,
    [userId],
  )

/** Slugs of organizations in which something is encrypted for this person alone, which no other person can take over. */
export const listKeyOrgs = async (tx: Tx, userId: string): Promise<string[]> =>
  (
    await tx.rows<{ slug: string }>(
      `select o.slug from organizations o
        where exists (select from key_grants k
                       where k.org_id = o.id and k.principal_type = 'user' and k.principal_id = $1)
           or exists (select from kms_grants k
                       where k.org_id = o.id and k.principal_type = 'user' and k.principal_id = $1)
           or exists (select from recovery_custodians c where c.org_id = o.id and c.user_id = $1)
        order by o.slug`,
      [userId],
    )
  ).map(({ slug }) => slug)
