import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../http/context.ts'
import { instant } from '../../kernel/context.ts'
import { fail } from '../../kernel/errors.ts'
import { refresh } from './jobs.ts'
import { openStripe } from './payments.ts'
import { takeEvent } from './store.ts'

const bodyBytesMax = 512 * 1024
/** An older request is refused, so that a recorded one is of no use later. */
const toleranceSeconds = 300

/**
 * `POST /webhooks/stripe`: the provider reports that something has changed, and a job asks it for the current state. So
 * neither events in the wrong order nor repeated events can store a wrong state.
 */
export function mountWebhook(app: FastifyInstance, context: Context): void {
  app.post<{ Body: unknown }>(
    '/webhooks/stripe',
    {
      bodyLimit: bodyBytesMax,
      // The signature covers the bytes as they arrived.
      preParsing: async (request, _reply, payload) => {
        const bytes = await readAll(payload)
        signedBytes.set(request.raw, bytes)
        return Readable.from([bytes])
      },
    },
    async (request, reply) => {
      const { stripe: settings } = context.config
      if (!settings?.webhookSecret) throw fail('not_found', 'no such path')
      const bytes = signedBytes.get(request.raw) ?? Buffer.alloc(0)
      const event = await verify(context, settings, bytes, request.headers['stripe-signature'])
      const subscriptionId = subscriptionOf(event)
      await context.db.transaction(async (tx) => {
        if (!(await takeEvent(tx, event.id, instant(context)))) return
        if (subscriptionId !== null) await context.queue.enqueue(tx, refresh, { subscriptionId })
      })
      context.queue.nudge(refresh)
      reply.headers({ 'x-request-id': request.id, 'cache-control': 'no-store' })
      return reply.send({ received: true })
    },
  )
}

/** Raw bodies of the requests in progress. */
const signedBytes = new WeakMap<object, Buffer>()

async function readAll(payload: AsyncIterable<Uint8Array | string>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of payload) {
    const bytes = Buffer.from(chunk)
    length += bytes.length
    if (length > bodyBytesMax) throw fail('invalid_request', `body: larger than ${bodyBytesMax} bytes`)
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
}

interface Told {
  id: string
  type: string
  data: { object: object }
}

async function verify(
  context: Context,
  { secretKey, webhookSecret }: { secretKey: string; webhookSecret: string | null },
  bytes: Buffer,
  signature: unknown,
): Promise<Told> {
  if (typeof signature !== 'string') throw fail('invalid_request', 'stripe-signature: is required')
  const stripe = await openStripe(context, secretKey)
  try {
    return await stripe.webhooks.constructEventAsync(
      bytes,
      signature,
      webhookSecret ?? '',
      toleranceSeconds,
      undefined,
      context.now().getTime(),
    )
  } catch {
    throw fail('invalid_request', 'stripe-signature: does not match the body')
  }
}

/** The subscription that an event is about; null if the event changes no plan. */
function subscriptionOf({ type, data }: Told): string | null {
  const object = data.object as { id?: unknown; subscription?: unknown }
  const id = type.startsWith('customer.subscription.') ? object.id : object.subscription
  const isOurs = type.startsWith('customer.subscription.') || type === 'checkout.session.completed'
  return isOurs && typeof id === 'string' ? id : null
}
