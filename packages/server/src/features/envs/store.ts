import type { EnvironmentWithAccess } from '@skerry/contract/envs/schemas'
import type { HolderType } from '@skerry/contract/schema'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import type { Principal } from '../../kernel/principal.ts'
import type { Owner } from '../../model/environments/owners.ts'
import { environmentColumns } from '../../model/environments/table.ts'
import { grantInForce } from '../../model/grants/table.ts'
import { tokenStands } from '../../model/tokens/table.ts'
import type { Env } from './scope.ts'

type WithAccess = Static<typeof EnvironmentWithAccess>

const withAccess = (now: `$${number}`) => `
  select ${environmentColumns},
         exists (select from key_grants k where k.org_id = e.org_id and k.environment_id = e.id
                    and k.principal_type = $3 and k.principal_id = $4 and ${grantInForce(now)}) as can_decrypt
    from environments e`
const page = `
     and ($5::timestamptz is null or (e.created_at, e.id) > ($5, $6))
   order by e.created_at, e.id limit $7`

interface Reading {
  principal: Principal
  now: string
}

export const listAppEnvs = (db: Sql, app: Owner, { principal, now }: Reading, cursor: KeysetCursor) =>
  db.rows<WithAccess>(
    `${withAccess('$8')} where e.org_id = $1 and e.application_id = $2 and e.parent_environment_id is null ${page}`,
    [app.orgId, app.id, principal.type, principal.id, cursor.at, cursor.id, cursor.take, now],
  )

export const listGroupEnvs = (db: Sql, group: Owner, { principal, now }: Reading, cursor: KeysetCursor) =>
  db.rows<WithAccess>(`${withAccess('$8')} where e.org_id = $1 and e.group_id = $2 ${page}`, [
    group.orgId,
    group.id,
    principal.type,
    principal.id,
    cursor.at,
    cursor.id,
    cursor.take,
    now,
  ])

/**
 * Lists holders who can still use their key: a revoked or expired token must not get the key of a branch. A person has
 * their address as the name, because a key is given to the person with this address, and anyone may choose any name.
 */
export const listGrantees = (db: Sql, env: Env, now: string, cursor: KeysetCursor) =>
  db.rows<{
    id: string
    createdAt: string
    principalType: Static<typeof HolderType>
    principalId: string
    name: string | null
    publicKeyJwk: string
  }>(
    `select k.id, k.created_at, k.principal_type, k.principal_id, coalesce(t.name, u.email, u.name) as name,
            coalesce(t.public_key_jwk, u.public_key_jwk, s.public_key_jwk) as public_key_jwk
       from key_grants k
       left join service_tokens t on k.principal_type = 'service_token' and t.org_id = k.org_id and t.id = k.principal_id
                                 and ${tokenStands('$3')}
       left join users u on k.principal_type = 'user' and u.id = k.principal_id
       left join server_keypairs s on s.org_id = k.org_id and s.owner_id = k.principal_id
             and (k.principal_type, s.purpose) in (('rotator', 'rotator'), ('sync_connection', 'sync'))
      where k.org_id = $1 and k.environment_id = $2 and ${grantInForce('$3')}
        and coalesce(t.public_key_jwk, u.public_key_jwk, s.public_key_jwk) is not null
        and ($4::timestamptz is null or (k.created_at, k.id) > ($4, $5))
      order by k.created_at, k.id limit $6`,
    [env.orgId, env.id, now, cursor.at, cursor.id, cursor.take],
  )
