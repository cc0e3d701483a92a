import type { vaultEventTypes } from '@skerry/contract/vault/facts'
import { type EventOf, type Subscriber, subscriber } from '../../../events/events.ts'
import type { Context } from '../../../http/context.ts'
import { type Job, job } from '../../../jobs/job.ts'
import { dailyAt, everyMinutes } from '../../../jobs/schedule.ts'
import { instant, newId } from '../../../kernel/context.ts'
import { deliverDue } from './deliver.ts'
import { deleteOldDeliveries, findNextDue, insertDeliveries } from './delivery-store.ts'
import { bodyOf } from './send.ts'
import { listDueWebhooks, listWebhooks } from './store.ts'

/** One job at a time for each webhook, across all servers. A webhook that hangs delays only itself. */
export const deliver: Job<{ orgId: string; webhookId: string }, Context> = job(
  'vault.webhook.deliver',
  {
    concurrency: 8,
    perKey: ({ webhookId }) => webhookId,
    // A job that was cut off continues at once instead of at the next sweep.
    retry: { limit: 5, delaySeconds: 1 },
    deadLetter: false,
  },
  deliverAll,
)

export const jobs = [
  deliver,
  job('vault.webhook.sweep', { schedule: everyMinutes(1) }, sweep),
  job('vault.webhook.forget', { schedule: dailyAt('03:29') }, forget),
]

type Told = EventOf<'vault.connection.ready' | 'vault.connection.reauth_required' | 'vault.connection.revoked'>

const hear: Subscriber<Context> = subscriber<Told['type'], Context>(
  'vault_webhooks',
  ['vault.connection.ready', 'vault.connection.reauth_required', 'vault.connection.revoked'],
  fanOut,
  { perKey: ({ facts }) => facts.projectId },
)

export const subscribers = [hear]

/**
 * Makes a delivery of each event for each webhook that wants its type. One job handles all waiting events of a project.
 */
async function fanOut(context: Context, event: Told): Promise<void> {
  const { orgId, facts } = event
  if (orgId === null) return
  await context.db.transaction(async (tx) => {
    const others = await context.queue.takeWaiting(tx, hear.job as Job<Told, Context>, event)
    const webhooks = (await listWebhooks(tx, { orgId, id: facts.projectId })).filter(
      ({ status }) => status === 'active',
    )
    const all = [event, ...others].flatMap((told) =>
      webhooks.filter(({ events }) => events.includes(typeOf(told))).map(({ id }) => deliveryOf(context, told, id)),
    )
    await insertDeliveries(tx, orgId, all)
    for (const webhookId of new Set(all.map((one) => one.webhookId)))
      await context.queue.enqueue(tx, deliver, { orgId, webhookId })
  })
  context.queue.nudge(deliver)
}

/** The event type under the name that products see. */
const typeOf = ({ type }: Told) => type.replace(/^vault\./, '') as (typeof vaultEventTypes)[number]

function deliveryOf(context: Context, told: Told, webhookId: string) {
  const { id: eventId, at: createdAt, facts } = told
  const { projectId, connection } = facts
  const id = newId('vaultDelivery')
  const type = typeOf(told)
  return {
    ...{ id, webhookId, eventId, type, connectionId: connection.id, createdAt },
    body: bodyOf({ id, type, createdAt, projectId, connection }),
    ...({ status: 'pending', attempts: 0, nextAttemptAt: instant(context), outcome: null } as const),
  }
}

const minuteMs = 60_000

/** Sends the due deliveries, and queues itself again if more are due within a minute. The sweep handles later ones. */
async function deliverAll(context: Context, webhook: { orgId: string; webhookId: string }): Promise<void> {
  const { db, queue } = context
  const { orgId, webhookId: id } = webhook
  // Waiting jobs for the same webhook are removed, because this run does their work.
  await db.transaction((tx) => queue.takeWaiting(tx, deliver, webhook))
  await deliverDue(context, { orgId, id })
  const next = await findNextDue(db, { orgId, id })
  const waitMs = next ? Date.parse(next.at) - context.now().getTime() : minuteMs
  if (waitMs >= minuteMs) return
  await queue.enqueue(db, deliver, webhook, { startAfterSeconds: Math.max(0, Math.ceil(waitMs / 1000)) })
}

/** Queues deliveries that a stopped server left behind, and deliveries that have become due. */
export async function sweep(context: Context): Promise<void> {
  for (const { orgId, id } of await listDueWebhooks(context.db, instant(context)))
    await context.queue.enqueue(context.db, deliver, { orgId, webhookId: id })
  context.queue.nudge(deliver)
}

const keptDays = 30

export async function forget({ db, now }: Context): Promise<void> {
  await deleteOldDeliveries(db, new Date(now().getTime() - keptDays * 86_400_000).toISOString())
}
