import type { VaultDelivery as DeliveryRow, VaultWebhook as WebhookRow } from '@skerry/contract/vault/webhooks'
import type { Static } from 'typebox'
import type { Sql } from '../../../db/database.ts'
import { type Checked, narrowed } from '../../../http/access.ts'
import type { Access } from '../../../http/route.ts'
import { fail } from '../../../kernel/errors.ts'
import type { Place } from '../connections/scope.ts'
import type { ByPlatform } from '../platform/scope.ts'
import type { OnProject } from '../projects/scope.ts'

export type Webhook = Checked<
  Static<typeof WebhookRow> & { orgId: string; sealedSecret: string; restsUntil: string | null }
>
export type Delivery = Checked<Static<typeof DeliveryRow> & { orgId: string; body: string }>

export interface OnWebhook {
  webhook: Webhook
}
export type OnDelivery = OnWebhook & { delivery: Delivery }

/** Columns of `vault_webhooks w`. */
export const webhookColumns = `w.org_id, w.id, w.project_id, w.url, w.events, w.description, w.status, w.sealed_secret,
  w.failure_count, w.rests_until, w.last_delivery_at, w.last_delivery_status, w.last_error, w.created_at, w.updated_at`

/** Columns of `vault_deliveries d`. */
export const deliveryColumns = `d.org_id, d.id, d.webhook_id, d.type, d.connection_id, d.body, d.status, d.attempts,
  d.next_attempt_at, d.last_attempt_at, d.response_status, d.last_error, d.created_at`

const findWebhook = (db: Sql, { orgId, id }: Place, webhookId: string) =>
  db.row<Webhook>(
    `select ${webhookColumns} from vault_webhooks w where w.org_id = $1 and w.project_id = $2 and w.id = $3`,
    [orgId, id, webhookId],
  )

const findDelivery = (db: Sql, { orgId, id }: Webhook, deliveryId: string) =>
  db.row<Delivery>(
    `select ${deliveryColumns} from vault_deliveries d where d.org_id = $1 and d.webhook_id = $2 and d.id = $3`,
    [orgId, id, deliveryId],
  )

/** Adds the webhook in the path if it belongs to the project that `placeOf` returns. */
const webhookOf =
  <S extends object>(placeOf: (scope: S) => Place) =>
  <T extends S, N extends string>(base: Access<T, N>): Access<T & OnWebhook, N | 'vaultWebhookId'> =>
    narrowed(
      'webhook',
      'The webhook must belong to the project',
      base,
      async (scope: T, { db }, { vaultWebhookId }: Record<N | 'vaultWebhookId', string>) => {
        const webhook = await findWebhook(db, placeOf(scope), vaultWebhookId)
        if (!webhook) throw noWebhook()
        return { ...scope, webhook }
      },
    )

export const noWebhook = () => fail('not_found', 'no such webhook')

export const ofProject = webhookOf<OnProject>(({ project }) => project)
export const ofPlatform = webhookOf<ByPlatform>(({ place }) => place)

export const delivery = <S extends OnWebhook, N extends string>(
  base: Access<S, N>,
): Access<S & OnDelivery, N | 'vaultDeliveryId'> =>
  narrowed(
    'delivery',
    'The delivery must belong to the webhook',
    base,
    async (scope: S, { db }, { vaultDeliveryId }: Record<N | 'vaultDeliveryId', string>) => {
      const found = await findDelivery(db, scope.webhook, vaultDeliveryId)
      if (!found) throw fail('not_found', 'no such delivery')
      return { ...scope, delivery: found }
    },
  )
