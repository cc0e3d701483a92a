import type { HoneyToken as HoneyTokenRow } from '@skerry/contract/honey-tokens/schemas'
import type { Static } from 'typebox'
import type { Sql } from '../../db/database.ts'
import type { Checked } from '../../http/access.ts'
import { type Org, within } from '../orgs/scope.ts'

export type HoneyToken = Checked<Static<typeof HoneyTokenRow>>

/** Without the hash, which is in the row of the service token. */
export const honeyTokenColumns = `id, token_id, placement, trip_count, last_trip_at, last_trip_ip, last_trip_user_agent,
  created_at`

const findHoneyToken = (db: Sql, org: Org, honeyTokenId: string) =>
  db.row<HoneyToken>(`select ${honeyTokenColumns} from honey_tokens where org_id = $1 and id = $2`, [
    org.id,
    honeyTokenId,
  ])

export const honeyToken = within<'honeyToken', 'honeyTokenId', HoneyToken>(
  'honeyToken',
  'honeyTokenId',
  'The honey token must belong to the organization',
  findHoneyToken,
  'honey token',
)
