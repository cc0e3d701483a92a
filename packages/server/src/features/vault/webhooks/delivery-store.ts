import type { Sql, Tx } from '../../../db/database.ts'
import type { KeysetCursor } from '../../../http/page.ts'
import type { DeliveryStatus } from '../lifecycles.ts'
import { type Delivery, deliveryColumns, type Webhook } from './scope.ts'
import type { Outcome } from './send.ts'

/** The new state of a delivery after one attempt. */
export interface Tried {
  id: string
  status: DeliveryStatus
  attempts: number
  nextAttemptAt: string | null
  outcome: Outcome
}

type NewDelivery = Pick<Delivery, 'id' | 'webhookId' | 'type' | 'connectionId' | 'body' | 'createdAt'> & {
  eventId: string
} & Omit<Tried, 'outcome'> & { outcome: Outcome | null }

/** Skips an event that its webhook already has, and an event about a person who was erased meanwhile. */
export const insertDeliveries = (db: Tx, orgId: string, all: readonly NewDelivery[]) =>
  db.rows(
    `insert into vault_deliveries (org_id, id, webhook_id, event_id, type, connection_id, body, created_at, status,
                                   attempts, next_attempt_at, last_attempt_at, response_status, last_error)
     select $1::text, n.id, n.webhook_id, n.event_id, n.type, n.connection_id, n.body, n.created_at, n.status, n.attempts,
            n.next_attempt_at, case when n.attempts > 0 then n.created_at end, n.response_status, n.last_error
       from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[],
                   $9::text[], $10::int[], $11::timestamptz[], $12::int[], $13::text[])
              as n(id, webhook_id, event_id, type, connection_id, body, created_at, status, attempts, next_attempt_at,
                   response_status, last_error)
      where n.connection_id is null
         or exists (select from vault_connections c where c.org_id = $1::text and c.id = n.connection_id)
     on conflict (org_id, webhook_id, event_id) do nothing`,
    [
      orgId,
      all.map((one) => one.id),
      all.map((one) => one.webhookId),
      all.map((one) => one.eventId),
      all.map((one) => one.type),
      all.map((one) => one.connectionId),
      all.map((one) => one.body),
      all.map((one) => one.createdAt),
      all.map((one) => one.status),
      all.map((one) => one.attempts),
      all.map((one) => one.nextAttemptAt),
      all.map((one) => one.outcome?.status ?? null),
      all.map((one) => one.outcome?.error ?? null),
    ],
  )

export const listDeliveries = (
  db: Sql,
  { orgId, id }: Webhook,
  status: DeliveryStatus | undefined,
  cursor: KeysetCursor,
) =>
  db.rows<Delivery>(
    `select ${deliveryColumns} from vault_deliveries d
      where d.org_id = $1 and d.webhook_id = $2 and ($3::text is null or d.status = $3)
        and ($4::timestamptz is null or (d.created_at, d.id) < ($4, $5))
      order by d.created_at desc, d.id desc limit $6`,
    [orgId, id, status ?? null, cursor.at, cursor.id, cursor.take],
  )

/** Lists due deliveries, the longest waiting first. */
export const listDue = (db: Sql, { orgId, id }: Webhook, now: string, take: number) =>
  db.rows<Delivery>(
    `select ${deliveryColumns} from vault_deliveries d
      where d.org_id = $1 and d.webhook_id = $2 and d.status = 'pending' and d.next_attempt_at <= $3
      order by d.next_attempt_at, d.id limit $4`,
    [orgId, id, now, take],
  )

/**
 * Returns when the next pending delivery may be sent: when it is due and the pause of its webhook is over. Returns
 * undefined if none is pending or the webhook is disabled.
 */
export const findNextDue = (db: Sql, { orgId, id }: Pick<Webhook, 'orgId' | 'id'>) =>
  db.row<{ at: string }>(
    `select greatest(d.next_attempt_at, w.rests_until) as at
       from vault_webhooks w join vault_deliveries d on d.org_id = w.org_id and d.webhook_id = w.id
      where w.org_id = $1 and w.id = $2 and w.status = 'active' and d.status = 'pending'
      order by d.next_attempt_at limit 1`,
    [orgId, id],
  )

/** Skips deliveries that another attempt has changed meanwhile. */
export const recordTries = (db: Tx, { orgId, id }: Pick<Webhook, 'orgId' | 'id'>, all: readonly Tried[], now: string) =>
  db.rows(
    `update vault_deliveries d
        set status = t.status, attempts = t.attempts, next_attempt_at = t.next_attempt_at, last_attempt_at = $3,
            response_status = t.response_status, last_error = t.last_error
       from unnest($4::text[], $5::text[], $6::int[], $7::timestamptz[], $8::int[], $9::text[])
              as t(id, status, attempts, next_attempt_at, response_status, last_error)
      where d.org_id = $1 and d.webhook_id = $2 and d.id = t.id and d.status = 'pending' and d.attempts = t.attempts - 1`,
    [
      orgId,
      id,
      now,
      all.map((one) => one.id),
      all.map((one) => one.status),
      all.map((one) => one.attempts),
      all.map((one) => one.nextAttemptAt),
      all.map((one) => one.outcome.status),
      all.map((one) => one.outcome.error),
    ],
  )

/** Makes a delivery due now and gives it all its attempts again. */
export const restartDelivery = async (db: Tx, { orgId, id }: Delivery, now: string) =>
  (await db.row<Delivery>(
    `update vault_deliveries d set status = 'pending', attempts = 0, next_attempt_at = $3
      where d.org_id = $1 and d.id = $2 returning ${deliveryColumns}`,
    [orgId, id, now],
  )) as Delivery

export const deleteOldDeliveries = (db: Sql, monthAgo: string) =>
  db.rows('delete from vault_deliveries where created_at <= $1', [monthAgo])
