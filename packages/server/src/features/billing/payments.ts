import type { Family, Plan } from '@skerry/contract/billing/plans'
import { type OutboundAnswer, OutboundError } from '@skerry/providers/outbound'
import type Stripe from 'stripe'
import type { Context } from '../../http/context.ts'
import { fail } from '../../kernel/errors.ts'

/** The current state of a subscription, as the provider reports it. */
interface Paid {
  subscriptionId: string
  customerId: string
  status: string
  plan: { family: Family; id: string }
  amount: number | null
  currency: string
  interval: string | null
  endsAt: string | null
}

/** The payment provider. */
export interface Payments {
  makeCustomer(one: { orgId: string; name: string }): Promise<string>
  checkout(one: { orgId: string; customerId: string; plan: Plan; returnUrl: string }): Promise<{ url: string }>
  portal(one: { customerId: string; returnUrl: string }): Promise<{ url: string }>
  /** Ends a subscription at once. Succeeds if it has ended already. */
  cancel(subscriptionId: string): Promise<void>
  read(subscriptionId: string): Promise<Paid>
}

const ownOrigin = 'https://api.stripe.com'

/** Returns null if the operator has set no key of a payment provider. */
export function openPayments(context: Context): Payments | null {
  const settings = context.config.stripe
  if (!settings) return null
  const ask = <T>(work: (stripe: Stripe) => Promise<T>): Promise<T> =>
    openStripe(context, settings.secretKey).then(work).catch(refused)
  return {
    makeCustomer: ({ orgId, name }) =>
      ask(async (stripe) => {
        // With this idempotency key, Stripe makes one customer for two calls at once, and returns it to both.
        const key = { idempotencyKey: `customer-${orgId}` }
        return (await stripe.customers.create({ name, metadata: { orgId } }, key)).id
      }),
    checkout: ({ customerId, plan, returnUrl }) =>
      ask(async (stripe) => {
        const price = settings.prices[`${plan.family}.${plan.id}`] as string
        const session = await stripe.checkout.sessions.create({
          mode: 'subscription',
          customer: customerId,
          line_items: [{ price, quantity: 1 }],
          success_url: returnUrl,
          cancel_url: returnUrl,
        })
        if (session.url === null) throw new Error('a hosted checkout has an address')
        return { url: session.url }
      }),
    portal: ({ customerId, returnUrl }) =>
      ask((stripe) => stripe.billingPortal.sessions.create({ customer: customerId, return_url: returnUrl })),
    cancel: (subscriptionId) =>
      ask(async (stripe) => {
        await stripe.subscriptions.cancel(subscriptionId).catch((error: unknown) => {
          if (!isGone(error)) throw error
        })
      }),
    read: (subscriptionId) =>
      ask(async (stripe) => toPaid(await stripe.subscriptions.retrieve(subscriptionId), settings.prices)),
  }
}

/** Loads the official library when it is first used. All its requests go through `outbound`. */
export async function openStripe({ outbound }: Pick<Context, 'outbound'>, secretKey: string): Promise<Stripe> {
  const { default: StripeClient } = await import('stripe')
  const at = new URL(outbound.origin('stripe', ownOrigin))
  return new StripeClient(secretKey, {
    host: at.hostname,
    port: at.port || (at.protocol === 'https:' ? 443 : 80),
    protocol: at.protocol === 'https:' ? 'https' : 'http',
    telemetry: false,
    maxNetworkRetries: 1,
    httpClient: StripeClient.createFetchHttpClient(async (input, init) =>
      toResponse(await send(outbound, input, init)),
    ),
  })
}

const answerBytesMax = 1024 * 1024
const timeoutMs = 20_000

function send(outbound: Context['outbound'], input: unknown, init: RequestInit = {}): Promise<OutboundAnswer> {
  return outbound.send({
    method: (init.method ?? 'GET') as 'GET',
    url: String(input),
    headers: Object.fromEntries(new Headers(init.headers)),
    ...(typeof init.body === 'string' && init.body !== '' ? { body: init.body } : {}),
    bytesMax: answerBytesMax,
    timeoutMs,
  })
}

const toResponse = ({ status, headers, body }: OutboundAnswer): Response =>
  new Response(Buffer.from(body), {
    status,
    headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
  })

/** The error repeats no message of the provider, because it may quote what was sent. */
function refused(error: unknown): never {
  const { statusCode, detail } = error as { statusCode?: unknown; detail?: unknown }
  if (typeof statusCode === 'number') throw fail('conflict', `target: the payment provider answered ${statusCode}`)
  const cause = error instanceof OutboundError ? error : detail
  if (cause instanceof OutboundError) throw fail('conflict', 'target: the payment provider cannot be reached')
  throw error
}

const isGone = (error: unknown): boolean => (error as { code?: unknown }).code === 'resource_missing'

function toPaid(subscription: Stripe.Subscription, prices: Readonly<Record<string, string>>): Paid {
  const [item] = subscription.items.data
  const key = Object.keys(prices).find((one) => prices[one] === item?.price.id)
  if (!item || !key) throw new Error('the subscription is of a price that SKERRY_STRIPE_PRICES does not name')
  const [family, id] = key.split('.') as [Family, string]
  const { customer, status } = subscription
  return {
    subscriptionId: subscription.id,
    customerId: typeof customer === 'string' ? customer : customer.id,
    status,
    plan: { family, id },
    amount: item.price.unit_amount,
    currency: item.price.currency,
    interval: item.price.recurring?.interval ?? null,
    endsAt: new Date(item.current_period_end * 1000).toISOString(),
  }
}
