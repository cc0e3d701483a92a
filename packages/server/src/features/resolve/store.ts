import type { Sql } from '../../db/database.ts'
import type { Principal } from '../../kernel/principal.ts'
import { notExpired } from '../../model/environments/table.ts'

/** A part of the server that has key grants of its own. */
export interface Reader {
  type: 'sync_connection'
  id: string
  orgId: string
}

export interface Asked {
  principal: Principal | Reader
  environmentId: string
  /** Slug or id of a branch of that environment. If the environment is itself a branch, only its own matches. */
  branch: string | null
  groups: string[]
  slugs: string[]
  now: string
  /** True to read the newest head of the signed directory at the same moment. */
  withHead?: boolean
}

export interface LayerRow {
  source: 'group' | 'app' | 'branch'
  environmentId: string
  slug: string
  groupSlug: string | null
  expiresAt: string | null
  wrappedDek: string | null
  /** When a temporary grant ends. */
  endsAt: string | null
  /** The secrets as JSON text, which is never parsed on its way; null if the caller holds no key. */
  secrets: string | null
  orgId: string
  orgSlug: string
  appId: string
  appSlug: string
  /** The version of that head; absent unless it was asked for, and null without a directory. */
  headVersion?: number | null
  /** The manifest of a branch, with the head. */
  manifest?: string | null
}

/**
 * Reads everything that an answer needs in one round trip. That is the requested environment (of the caller’s
 * organization), its parent if it is a branch, and the composed groups at the wanted slug. For each of these layers it
 * reads the caller’s key, and the secrets if the caller has the key. The lowest precedence comes first.
 *
 * The JSON is built as text. Names and ciphertexts cannot contain characters that JSON escapes (contract/src/schema.ts,
 * prefixes.ts), and json_build_object takes a quarter of the query. A unique row is looked up in a lateral subquery
 * with a limit, which only the whole key can serve. For a join, PostgreSQL assumes that each column of the key is
 * selective enough. It then reads all keys of the caller, or all environments of the group, to throw most of them away.
 *
 * An answer about a branch also has the layer of the parent, so the end of each grant is enough here.
 */
const layers = (mayAsk: string, more = '') => `
  with asked as (
    select e.org_id, e.id, e.application_id, e.parent_environment_id, coalesce(e.parent_environment_id, e.id) as base_id
      from environments e
     where e.id = $1 and e.application_id is not null and ${notExpired('$7')} and ${mayAsk}
  ), base as (
    select e.org_id, e.id, e.slug from asked a join environments e on e.org_id = a.org_id and e.id = a.base_id
  ), layer as (
    select 0 as tier, c.position, 'group' as source, e.id, e.slug, g.slug as group_slug, e.expires_at
      from base b
      join compositions c on c.org_id = b.org_id and c.environment_id = b.id
      join groups g on g.org_id = c.org_id and g.id = c.group_id
      left join unnest($4::text[], $5::text[]) as w(group_slug, slug) on w.group_slug = g.slug
     cross join lateral (
       select e.id, e.slug, e.expires_at from environments e
        where e.org_id = g.org_id and e.group_id = g.id and e.slug = coalesce(w.slug, b.slug) limit 1
     ) e
    union all
    select 1, 0, 'app', b.id, b.slug, null, null from base b
    union all
    select 2, 0, 'branch', e.id, e.slug, null, e.expires_at
      from asked a
      join environments e on e.org_id = a.org_id and e.parent_environment_id = a.base_id
                         and ${notExpired('$7')}
                         and case when a.parent_environment_id is null then e.slug = $6 or e.id = $6
                                  else e.id = a.id and coalesce($6 in (e.slug, e.id), true) end
  )
  select l.source, l.id as environment_id, l.slug, l.group_slug, l.expires_at, k.wrapped_dek, k.ends_at, s.secrets,
         o.id as org_id, o.slug as org_slug, p.id as app_id, p.slug as app_slug${more}
    from asked a
    join organizations o on o.id = a.org_id
    join applications p on p.org_id = a.org_id and p.id = a.application_id
    cross join layer l
    left join lateral (
      select k.wrapped_dek, k.ends_at from key_grants k
       where k.org_id = a.org_id and k.environment_id = l.id and k.principal_type = $2 and k.principal_id = $3
         and (k.ends_at is null or k.ends_at > $7)
       limit 1
    ) k on true
    left join lateral (
      select '[' || string_agg('{"name":"' || s.name || '","ciphertext":"' || s.ciphertext || '"}', ',') || ']' as secrets
        from (
          select s.name, s.ciphertext from secrets s
           where s.org_id = a.org_id and s.environment_id = l.id
           order by s.name
        ) s
    ) s on k.wrapped_dek is not null
   order by l.tier, l.position, l.group_slug`

const trusted = `,
         (select max(h.version) from directory_heads h where h.org_id = a.org_id) as head_version,
         (select b.branch_manifest from environments b where b.org_id = a.org_id and b.id = l.id) as manifest`

const ofOwnOrg = 'e.org_id = $8'
const ofMember = 'exists (select from memberships m where m.org_id = e.org_id and m.user_id = $8)'

const forMachines = { plain: layers(ofOwnOrg), withHead: layers(ofOwnOrg, trusted) }
const forUsers = { plain: layers(ofMember), withHead: layers(ofMember, trusted) }

/** Returns no rows if the environment does not exist for this caller. */
export function listLayers(db: Sql, asked: Asked): Promise<LayerRow[]> {
  const { principal } = asked
  const values = [asked.environmentId, principal.type, principal.id, asked.groups, asked.slugs, asked.branch, asked.now]
  const form = asked.withHead ? 'withHead' : 'plain'
  if (principal.type === 'user') return db.rows<LayerRow>(forUsers[form], [...values, principal.id])
  return db.rows<LayerRow>(forMachines[form], [...values, principal.orgId])
}

/**
 * Finds what the organization of an environment requires of this member. Returns undefined if the environment does not
 * exist for the person.
 */
export const findMembershipOfEnv = (db: Sql, environmentId: string, userId: string, now: string) =>
  db.row<{ orgId: string; mfaRequired: boolean }>(
    `select e.org_id, o.mfa_required
       from environments e
       join organizations o on o.id = e.org_id
       join memberships m on m.org_id = e.org_id and m.user_id = $2
      where e.id = $1 and ${notExpired('$3')}`,
    [environmentId, userId, now],
  )
