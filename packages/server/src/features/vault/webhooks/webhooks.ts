import { limits } from '@skerry/contract/limits'
import { vaultEventTypes } from '@skerry/contract/vault/facts'
import type { vaultPlatform } from '@skerry/contract/vault/platform'
import type { vaultWebhooks } from '@skerry/contract/vault/webhooks'
import type { Sql } from '../../../db/database.ts'
import type { Context } from '../../../http/context.ts'
import type { In, Out } from '../../../http/route.ts'
import { newSecret } from '../../../kernel/context.ts'
import { fail } from '../../../kernel/errors.ts'
import type { ServerKey } from '../../../keys/server-key.ts'
import type { Place } from '../connections/scope.ts'
import { webhookLifecycle } from '../lifecycles.ts'
import { lockProject } from '../projects/store.ts'
import { checkHttps } from '../urls.ts'
import { insertDeliveries } from './delivery-store.ts'
import { deliver } from './jobs.ts'
import { noWebhook, type OnWebhook, type Webhook } from './scope.ts'
import { bodyOf, hostOf, sealedFor, send } from './send.ts'
import { deleteWebhook, insertWebhook, listWebhooks, lockWebhook, recordOutcome, updateWebhook } from './store.ts'

export async function list(
  { db, context }: { db: Sql; context: Context },
  place: Place,
): Out<typeof vaultWebhooks.list> {
  const endpoints = (await listWebhooks(db, place)).map(toResponse)
  return { endpoints, available: context.serverKey !== null }
}

type Create = In<typeof vaultWebhooks.create> | In<typeof vaultPlatform.createWebhook>

export async function create(input: Create, place: Place): Out<typeof vaultWebhooks.create> {
  const { context, db, body, now, newId, audit } = input
  const { orgId, id: projectId } = place
  const { url, description = null } = body
  checkUrl(url)
  const serverKey = needKey(context)
  // The project is locked, so that two simultaneous requests are counted one after the other.
  await lockProject(db, place)
  if ((await listWebhooks(db, place)).length >= limits.vaultWebhooksMax)
    throw fail('conflict', `the project has ${limits.vaultWebhooksMax} webhooks already, which is the most`)
  const id = newId('vaultWebhook')
  const secret = `whsec_${newSecret()}`
  const events = body.events ? [...new Set(body.events)] : [...vaultEventTypes]
  const sealedSecret = serverKey.seal('vault-webhook-secret', sealedFor({ orgId, id }), secret)
  const webhook = await insertWebhook(db, place, { id, url, events, description, sealedSecret, now })
  audit('vault.webhook.created', id, { projectId, host: hostOf(url), events }, { orgId })
  return { endpoint: toResponse(webhook), secret }
}

export async function update(input: In<typeof vaultWebhooks.update, OnWebhook>): Out<typeof vaultWebhooks.update> {
  const { db, body, now, audit, enqueue } = input
  const before = await lockWebhook(db, input.webhook)
  if (!before) throw noWebhook()
  const { url = before.url, description = before.description, status = before.status } = body
  checkUrl(url)
  if (body.status) webhookLifecycle.check(before.status, status === 'active' ? 'enable' : 'disable')
  const events = body.events ? [...new Set(body.events)] : before.events
  const webhook = await updateWebhook(db, before, { url, events, description, status, now })
  const { orgId, id, projectId } = webhook
  audit('vault.webhook.updated', id, { projectId, host: hostOf(url), events, status }, { orgId })
  await enqueue(deliver, { orgId, webhookId: id })
  return { endpoint: toResponse(webhook) }
}

type Delete = In<typeof vaultWebhooks.delete, OnWebhook> | In<typeof vaultPlatform.deleteWebhook, OnWebhook>

export async function remove({ db, webhook, audit }: Delete): Out<typeof vaultWebhooks.delete> {
  const { orgId, id, projectId, url } = webhook
  if (!(await deleteWebhook(db, webhook))) throw noWebhook()
  audit('vault.webhook.deleted', id, { projectId, host: hostOf(url) }, { orgId })
  return { ok: true }
}

type Test = In<typeof vaultWebhooks.test, OnWebhook> | In<typeof vaultPlatform.testWebhook, OnWebhook>

/** Also tests a disabled webhook, so that it can be checked before it is enabled. A failed test is not counted. */
export async function test({ context, webhook, now, newId, transaction }: Test): Out<typeof vaultWebhooks.test> {
  needKey(context)
  const { orgId, id: webhookId, projectId } = webhook
  const id = newId('vaultDelivery')
  const ping = { id, type: 'ping', createdAt: now, projectId, connection: null } as const
  const body = bodyOf(ping)
  const outcome = await send(context, context.outbound.httpsOnly, webhook, { id, body })
  const delivered = outcome.error === null
  await transaction(async ({ db, audit }) => {
    if (!(await lockWebhook(db, webhook))) throw noWebhook()
    const tried = { status: delivered ? 'delivered' : 'dead', attempts: 1, nextAttemptAt: null, outcome } as const
    await insertDeliveries(db, orgId, [{ ...ping, webhookId, eventId: id, connectionId: null, body, ...tried }])
    await recordOutcome(db, webhook, outcome, now)
    audit('vault.webhook.tested', webhookId, { projectId, delivered, status: outcome.status }, { orgId })
  })
  return { deliveryId: id, delivered, ...outcome, queued: false }
}

/** The secrets that sign deliveries are encrypted under the server key. */
function needKey({ serverKey }: Context): ServerKey {
  if (serverKey === null) throw fail('conflict', 'this server has no server key')
  return serverKey
}

/** Whether the address may be reached is checked at each delivery. */
function checkUrl(url: string): void {
  checkHttps(url, 'body.url')
  if (URL.parse(url)?.hash) throw fail('invalid_request', 'body.url: has a fragment, which is never sent')
}

const toResponse = ({ orgId, sealedSecret, restsUntil, ...webhook }: Webhook) => webhook
