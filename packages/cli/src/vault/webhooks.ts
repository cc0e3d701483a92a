import type { Answer, Body } from '@skerry/contract/endpoint'
import { vaultEventTypes } from '@skerry/contract/vault/facts'
import type { vaultWebhooks } from '@skerry/contract/vault/webhooks'
import { Failure, usage } from '../failure.ts'
import { findOne } from '../find-one.ts'
import { parseLimit } from '../options.ts'
import { note, type Output, warn, writeLine, writeTable } from '../output.ts'
import { eachPage } from '../pages.ts'
import { confirmOrRefuse } from '../prompt.ts'
import type { Session } from '../session.ts'
import { shownTime } from '../times.ts'
import type { AtProject, InProject, Place } from './find.ts'

type Webhook = Answer<typeof vaultWebhooks.list>['endpoints'][number]
type DeliveryPage = Answer<typeof vaultWebhooks.deliveries>
type Delivery = DeliveryPage['deliveries'][number]
type Confirmed = InProject & { yes?: boolean }

interface Created extends InProject {
  event?: string[]
  description?: string
}

type Events = NonNullable<Body<typeof vaultWebhooks.create>['events']>

function eventsOf({ event }: Created): Events | undefined {
  const unknown = event?.find((one) => !(vaultEventTypes as readonly string[]).includes(one))
  if (unknown !== undefined) throw usage(`there is no event ${unknown}`, `events: ${vaultEventTypes.join(', ')}`)
  return event as Events | undefined
}

export async function create(
  url: string,
  { session, flags, place, project, input: { events } }: AtProject<Created, typeof parseCreate>,
): Promise<Output> {
  const { description } = flags
  const body = { url, ...(events && { events }), ...(description !== undefined && { description }) }
  const { endpoint, secret } = await session.client.vaultWebhooks.create({ params: place, body })
  return {
    json: { endpoint, secret },
    text: () => writeLine(secret),
    after: () => note(`added webhook ${endpoint.id} of ${project.name}; its signing secret is shown only once`),
  }
}

export const parseCreate = (flags: Created) => ({ events: eventsOf(flags) })

export async function list({ session, place }: AtProject): Promise<Output> {
  const { endpoints, available } = await session.client.vaultWebhooks.list({ params: place })
  return {
    json: { endpoints, available },
    text: () => {
      if (!available) warn('the server has no server key, so it sends no webhooks')
      writeTable(
        ['id', 'url', 'status', 'last delivery'],
        endpoints.map((one) => [one.id, one.url, one.status, one.lastError ?? shownTime(one.lastDeliveryAt)]),
        'no webhooks yet; create one with `skerry vault webhook create <url>`',
      )
    },
  }
}

async function findWebhook(session: Session, place: Place, wanted: string): Promise<Webhook> {
  const { endpoints } = await session.client.vaultWebhooks.list({ params: place })
  return findOne(endpoints, wanted, {
    kind: 'vaultWebhook',
    noun: 'webhook',
    list: 'skerry vault webhook ls',
    nameOf: ({ url }) => url,
  })
}

export async function show(id: string, { session, place }: AtProject): Promise<Output> {
  const endpoint = await findWebhook(session, place, id)
  return {
    json: { endpoint },
    text: () =>
      writeTable(
        ['what', 'value'],
        [
          ['url', endpoint.url],
          ['events', endpoint.events.join(', ')],
          ['description', endpoint.description ?? ''],
          ['status', endpoint.status],
          ['failures in a row', String(endpoint.failureCount)],
          ['last delivery', shownTime(endpoint.lastDeliveryAt)],
          ['last answer', String(endpoint.lastDeliveryStatus ?? '')],
          ['last error', endpoint.lastError ?? ''],
        ],
      ),
  }
}

/** Settings without an option stay as they were. An empty text deletes the description. */
export async function update(
  wanted: string,
  url: string | undefined,
  { session, place, input: { events, description } }: AtProject<Created, typeof parseUpdate>,
): Promise<Output> {
  const { id } = await findWebhook(session, place, wanted)
  const body = {
    ...(url !== undefined && { url }),
    ...(events && { events }),
    ...(description !== undefined && { description }),
  }
  const { endpoint } = await session.client.vaultWebhooks.update({ params: { ...place, vaultWebhookId: id }, body })
  return { json: { endpoint }, after: () => note(`changed webhook ${endpoint.id}`) }
}

export function parseUpdate(flags: Created, _wanted: string, url: string | undefined) {
  const events = eventsOf(flags)
  const description = flags.description === '' ? null : flags.description
  if (url === undefined && !events && description === undefined)
    throw usage('there is nothing to change', 'give another URL, --event or --description')
  return { events, description }
}

export const enable = (wanted: string, work: AtProject) => setStatus(wanted, 'active', work)
export const disable = (wanted: string, work: AtProject<Confirmed>) => setStatus(wanted, 'disabled', work)

async function setStatus(
  wanted: string,
  status: Webhook['status'],
  { session, flags, place }: AtProject<Confirmed>,
): Promise<Output> {
  const { id, url } = await findWebhook(session, place, wanted)
  if (status === 'disabled') await confirmOrRefuse(`stops all deliveries to ${url}`, flags)
  const params = { ...place, vaultWebhookId: id }
  const { endpoint } = await session.client.vaultWebhooks.update({ params, body: { status } })
  return { json: { endpoint }, after: () => note(`webhook ${id} is ${endpoint.status}`) }
}

export async function remove(wanted: string, { session, flags, place }: AtProject<Confirmed>): Promise<Output> {
  const { id, url } = await findWebhook(session, place, wanted)
  await confirmOrRefuse(`deletes the webhook to ${url} with its queued deliveries`, flags)
  await session.client.vaultWebhooks.delete({ params: { ...place, vaultWebhookId: id } })
  note(`deleted webhook ${id}`)
  return { json: { ok: true } }
}

export async function test(wanted: string, { session, place }: AtProject): Promise<Output> {
  const { id } = await findWebhook(session, place, wanted)
  const result = await session.client.vaultWebhooks.test({ params: { ...place, vaultWebhookId: id } })
  return {
    json: result,
    text: () => {
      if (result.delivered) writeLine(`the receiver answered ${result.status}`)
    },
    after: () => {
      if (!result.delivered) throw new Failure('unavailable', `the receiver did not accept the ping: ${result.error}`)
    },
  }
}

export async function deliveries(
  wanted: string,
  {
    session,
    flags,
    place,
    input: { most },
  }: AtProject<InProject & { status?: Delivery['status']; limit: string }, typeof parseDeliveries>,
): Promise<Output> {
  const params = { ...place, vaultWebhookId: (await findWebhook(session, place, wanted)).id }
  const found: Delivery[] = []
  let hasMore = false
  const pages = eachPage((at) => {
    const limit = Math.min(most - found.length, pageLimit)
    const query = { limit, ...(flags.status && { status: flags.status }), ...at }
    return session.client.vaultWebhooks.deliveries({ params, query })
  })
  for await (const page of pages) {
    found.push(...page.deliveries)
    hasMore = page.nextCursor !== null
    if (found.length >= most) break
  }
  return {
    json: { deliveries: found },
    text: () => {
      writeTable(
        ['id', 'event', 'connection', 'status', 'tries', 'error'],
        found.map((one) => [
          one.id,
          one.type,
          one.connectionId ?? '',
          one.status,
          String(one.attempts),
          one.lastError ?? '',
        ]),
        'nothing was sent yet; send a sample with `skerry vault webhook test <webhook>`',
      )
      if (hasMore) note('there are more deliveries: show all with --limit 0')
    },
  }
}

export const parseDeliveries = (flags: InProject & { status?: Delivery['status']; limit: string }) => ({
  most: parseLimit(flags.limit, 0) || Number.POSITIVE_INFINITY,
})

const pageLimit = 1000

export async function redeliver(
  wanted: string,
  vaultDeliveryId: string,
  { session, place }: AtProject,
): Promise<Output> {
  const { id } = await findWebhook(session, place, wanted)
  const params = { ...place, vaultWebhookId: id, vaultDeliveryId }
  const { delivery } = await session.client.vaultWebhooks.redeliver({ params })
  return { json: { delivery }, after: () => note(`delivery ${delivery.id} is sent again`) }
}
