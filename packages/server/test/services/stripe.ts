import { createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/**
 * A fake of the part of Stripe's API that plans use, according to its reference: form bodies, a bearer token, a pinned
 * API version. It refuses unknown paths and parameters, because tests cannot use the real API.
 */
export interface Stripe {
  settings: Record<string, string>
  /** The requests, such as `POST /v1/customers`, in order. */
  asked: string[]
  customers: Map<string, Record<string, string>>
  /** The checkout sessions, in order. */
  checkouts: Record<string, string>[]
  /** Starts a paid subscription, as a customer does on the checkout page, and returns its id. */
  pay(customer: string, price: string): string
  /** Changes the status or the price of a subscription. */
  change(id: string, to: { status?: string; price?: string }): void
  /** Sends an event as Stripe does, and returns the status of the response. */
  tell(url: string, event: { id?: string; type: string; object: object }, more?: Forged): Promise<number>
  /** While it is set, every request is answered with this status. */
  failing: number | null
  close(): Promise<void>
}

interface Forged {
  secret?: string
  atSeconds?: number
  body?: (signed: string) => string
}

interface Subscription {
  customer: string
  status: string
  price: string
}

export const stripeKey = 'sk_test_51NothingReal'
const webhookSecret = 'whsec_c2tlcnJ5'
const amounts: Record<string, number> = { price_team: 2000, price_business: 9000 }
const periodEnd = 1_893_456_000

export async function startStripe(): Promise<Stripe> {
  const customers: Stripe['customers'] = new Map()
  const subscriptions = new Map<string, Subscription>()
  const answered = new Map<string, object>()
  const server = createServer(async (request, response) => {
    const answer = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    stripe.asked.push(`${request.method} ${request.url}`)
    try {
      const form = formOf(request, await text(request))
      if (stripe.failing !== null) return answer(stripe.failing, { error: { type: 'api_error', message: stripeKey } })
      answer(200, act(request, form))
    } catch (error) {
      const isGone = error instanceof Gone
      const code = isGone ? { code: 'resource_missing' } : {}
      answer(isGone ? 404 : 400, { error: { type: 'invalid_request_error', message: String(error), ...code } })
    }
  })

  function act({ method, url = '', headers }: IncomingMessage, form: Record<string, string>): object {
    const route = `${method} ${url.replace(/(subscriptions\/).+/, '$1:id')}`
    const id = url.split('/').at(-1) as string
    switch (route) {
      case 'POST /v1/customers': {
        only(form, ['name', 'metadata[orgId]'])
        const key = String(headers['idempotency-key'])
        const known = answered.get(key)
        if (known) return known
        const customer = { id: `cus_${newPart()}`, object: 'customer' }
        customers.set(customer.id, form)
        answered.set(key, customer)
        return customer
      }
      case 'POST /v1/checkout/sessions': {
        only(form, ['mode', 'customer', 'line_items[0][price]', 'line_items[0][quantity]', 'success_url', 'cancel_url'])
        must(form.mode === 'subscription' && amounts[form['line_items[0][price]'] ?? ''] !== undefined, 'the price')
        must(customers.has(form.customer ?? ''), 'the customer')
        stripe.checkouts.push(form)
        return { id: `cs_${newPart()}`, object: 'checkout.session', url: 'https://checkout.stripe.com/c/pay/cs_1' }
      }
      case 'POST /v1/billing_portal/sessions':
        only(form, ['customer', 'return_url'])
        must(customers.has(form.customer ?? ''), 'the customer')
        return { id: `bps_${newPart()}`, object: 'billing_portal.session', url: 'https://billing.stripe.com/p/1' }
      case 'GET /v1/subscriptions/:id':
        return shown(id, found(id))
      case 'DELETE /v1/subscriptions/:id':
        found(id).status = 'canceled'
        return shown(id, found(id))
      default:
        throw new Error(`unknown path ${route}`)
    }
  }

  function found(id: string): Subscription {
    const one = subscriptions.get(id)
    if (!one) throw new Gone('no such subscription')
    return one
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const stripe: Stripe = {
    settings: {
      SKERRY_STRIPE_SECRET_KEY: stripeKey,
      SKERRY_STRIPE_WEBHOOK_SECRET: webhookSecret,
      SKERRY_STRIPE_PRICES: JSON.stringify({ 'platform.team': 'price_team', 'platform.business': 'price_business' }),
      SKERRY_PROVIDER_ORIGINS: JSON.stringify({ stripe: origin }),
      SKERRY_ALLOW_PRIVATE_TARGETS: '127.0.0.1',
    },
    asked: [],
    customers,
    checkouts: [],
    pay(customer, price) {
      const id = `sub_${newPart()}`
      subscriptions.set(id, { customer, status: 'active', price })
      return id
    },
    change: (id, to) => void Object.assign(found(id), to),
    tell: (url, { id = `evt_${newPart()}`, type, object }, forged) =>
      post(url, { id, object: 'event', type, data: { object } }, forged),
    failing: null,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return stripe
}

class Gone extends Error {}

const newPart = () => randomBytes(8).toString('hex')

function formOf({ method, headers }: IncomingMessage, body: string): Record<string, string> {
  must(headers.authorization === `Bearer ${stripeKey}`, 'the key')
  must(typeof headers['stripe-version'] === 'string', 'the version of the API')
  must(method !== 'POST' || headers['content-type'] === 'application/x-www-form-urlencoded', 'the form')
  return Object.fromEntries(new URLSearchParams(body))
}

function only(form: Record<string, string>, names: string[]): void {
  for (const name of Object.keys(form)) must(names.includes(name), `parameter_unknown: ${name}`)
}

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(`not as the reference says: ${what}`)
}

const shown = (id: string, { customer, status, price }: Subscription) => ({
  id,
  object: 'subscription',
  customer,
  status,
  items: {
    object: 'list',
    data: [
      {
        id: 'si_1',
        object: 'subscription_item',
        current_period_end: periodEnd,
        price: {
          id: price,
          object: 'price',
          unit_amount: amounts[price],
          currency: 'eur',
          recurring: { interval: 'month' },
        },
      },
    ],
  },
})

/** Sends an event, signed as Stripe signs: HMAC-SHA-256 over `<seconds>.<body>`. */
async function post(
  url: string,
  event: object,
  { secret = webhookSecret, atSeconds = Math.floor(Date.now() / 1000), body = (signed) => signed }: Forged = {},
): Promise<number> {
  const signed = JSON.stringify(event, null, 2)
  const mac = createHmac('sha256', secret).update(`${atSeconds}.${signed}`).digest('hex')
  const { status } = await fetch(`${url}/webhooks/stripe`, {
    method: 'POST',
    headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': `t=${atSeconds},v1=${mac}` },
    body: body(signed),
  })
  return status
}
