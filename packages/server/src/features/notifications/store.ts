import type { Sql } from '../../db/database.ts'

/** An address, and the organization of the notice. */
export interface Recipient {
  email: string
  orgName: string | null
  orgSlug: string | null
}

export const listPreferences = (db: Sql, userId: string) =>
  db.rows<{ type: string; wanted: boolean }>('select type, wanted from notification_preferences where user_id = $1', [
    userId,
  ])

/** Returns the address of a user who wants the type. A notice about an organization goes to its members only. */
export const listUserAddress = (db: Sql, userId: string, type: string, byDefault: boolean, orgId: string | null) =>
  db.rows<Recipient>(
    `select u.email, o.name as org_name, o.slug as org_slug
       from users u
       left join notification_preferences p on p.user_id = u.id and p.type = $2
       left join memberships m on m.user_id = u.id and m.org_id = $4
       left join organizations o on o.id = m.org_id
      where u.id = $1 and u.email is not null and coalesce(p.wanted, $3) and ($4::text is null or m.user_id is not null)`,
    [userId, type, byDefault, orgId],
  )

/** Lists each address once, even if several users of an organization have it. */
export const listAdminAddresses = (
  db: Sql,
  orgId: string,
  type: string,
  byDefault: boolean,
  exceptUserId: string | null,
) =>
  db.rows<Recipient>(
    `select distinct u.email, o.name as org_name, o.slug as org_slug
       from memberships m
       join organizations o on o.id = m.org_id
       join users u on u.id = m.user_id
       left join notification_preferences p on p.user_id = u.id and p.type = $2
      where m.org_id = $1 and m.role in ('owner', 'admin') and u.email is not null and coalesce(p.wanted, $3)
        and ($4::text is null or u.id <> $4)`,
    [orgId, type, byDefault, exceptUserId],
  )

/** Lists the addresses of admins and recovery custodians of an organization who want mails of this type. */
export const listPartyAddresses = (db: Sql, orgId: string, type: string, byDefault: boolean) =>
  db.rows<Recipient>(
    `select distinct u.email, o.name as org_name, o.slug as org_slug
       from memberships m
       join organizations o on o.id = m.org_id
       join users u on u.id = m.user_id
       left join recovery_custodians c on c.org_id = m.org_id and c.user_id = m.user_id
       left join notification_preferences p on p.user_id = u.id and p.type = $2
      where m.org_id = $1 and (m.role in ('owner', 'admin') or c.user_id is not null) and u.email is not null
        and coalesce(p.wanted, $3)`,
    [orgId, type, byDefault],
  )

/** Whether any user with the address wants the type. For an address of nobody, the default of the type counts. */
export async function isWantedAt(db: Sql, email: string, type: string, byDefault: boolean): Promise<boolean> {
  const row = await db.row<{ wanted: boolean }>(
    `select coalesce(bool_or(coalesce(p.wanted, $3)), $3) as wanted
       from users u left join notification_preferences p on p.user_id = u.id and p.type = $2
      where u.email = $1`,
    [email, type, byDefault],
  )
  return row?.wanted ?? byDefault
}
