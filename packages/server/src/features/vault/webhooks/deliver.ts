import type { Context } from '../../../http/context.ts'
import { system, transactWithAudit } from '../../../kernel/audit.ts'
import { instant } from '../../../kernel/context.ts'
import { type DeliveryStatus, deliveryLifecycle } from '../lifecycles.ts'
import { listDue, recordTries, type Tried } from './delivery-store.ts'
import type { Delivery, Webhook } from './scope.ts'
import { hostOf, type Outcome, send } from './send.ts'
import { findReady, lockWebhook, recordHealth, recordOutcome } from './store.ts'

/** Pauses after the first, second, ... failure of a delivery. A delivery that fails after the last pause is dead. */
export const retrySeconds = [10, 60, 300, 1800, 7200, 21_600, 43_200, 86_400]

export const failuresMax = 50

/** How many deliveries are sent to one webhook at a time. A webhook that has failed gets a single one. */
const atOnce = 20

/** Pauses of a webhook after the first failure in a row, and after further ones. It is sent nothing during a pause. */
const restSeconds = [10, 60]

/** A job ends its turn after this time, so that other webhooks get a worker of this server. */
const turnMs = 20_000

/** Sends the due deliveries of a webhook until none is left or it fails. Deliveries that a crash cut off are resent. */
export async function deliverDue(context: Context, named: Pick<Webhook, 'orgId' | 'id'>): Promise<void> {
  const endOfTurn = performance.now() + turnMs
  // Connections are kept open, because a TLS handshake costs more than the rest of a delivery.
  using door = context.outbound.keepConnections()
  while (performance.now() < endOfTurn) {
    const webhook = await findReady(context.db, named, instant(context))
    if (!webhook) return
    const due = await listDue(context.db, webhook, instant(context), webhook.failureCount > 0 ? 1 : atOnce)
    if (due.length === 0) return
    const outcomes = await Promise.all(due.map((one) => send(context, door, webhook, one)))
    await record(context, webhook, due, outcomes)
  }
}

async function record(context: Context, webhook: Webhook, due: Delivery[], outcomes: Outcome[]): Promise<void> {
  const now = instant(context)
  const later = (seconds: number) => new Date(Date.parse(now) + seconds * 1000).toISOString()
  const tries = due.map((one, index) => triedOf(one, outcomes[index] as Outcome, later))
  const failed = outcomes.every(({ error }) => error !== null)
  const last = outcomes.findLast(({ error }) => (error !== null) === failed) as Outcome
  await transactWithAudit(context, system, async (db, recordEntry) => {
    const before = await lockWebhook(db, webhook)
    if (!before) return
    await recordTries(db, before, tries, now)
    await recordOutcome(db, before, last, now)
    if (!failed) return recordHealth(db, before, { failureCount: 0, restsUntil: null, status: before.status })
    const failureCount = before.failureCount + 1
    const restsUntil = later(restSeconds[Math.min(failureCount, restSeconds.length) - 1] as number)
    const isOver = before.status === 'active' && failureCount >= failuresMax
    await recordHealth(db, before, { failureCount, restsUntil, status: isOver ? 'disabled' : before.status })
    if (!isOver) return
    const { orgId, id: webhookId, projectId } = before
    const facts = { host: hostOf(before.url), error: last.error as string }
    recordEntry({ orgId, action: 'vault.webhook.disabled', resourceId: webhookId, metadata: { projectId, ...facts } })
    await context.events.emit(db, 'vault.webhook.disabled', orgId, { webhookId, ...facts })
  })
}

function triedOf({ id, status, attempts }: Delivery, outcome: Outcome, later: (seconds: number) => string): Tried {
  const pause = outcome.error === null ? undefined : retrySeconds[attempts]
  const trigger = outcome.error === null ? 'accept' : pause === undefined ? 'give_up' : 'retry'
  return {
    id,
    status: deliveryLifecycle.next(status, trigger) as DeliveryStatus,
    attempts: attempts + 1,
    nextAttemptAt: pause === undefined ? null : later(pause),
    outcome,
  }
}
