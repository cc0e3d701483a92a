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

/** One at a time for each webhook, on whichever server: one that hangs holds up nobody but itself. */
export const deliver: Job<{ orgId: string; webhookId: string }, Context> = job(
  'vault.webhook.deliver',
  {
    concurrency: 8,
    perKey: ({ webhookId }) => webhookId,
    // One that was cut off goes on at once, and not with the next sweep.
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

/** Makes a delivery of each event for each webhook that wants it. A job takes all events of its project that wait. */
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

/** As products know it. */
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

/** Sends what is due, and comes again when more is; later than in a minute the sweep does. */
async function deliverAll(context: Context, webhook: { orgId: string; webhookId: string }): Promise<void> {
  const { db, queue } = context
  const { orgId, webhookId: id } = webhook
  // What was asked for until now is done with this run.
  await db.transaction((tx) => queue.takeWaiting(tx, deliver, webhook))
  await deliverDue(context, { orgId, id })
  const next = await findNextDue(db, { orgId, id })
  const waitMs = next ? Date.parse(next.at) - context.now().getTime() : minuteMs
  if (waitMs >= minuteMs) return
  await queue.enqueue(db, deliver, webhook, { startAfterSeconds: Math.max(0, Math.ceil(waitMs / 1000)) })
}

/** Finds what a server that is gone has left, and what is due by time. */
export async function sweep(context: Context): Promise<void> {
  for (const { orgId, id } of await listDueWebhooks(context.db, instant(context)))
    await context.queue.enqueue(context.db, deliver, { orgId, webhookId: id })
  context.queue.nudge(deliver)
}

const keptDays = 30

export async function forget({ db, now }: Context): Promise<void> {
  await deleteOldDeliveries(db, new Date(now().getTime() - keptDays * 86_400_000).toISOString())
}
