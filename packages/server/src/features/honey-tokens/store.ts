import type { HoneyToken } from '@skerry/contract/honey-tokens/schemas'
import type { Static } from 'typebox'
import type { Sql, Tx } from '../../db/database.ts'
import type { KeysetCursor } from '../../http/page.ts'
import type { Org } from '../orgs/scope.ts'
import { honeyTokenColumns } from './scope.ts'

type Row = Static<typeof HoneyToken>

export const listHoneyTokens = (db: Sql, org: Org, cursor: KeysetCursor) =>
  db.rows<Row>(
    `select ${honeyTokenColumns} from honey_tokens
      where org_id = $1 and ($2::timestamptz is null or (created_at, id) > ($2, $3))
      order by created_at, id limit $4`,
    [org.id, cursor.at, cursor.id, cursor.take],
  )

export async function insertHoneyToken(
  db: Tx,
  org: Org,
  decoy: { id: string; tokenId: string; placement: string | null; now: string },
): Promise<Row> {
  const row = await db.row<Row>(
    `insert into honey_tokens (org_id, id, token_id, placement, created_at) values ($1, $2, $3, $4, $5)
     returning ${honeyTokenColumns}`,
    [org.id, decoy.id, decoy.tokenId, decoy.placement, decoy.now],
  )
  return row as Row
}

/**
 * Finds the decoys among presented tokens, by hash or by id. Our clients present a value derived from the planted
 * string, and other programs present the string itself. Both have found the decoy.
 */
export const findDecoys = (db: Sql, bearerHashes: string[], tokenIds: string[]) =>
  db.rows<{ orgId: string; id: string; tokenId: string; tokenHash: string }>(
    `select h.org_id, h.id, h.token_id, t.token_hash
       from service_tokens t join honey_tokens h on h.org_id = t.org_id and h.token_id = t.id
      where t.token_hash = any($1::text[]) or t.id = any($2::text[])
      order by h.org_id, h.id`,
    [bearerHashes, tokenIds],
  )

/** Locks the decoy until commit, so that uses seen by several servers are added up. */
export const lockMinute = (db: Tx, { orgId, id }: DecoyId) =>
  db.row<Minute>(
    `select token_id, placement, minute_began_at, minute_count, minute_addresses, last_trip_at, last_trip_ip,
            last_trip_user_agent
       from honey_tokens where org_id = $1 and id = $2 for update`,
    [orgId, id],
  )

export const endMinute = (db: Tx, { orgId, id }: DecoyId) =>
  db.rows(
    `update honey_tokens set minute_began_at = null, minute_count = 0, minute_addresses = '{}'
      where org_id = $1 and id = $2`,
    [orgId, id],
  )

export interface DecoyId {
  orgId: string
  id: string
}

/** The uses that are not in the audit log yet. */
export interface Minute {
  tokenId: string
  placement: string | null
  minuteBeganAt: string | null
  minuteCount: number
  minuteAddresses: string[]
  lastTripAt: string | null
  lastTripIp: string | null
  lastTripUserAgent: string | null
}

const alertPauseMinutes = 10

interface Trips {
  count: number
  /** How many of these are for the entry that closes the minute. */
  toClose: number
  minuteBeganAt: string
  addresses: string[]
  at: string
  ipAddress: string | null
  userAgent: string | null
}

/** Adds uses to a locked decoy. `alertDue` is true at most once in 10 minutes, whatever is tried. */
export const addTrips = (db: Tx, decoy: DecoyId, trips: Trips) =>
  db.row<{ alertDue: boolean }>(
    `update honey_tokens
        set trip_count = trip_count + $3,
            last_trip_ip = case when last_trip_at > $4 then last_trip_ip else $5 end,
            last_trip_user_agent = case when last_trip_at > $4 then last_trip_user_agent else $6 end,
            last_trip_at = greatest(last_trip_at, $4::timestamptz),
            last_alert_at = case when last_alert_at > $4::timestamptz - make_interval(mins => $7) then last_alert_at
                                 else $4 end,
            minute_began_at = $8, minute_count = minute_count + $9, minute_addresses = $10
      where org_id = $1 and id = $2 returning last_alert_at = $4 as alert_due`,
    [
      decoy.orgId,
      decoy.id,
      trips.count,
      trips.at,
      trips.ipAddress,
      trips.userAgent,
      alertPauseMinutes,
      trips.minuteBeganAt,
      trips.toClose,
      trips.addresses,
    ],
  )
