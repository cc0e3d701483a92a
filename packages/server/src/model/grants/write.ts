import type { Tx } from '../../db/database.ts'
import type { Metadata } from '../../kernel/audit.ts'
import type { OfEnvironment } from '../environments/table.ts'
import { isDueToTeam } from '../teams/table.ts'
import { lockOut, settleGranted } from '../teams/write.ts'
import { type GrantRow, grantColumns, type Holder } from './table.ts'

// All statements that change `key_grants`. A grant is given or revoked with its own audit entry, or as part of a change
// whose entry names the holders. Each function states which.

/** The principal who gives the grant, and the instant. A handler passes its input. */
export interface Giving {
  db: Tx
  principal: { type: string; id: string }
  now: string
  newId: (kind: 'keyGrant') => string
}

type Audited<A extends string> = { audit: (action: A, grantId: string, metadata: Metadata) => void }

export interface Key extends Holder {
  environmentId: string
  wrappedDek: string
  /** The instant at which the grant ends by itself. A grant without it stays until it is revoked. */
  endsAt?: string | null
  /** True: the grant stays when the person leaves a team. Otherwise it is direct only if no team asks for it. */
  direct?: boolean | undefined
}

/** The treatment of a grant that the holder already has. */
const onHeld = {
  keep: 'do nothing',
  /**
   * A grant that exists because of a team becomes direct, unless the new one would end. A temporary grant gets the new end,
   * or none. A grant that has ended counts as none. Any other grant is kept as it is.
   */
  makeDirect: `do update set of_team = excluded.of_team, wrapped_dek = excluded.wrapped_dek, ends_at = excluded.ends_at,
                             granted_by_type = excluded.granted_by_type, granted_by_id = excluded.granted_by_id
                where key_grants.ends_at <= $10 or excluded.of_team is null and (key_grants.ends_at is not null
                   or key_grants.of_team and excluded.ends_at is null)`,
  replace: `do update set wrapped_dek = excluded.wrapped_dek, granted_by_type = excluded.granted_by_type,
                          granted_by_id = excluded.granted_by_id,
                          ends_at = case when key_grants.ends_at > $10 then key_grants.ends_at end`,
}

/**
 * Returns the new and replaced grants, in any order. A holder who was removed meanwhile gets none: their grants were
 * deleted then, and a later one would still be there if they came back. So the row of the holder is locked first, until
 * commit.
 */
async function insertGrants(
  { db, principal, now, newId }: Giving,
  orgId: string,
  keys: readonly Key[],
  held: keyof typeof onHeld,
): Promise<GrantRow[]> {
  const given = await db.rows<GrantRow>(
    `insert into key_grants (org_id, id, environment_id, principal_type, principal_id, wrapped_dek, of_team,
                             granted_by_type, granted_by_id, created_at, ends_at)
     select p.org_id, given.id, given.environment_id, p.type, p.id, given.wrapped_dek,
            case when p.type = 'user' and not given.direct and (${isDueToTeam('p.org_id', 'given.environment_id', 'p.id')}
                   or ${isOfTeamOnParent}) then true end,
            $8, $9, $10::timestamptz, given.ends_at
       from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[], $11::timestamptz[])
              as given(id, environment_id, principal_type, principal_id, wrapped_dek, direct, ends_at)
       join principals p on p.org_id = $1 and p.type = given.principal_type and p.id = given.principal_id
        for key share of p
     on conflict (org_id, environment_id, principal_type, principal_id) ${onHeld[held]}
     returning ${grantColumns}`,
    [
      orgId,
      keys.map(() => newId('keyGrant')),
      keys.map(({ environmentId }) => environmentId),
      keys.map(({ principalType }) => principalType),
      keys.map(({ principalId }) => principalId),
      keys.map(({ wrappedDek }) => wrappedDek),
      keys.map(({ direct }) => direct ?? false),
      principal.type,
      principal.id,
      now,
      keys.map(({ endsAt = null }) => endsAt),
    ],
  )
  const people = given.filter(({ principalType }) => principalType === 'user')
  if (people.length > 0) await settleGranted(db, orgId, people)
  return given
}

/** SQL condition: the environment is a branch, and the person has the key of its parent because of a team. */
const isOfTeamOnParent = `exists (
  select from environments b
    join key_grants k on k.org_id = b.org_id and k.environment_id = b.parent_environment_id
   where b.org_id = p.org_id and b.id = given.environment_id
     and k.principal_type = p.type and k.principal_id = p.id and k.of_team)`

/**
 * Gives a direct grant and records `key.granted`. A grant that exists because of a team becomes direct, and a
 * temporary one gets the new end. Returns undefined if the holder already has a direct grant without an end, or was
 * removed.
 */
export async function giveGrant(
  giving: Giving & Audited<'key.granted'>,
  env: OfEnvironment & { slug?: string },
  key: Omit<Key, 'environmentId'>,
): Promise<GrantRow | undefined> {
  const [grant] = await insertGrants(giving, env.orgId, [{ ...key, environmentId: env.id, direct: true }], 'makeDirect')
  if (grant) giving.audit('key.granted', grant.id, about(env, grant))
  return grant
}

/**
 * Gives the keys of several environments to several holders and records `key.granted` for each. A direct key makes an
 * existing grant direct. Returns the new and changed grants, in any order.
 */
export async function giveGrants(
  giving: Giving & Audited<'key.granted'>,
  orgId: string,
  keys: readonly Key[],
): Promise<GrantRow[]> {
  const given = await insertGrants(giving, orgId, keys, 'makeDirect')
  for (const grant of given) giving.audit('key.granted', grant.id, about({ orgId, id: grant.environmentId }, grant))
  return given
}

/**
 * Gives the key of a new environment to several holders. Returns the grants. The audit entry of the environment names
 * the holders.
 */
export const giveFirstGrants = (giving: Giving, env: OfEnvironment, keys: readonly Omit<Key, 'environmentId'>[]) =>
  insertGrants(
    giving,
    env.orgId,
    keys.map((key) => ({ ...key, environmentId: env.id })),
    'keep',
  )

/**
 * Gives the keys of several environments to one holder. An existing grant gets the new key. Returns false if the holder
 * was removed. The audit entry of the caller’s change names the environments.
 */
export async function putGrants(
  giving: Giving,
  orgId: string,
  holder: Holder,
  keys: readonly Omit<Key, keyof Holder>[],
): Promise<boolean> {
  const { principalType, principalId } = holder
  const all = keys.map((key) => ({ ...key, principalType, principalId }))
  return (await insertGrants(giving, orgId, all, 'replace')).length === keys.length
}

/**
 * Re-keys the grants of an environment: these holders get the new key, and all others lose their grants. The audit
 * entry of the re-key names who lost it.
 */
export async function rewrapGrants(
  { db, principal }: Pick<Giving, 'db' | 'principal'>,
  env: OfEnvironment,
  kept: readonly { id: string; wrappedDek: string }[],
): Promise<void> {
  const ids = kept.map(({ id }) => id)
  await Promise.all([
    db.rows(
      `update key_grants k set wrapped_dek = given.wrapped_dek, granted_by_type = $4, granted_by_id = $5
         from unnest($2::text[], $3::text[]) as given(id, wrapped_dek)
        where k.org_id = $1 and k.id = given.id`,
      [env.orgId, ids, kept.map(({ wrappedDek }) => wrappedDek), principal.type, principal.id],
    ),
    db.rows('delete from key_grants where org_id = $1 and environment_id = $2 and id <> all($3::text[])', [
      env.orgId,
      env.id,
      ids,
    ]),
  ])
}

/**
 * Revokes a grant and records `key.revoked`. A plan or a team does not give the key back to a person. The caller holds the
 * lock on the organization.
 */
export async function revokeGrant(
  { db, audit }: { db: Tx } & Audited<'key.revoked'>,
  env: OfEnvironment & { slug?: string },
  grant: Pick<GrantRow, 'id' | keyof Holder>,
): Promise<void> {
  await db.rows('delete from key_grants where org_id = $1 and environment_id = $2 and id = $3', [
    env.orgId,
    env.id,
    grant.id,
  ])
  if (grant.principalType === 'user') await lockOut(db, env, [grant.principalId])
  audit('key.revoked', grant.id, about(env, grant))
}

/** A key that a person lost. */
export interface LostGrant {
  environmentId: string
  userId: string
}

/**
 * Deletes grants that existed because of a team and that no team asks for any longer. A person who loses the key of an
 * environment also loses the keys of its branches that came with it. The caller holds the lock on the organization, and
 * its audit entry names the people and environments.
 */
export async function endTeamGrants(
  db: Tx,
  orgId: string,
  userIds: readonly string[],
  environmentIds: readonly string[],
): Promise<LostGrant[]> {
  const lost = await db.rows<LostGrant>(
    `delete from key_grants k
      where k.org_id = $1 and k.principal_type = 'user' and k.principal_id = any($2::text[])
        and k.environment_id = any($3::text[]) and k.of_team
        and not ${isDueToTeam('k.org_id', 'k.environment_id', 'k.principal_id')}
     returning k.environment_id, k.principal_id as user_id`,
    [orgId, userIds, environmentIds],
  )
  if (lost.length === 0) return lost
  // The first statement may wait for the creation of a branch. Only a second statement sees the grants of that branch.
  const onBranches = await db.rows<LostGrant>(
    `delete from key_grants k
      using unnest($2::text[], $3::text[]) as lost(environment_id, user_id), environments b
      where b.org_id = $1 and b.parent_environment_id = lost.environment_id
        and k.org_id = $1 and k.environment_id = b.id and k.principal_type = 'user' and k.principal_id = lost.user_id
        and k.of_team
     returning k.environment_id, k.principal_id as user_id`,
    [orgId, lost.map(({ environmentId }) => environmentId), lost.map(({ userId }) => userId)],
  )
  return [...lost, ...onBranches]
}

/** Revokes the grant of the rotator and records `key.revoked` with the cause. Returns false if it has none. */
export async function revokeRotatorGrant(
  { db, audit }: { db: Tx } & Audited<'key.revoked'>,
  env: OfEnvironment,
  cause: string,
): Promise<boolean> {
  const grant = await db.row<GrantRow>(
    `delete from key_grants where org_id = $1 and environment_id = $2 and principal_type = 'rotator'
     returning ${grantColumns}`,
    [env.orgId, env.id],
  )
  if (grant) audit('key.revoked', grant.id, { ...about(env, grant), cause })
  return grant !== undefined
}

/** A grant of a sync connection to an environment that none of its bindings reads. */
export interface UnreadGrant extends Holder {
  orgId: string
  id: string
  environmentId: string
}

/**
 * Deletes grants of sync connections to environments that none of their bindings reads. The caller records them: one by
 * one, or in the entry of the binding that ended.
 */
export const deleteUnreadGrants = (db: Tx, orgIds: readonly string[], connectionId: string | null) =>
  db.rows<UnreadGrant>(
    `delete from key_grants k
      where k.org_id = any($1::text[]) and k.principal_type = 'sync_connection'
        and ($2::text is null or k.principal_id = $2)
        and not exists (select from sync_layers l
                         where l.org_id = k.org_id and l.connection_id = k.principal_id
                           and l.environment_id = k.environment_id)
     returning k.org_id, k.id, k.environment_id, k.principal_type, k.principal_id`,
    [orgIds, connectionId],
  )

/** Deletes all grants of a person whose key pair is replaced. The entry `user.keys_replaced` names the environments. */
export const deleteGrantsOfPerson = (db: Tx, userId: string) =>
  db.rows(
    `delete from key_grants where principal_type = 'user' and principal_id = $1
        and org_id in (select org_id from memberships where user_id = $1)`,
    [userId],
  )

/** A temporary grant whose time is over, or the same holder’s grant of a branch of that environment. */
export interface EndedGrant extends UnreadGrant {
  endsAt: string | null
}

/**
 * Deletes temporary grants whose time is over, at most this many. The holder loses the keys of the environment’s branches,
 * too. The caller records `key.expired` for each grant. `count` leaves out those of branches.
 *
 * A fork locks the grants of the parent until it commits. The first statement waits for it, and the second one sees the
 * grants of the new branch.
 */
export async function deleteEndedGrants(
  db: Tx,
  now: string,
  atOnce: number,
): Promise<{ count: number; grants: EndedGrant[] }> {
  const ended = await db.rows<EndedGrant>(
    `delete from key_grants k
      where (k.org_id, k.id) in (select d.org_id, d.id from key_grants d
                                  where d.ends_at <= $1 order by d.ends_at, d.id limit $2 for update)
        and k.ends_at <= $1
     returning ${endedColumns}`,
    [now, atOnce],
  )
  if (ended.length === 0) return { count: 0, grants: [] }
  const ofBranches = await db.rows<EndedGrant>(
    `delete from key_grants k
      using environments e, unnest($1::text[], $2::text[], $3::text[], $4::text[])
                              as ended(org_id, environment_id, principal_type, principal_id)
      where e.org_id = k.org_id and e.id = k.environment_id
        and ended.org_id = k.org_id and ended.environment_id = e.parent_environment_id
        and ended.principal_type = k.principal_type and ended.principal_id = k.principal_id
     returning ${endedColumns}`,
    [
      ended.map(({ orgId }) => orgId),
      ended.map(({ environmentId }) => environmentId),
      ended.map(({ principalType }) => principalType),
      ended.map(({ principalId }) => principalId),
    ],
  )
  return { count: ended.length, grants: [...ended, ...ofBranches] }
}

const endedColumns = 'k.org_id, k.id, k.environment_id, k.principal_type, k.principal_id, k.ends_at'

const about = (
  env: OfEnvironment & { slug?: string },
  { principalType, principalId, endsAt }: Holder & { endsAt?: string | null },
) => ({
  environmentId: env.id,
  ...(env.slug === undefined ? {} : { environment: env.slug }),
  principalType,
  principalId,
  ...(endsAt ? { endsAt } : {}),
})
