import { limits } from '@skerry/contract/limits'
import type { vaultWebhooks } from '@skerry/contract/vault/webhooks'
import { byCreation, pageFrom, pageOf } from '../../../http/page.ts'
import type { In, Out } from '../../../http/route.ts'
import { deliveryLifecycle, webhookLifecycle } from '../lifecycles.ts'
import { listDeliveries, restartDelivery } from './delivery-store.ts'
import { deliver } from './jobs.ts'
import { type Delivery, noWebhook, type OnDelivery, type OnWebhook } from './scope.ts'
import { endRest, lockWebhook } from './store.ts'

export async function deliveries({
  db,
  webhook,
  query,
}: In<typeof vaultWebhooks.deliveries, OnWebhook>): Out<typeof vaultWebhooks.deliveries> {
  const cursor = pageFrom(query, 'vaultDelivery', limits.vaultDeliveriesDefault)
  const page = pageOf(await listDeliveries(db, webhook, query.status, cursor), cursor, byCreation)
  return { deliveries: page.rows.map(toResponse), nextCursor: page.nextCursor }
}

export async function redeliver(
  input: In<typeof vaultWebhooks.redeliver, OnDelivery>,
): Out<typeof vaultWebhooks.redeliver> {
  const { db, now, audit, enqueue } = input
  const webhook = await lockWebhook(db, input.webhook)
  if (!webhook) throw noWebhook()
  webhookLifecycle.check(webhook.status, 'send')
  deliveryLifecycle.check(input.delivery.status, 'redeliver')
  await endRest(db, webhook)
  const delivery = await restartDelivery(db, input.delivery, now)
  const { orgId, id: webhookId, projectId } = webhook
  audit('vault.webhook.redelivered', webhookId, { projectId, deliveryId: delivery.id, type: delivery.type })
  await enqueue(deliver, { orgId, webhookId })
  return { delivery: toResponse(delivery) }
}

const toResponse = ({ orgId, body, ...delivery }: Delivery) => delivery
