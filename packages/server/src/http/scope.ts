import type { Application } from '@skerry/contract/apps'
import type { ChangeRequest, Protection as ProtectionSettings } from '@skerry/contract/changes'
import type { Environment } from '@skerry/contract/envs'
import type { KeyGrant } from '@skerry/contract/grants'
import type { Group as GroupRow } from '@skerry/contract/groups'
import type { HoneyToken as HoneyTokenRow } from '@skerry/contract/honey-tokens'
import type { Invite as InviteRow } from '@skerry/contract/orgs'
import type { ServiceToken } from '@skerry/contract/tokens'
import type { Static } from 'typebox'
import {
  changeColumns,
  environmentColumns,
  grantColumns,
  honeyTokenColumns,
  inviteColumns,
  ownerColumns,
  protectionColumn,
  tokenColumns,
} from '../db/columns.ts'
import type { Sql } from '../db/database.ts'
import type { Principal } from '../kernel/principal.ts'

// The objects that an access hands to handlers and stores. They are branded: only a check can make one, so a store that
// takes an Env cannot be given an id that nobody checked.

declare const checked: unique symbol
type Checked<T> = T & { readonly [checked]: true }

export type Role = 'owner' | 'admin' | 'member'
export type Org = Checked<{ id: string }>
export type App = Checked<Static<typeof Application>>
export type Group = Checked<Static<typeof GroupRow>>
export type Grant = Checked<Static<typeof KeyGrant>>
export type Invite = Checked<Static<typeof InviteRow>>
export type Token = Checked<Static<typeof ServiceToken>>
export type HoneyToken = Checked<Static<typeof HoneyTokenRow>>
export type Change = Checked<Static<typeof ChangeRequest> & { orgId: string; baseSecretId: string | null }>
export type Protection = Static<typeof ProtectionSettings>
/** With the key as wrapped to the caller, null where the caller holds no grant; `protection` null where there is none. */
export type Env = Checked<
  Static<typeof Environment> & { orgId: string; wrappedDek: string | null; protection: Protection | null }
>

/** With what the organization asks of its members. */
export const findMembership = (db: Sql, orgId: string, userId: string) =>
  db.row<{ role: Role; mfaRequired: boolean }>(
    `select m.role, o.mfa_required from memberships m join organizations o on o.id = m.org_id
      where m.org_id = $1 and m.user_id = $2`,
    [orgId, userId],
  )

export const findApp = (db: Sql, org: Org, appId: string) =>
  db.row<App>(`select ${ownerColumns} from applications where org_id = $1 and id = $2`, [org.id, appId])

export const findGroup = (db: Sql, org: Org, groupId: string) =>
  db.row<Group>(`select ${ownerColumns} from groups where org_id = $1 and id = $2`, [org.id, groupId])

/** Only one that still waits: one that has run out is in no list either. */
export const findInvite = (db: Sql, org: Org, inviteId: string, now: string) =>
  db.row<Invite>(`select ${inviteColumns} from invitations where org_id = $1 and id = $2 and expires_at > $3`, [
    org.id,
    inviteId,
    now,
  ])

export const findToken = (db: Sql, org: Org, tokenId: string) =>
  db.row<Token>(
    `select ${tokenColumns} from service_tokens t left join service_token_uses u on (u.org_id, u.token_id) = (t.org_id, t.id)
      where t.org_id = $1 and t.id = $2 and t.deleted_at is null`,
    [org.id, tokenId],
  )

export const findHoneyToken = (db: Sql, org: Org, honeyTokenId: string) =>
  db.row<HoneyToken>(`select ${honeyTokenColumns} from honey_tokens where org_id = $1 and id = $2`, [
    org.id,
    honeyTokenId,
  ])

export const findEnv = (db: Sql, org: Org, envId: string, principal: Principal, now: string) =>
  db.row<Env>(
    `select e.org_id, ${environmentColumns}, k.wrapped_dek, ${protectionColumn}
       from environments e
       left join key_grants k on k.org_id = e.org_id and k.environment_id = e.id
                             and k.principal_type = $3 and k.principal_id = $4
      where e.org_id = $1 and e.id = $2 and (e.expires_at is null or e.expires_at > $5)`,
    [org.id, envId, principal.type, principal.id, now],
  )

/** Whether resolving the environment that a token is bound to can lead to this one: its parent, a branch, a composed group. */
export const takesIn = async (db: Sql, boundTo: string, env: Env): Promise<boolean> =>
  (await db.row(
    `select 1 from environments b
      where b.org_id = $1 and b.id = $2
        and (b.id = $4 or b.parent_environment_id = $3
             or exists (select from compositions c
                         where c.org_id = b.org_id and c.environment_id = coalesce(b.parent_environment_id, b.id)
                           and c.group_id = $5))`,
    [env.orgId, boundTo, env.id, env.parentEnvironmentId, env.groupId],
  )) !== undefined

export const findGrant = (db: Sql, env: Env, grantId: string) =>
  db.row<Grant>(`select ${grantColumns} from key_grants where org_id = $1 and environment_id = $2 and id = $3`, [
    env.orgId,
    env.id,
    grantId,
  ])

export const findChange = (db: Sql, org: Org, changeRequestId: string, principal: Principal, now: string) =>
  db.row<Change>(
    `select c.org_id, c.base_secret_id, ${changeColumns}
       from change_requests c
       join environments e on e.org_id = c.org_id and e.id = c.environment_id
       left join key_grants k on k.org_id = c.org_id and k.environment_id = c.environment_id
                             and k.principal_type = $3 and k.principal_id = $4
      where c.org_id = $1 and c.id = $2 and (e.expires_at is null or e.expires_at > $5)`,
    [org.id, changeRequestId, principal.type, principal.id, now],
  )
