import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import { actingFor } from '../../model/people/made.ts'
import { type TokenRow, tokenColumns } from '../../model/tokens/table.ts'
import { isUnregistered } from '../../model/tokens/write.ts'
import type { Org } from '../orgs/scope.ts'

export const listTokens = (db: Sql, org: Org, cursor: KeysetCursor) =>
  db.rows<TokenRow>(
    `select ${tokenColumns} from service_tokens t
       left join service_token_uses u on u.org_id = t.org_id and u.token_id = t.id
      where t.org_id = $1 and t.deleted_at is null and ($2::timestamptz is null or (t.created_at, t.id) > ($2, $3))
      order by t.created_at, t.id limit $4`,
    [org.id, cursor.at, cursor.id, cursor.take],
  )

/** Lists the environments whose key is wrapped to the token. */
export const listGrantedEnvironments = async (db: Sql, token: { orgId: string; id: string }): Promise<string[]> => {
  const rows = await db.rows<{ environmentId: string }>(
    `select environment_id from key_grants
      where org_id = $1 and principal_type = 'service_token' and principal_id = $2 order by environment_id`,
    [token.orgId, token.id],
  )
  return rows.map(({ environmentId }) => environmentId)
}

export const findRestored = (db: Tx, org: Org, id: string) =>
  db.row<{ publicKeyJwk: string; role: string; environmentId: string | null }>(
    `select public_key_jwk, role, environment_id from service_tokens where org_id = $1 and id = $2 and ${isUnregistered}`,
    [org.id, id],
  )

export const findTokensMadeBy = (db: Sql, org: Org, userId: string) =>
  db.rows<{ id: string; name: string }>(
    `select id, name from service_tokens
      where org_id = $1 and revoked_at is null and deleted_at is null
        and id in (select o.id from (${actingFor('$1', '$2')}) o where o.type = 'service_token')
      order by created_at, id`,
    [org.id, userId],
  )
