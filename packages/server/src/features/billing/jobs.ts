import type { Context } from '../../http/context.ts'
import { job } from '../../jobs/job.ts'
import { dailyAt } from '../../jobs/schedule.ts'
import { system, transactWithAudit } from '../../kernel/audit.ts'
import { instant } from '../../kernel/context.ts'
import { openPayments } from './payments.ts'
import { isInForce } from './standing.ts'
import { deleteOldEvents, findOrgOfCustomer, listHoldings, lockPlans, saveHolding } from './store.ts'

/** Runs once at a time for each subscription, so that the last write stores the last state that was read. */
export const refresh = job<{ subscriptionId: string }, Context>(
  'billing.refresh',
  { perKey: ({ subscriptionId }) => subscriptionId, retry: { limit: 12, delaySeconds: 10 } },
  refreshSubscription,
)

/** How long event ids are kept. The provider repeats no event after that time. */
const eventsKeptMs = 60 * 86_400_000

export const jobs = [
  refresh,
  job('billing.forget_events', { schedule: dailyAt('04:20') }, (context) =>
    deleteOldEvents(context.db, new Date(context.now().getTime() - eventsKeptMs).toISOString()),
  ),
]

/** Stores the current state of a subscription. Does nothing for a customer that belongs to no organization. */
async function refreshSubscription(context: Context, { subscriptionId }: { subscriptionId: string }): Promise<void> {
  const payments = openPayments(context)
  if (!payments) throw new Error('the payment provider is configured no longer')
  const { plan, customerId, ...paid } = await payments.read(subscriptionId)
  const org = await findOrgOfCustomer(context.db, customerId)
  if (!org) return context.log.warn('a payment of a customer that no organization has')
  const now = instant(context)
  await transactWithAudit(context, system, async (db, record) => {
    await lockPlans(db, org)
    const { family, id } = plan
    const before = (await listHoldings(db, org)).find((one) => one.family === family && one.source === 'subscription')
    const holding = { family, source: 'subscription' as const, plan: id, code: null, ...paid }
    // The end of an earlier subscription must not end the one that replaced it.
    const isOther = before !== undefined && before.subscriptionId !== subscriptionId
    if (isOther && isInForce(before, now) && !isInForce(holding, now)) return
    await saveHolding(db, org, holding, now)
    if (before?.plan === id && before.status === paid.status && !isOther) return
    const metadata = { family, plan: id, status: paid.status }
    record({ orgId: org.id, action: 'billing.subscription_changed', resourceId: org.id, metadata })
  })
}
