import type { Sql } from '../../db/database.ts'
import type { Checked } from '../../http/access.ts'
import { type TokenRow, tokenColumns } from '../../model/tokens/table.ts'
import { type Org, within } from '../orgs/scope.ts'

export type Token = Checked<TokenRow>

const findToken = (db: Sql, org: Org, tokenId: string) =>
  db.row<Token>(
    `select ${tokenColumns} from service_tokens t left join service_token_uses u on (u.org_id, u.token_id) = (t.org_id, t.id)
      where t.org_id = $1 and t.id = $2 and t.deleted_at is null`,
    [org.id, tokenId],
  )

export const token = within<'token', 'tokenId', Token>(
  'token',
  'tokenId',
  'The service token must belong to the organization',
  findToken,
)
