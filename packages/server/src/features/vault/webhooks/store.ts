import type { Sql, Tx } from '../../../db/database.ts'
import type { Place } from '../connections/scope.ts'
import type { WebhookStatus } from '../lifecycles.ts'
import { type Webhook, webhookColumns } from './scope.ts'
import type { Outcome } from './send.ts'

type Named = Pick<Webhook, 'orgId' | 'id'>

/** Returns at most ten webhooks, the limit of a project. */
export const listWebhooks = (db: Sql, { orgId, id }: Place) =>
  db.rows<Webhook>(
    `select ${webhookColumns} from vault_webhooks w where w.org_id = $1 and w.project_id = $2
      order by w.created_at, w.id`,
    [orgId, id],
  )

/** Finds the webhook if it is active and its pause is over. */
export const findReady = (db: Sql, { orgId, id }: Named, now: string) =>
  db.row<Webhook>(
    `select ${webhookColumns} from vault_webhooks w
      where w.org_id = $1 and w.id = $2 and w.status = 'active' and coalesce(w.rests_until <= $3, true)`,
    [orgId, id, now],
  )

/** Reads the current webhook and locks it until commit. Returns undefined once it is deleted. */
export const lockWebhook = (db: Tx, { orgId, id }: Named) =>
  db.row<Webhook>(
    `select ${webhookColumns} from vault_webhooks w where w.org_id = $1 and w.id = $2 for no key update`,
    [orgId, id],
  )

type Facts = Pick<Webhook, 'url' | 'events' | 'description'> & { now: string }

export const insertWebhook = async (
  db: Tx,
  { orgId, id: projectId }: Place,
  one: Facts & Pick<Webhook, 'id' | 'sealedSecret'>,
) =>
  (await db.row<Webhook>(
    `insert into vault_webhooks as w (org_id, id, project_id, url, events, description, status, sealed_secret, created_at,
                                      updated_at)
     values ($1, $2, $3, $4, $5, $6, 'active', $7, $8, $8) returning ${webhookColumns}`,
    [orgId, one.id, projectId, one.url, JSON.stringify(one.events), one.description, one.sealedSecret, one.now],
  )) as Webhook

/** Every change ends the webhook's pause and resets its failure count. */
export const updateWebhook = async (
  db: Tx,
  { orgId, id }: Webhook,
  { url, events, description, status, now }: Facts & { status: WebhookStatus },
) =>
  (await db.row<Webhook>(
    `update vault_webhooks w set url = $3, events = $4, description = $5, status = $6, failure_count = 0,
            rests_until = null, updated_at = $7
      where w.org_id = $1 and w.id = $2 returning ${webhookColumns}`,
    [orgId, id, url, JSON.stringify(events), description, status, now],
  )) as Webhook

export const deleteWebhook = async (db: Tx, { orgId, id }: Named): Promise<boolean> =>
  (await db.row('delete from vault_webhooks where org_id = $1 and id = $2 returning 1', [orgId, id])) !== undefined

export const recordOutcome = (db: Tx, { orgId, id }: Named, { status, error }: Outcome, now: string) =>
  db.rows(
    `update vault_webhooks set last_delivery_at = $3, last_delivery_status = $4, last_error = $5
      where org_id = $1 and id = $2`,
    [orgId, id, now, status, error],
  )

export const recordHealth = (
  db: Tx,
  { orgId, id }: Named,
  { failureCount, restsUntil, status }: Pick<Webhook, 'failureCount' | 'restsUntil' | 'status'>,
) =>
  db.rows('update vault_webhooks set failure_count = $3, rests_until = $4, status = $5 where org_id = $1 and id = $2', [
    orgId,
    id,
    failureCount,
    restsUntil,
    status,
  ])

export const endRest = (db: Tx, { orgId, id }: Named) =>
  db.rows('update vault_webhooks set rests_until = null where org_id = $1 and id = $2', [orgId, id])

/** Lists webhooks that are active, not pausing, and have a due delivery. */
export const listDueWebhooks = (db: Sql, now: string) =>
  db.rows<Named>(
    `select w.org_id, w.id from vault_webhooks w
      where w.status = 'active' and coalesce(w.rests_until <= $1, true)
        and (w.org_id, w.id) in (select d.org_id, d.webhook_id from vault_deliveries d
                                  where d.status = 'pending' and d.next_attempt_at <= $1)`,
    [now],
  )
