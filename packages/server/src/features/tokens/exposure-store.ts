import type { Sql, Tx } from '../../db/database.ts'
import { tokenInForce } from '../../model/tokens/table.ts'

export interface Exposed {
  orgId: string
  id: string
  name: string
  tokenHash: string
}

export const findByHash = (db: Sql, tokenHashes: string[], now: string) =>
  db.rows<Exposed>(
    `select t.org_id, t.id, t.name, t.token_hash from service_tokens t
      where t.token_hash = any($1::text[]) and ${tokenInForce('$2')} order by t.org_id, t.id`,
    [tokenHashes, now],
  )

const pauseMinutes = 60

/** Returns false if the last report was less than an hour ago. */
export const upsertExposure = async (db: Tx, token: { orgId: string; id: string }, now: string): Promise<boolean> =>
  (await db.row(
    `insert into token_exposures as e (org_id, token_id, told_at) values ($1, $2, $3)
     on conflict (org_id, token_id) do update set told_at = $3
       where e.told_at <= $3::timestamptz - make_interval(mins => $4)
     returning token_id`,
    [token.orgId, token.id, now, pauseMinutes],
  )) !== undefined
