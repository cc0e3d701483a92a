import { Type } from 'typebox'
import { del, get, patch, post } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { DisplayName, Id, Instant, NextCursor, Nullable, Ok, PageOf, Strict } from '../schema.ts'
import { vaultDeliveryStatuses, vaultEventTypes, vaultWebhookStatuses } from './facts.ts'
import { oneOf, Url } from './schemas.ts'

export const VaultWebhook = Strict({
  id: Id('vaultWebhook'),
  projectId: Id('vaultProject'),
  url: Type.String(),
  events: Type.Array(oneOf(vaultEventTypes)),
  description: Nullable(Type.String()),
  status: oneOf(vaultWebhookStatuses),
  failureCount: Type.Integer({
    description: 'Number of failed deliveries in a row. Failures at the same time count once',
  }),
  lastDeliveryAt: Nullable(Instant),
  lastDeliveryStatus: Nullable(Type.Integer({ description: 'HTTP status of the last answer' })),
  lastError: Nullable(Type.String()),
  createdAt: Instant,
  updatedAt: Instant,
})

export const VaultDelivery = Strict({
  id: Id('vaultDelivery'),
  webhookId: Id('vaultWebhook'),
  type: oneOf([...vaultEventTypes, 'ping']),
  connectionId: Nullable(Id('vaultConnection')),
  status: oneOf(vaultDeliveryStatuses),
  attempts: Type.Integer({ description: 'Number of tries. A redelivery starts from 0' }),
  nextAttemptAt: Nullable(Instant),
  lastAttemptAt: Nullable(Instant),
  responseStatus: Nullable(Type.Integer({ description: 'HTTP status of the last answer' })),
  lastError: Nullable(Type.String()),
  createdAt: Instant,
})

const url = Url(
  'An `https` URL. The server never writes the path of the URL to the audit log, because the path may contain a token of the receiver',
)
const events = Type.Array(oneOf(vaultEventTypes), {
  minItems: 1,
  maxItems: vaultEventTypes.length,
  description: 'The events to send. Default: all',
})

export const NewVaultWebhook = Strict({
  url,
  events: Type.Optional(events),
  description: Type.Optional(DisplayName),
})

export const VaultWebhookList = Strict({
  endpoints: Type.Array(VaultWebhook),
  available: Type.Boolean({ description: 'False if the server has no server key and cannot sign' }),
})

export const VaultWebhookCreated = Strict({
  endpoint: VaultWebhook,
  secret: Type.String({ description: 'The signing secret: `whsec_...`' }),
})

export const VaultWebhookTested = Strict({
  deliveryId: Id('vaultDelivery'),
  delivered: Type.Boolean(),
  status: Nullable(Type.Integer()),
  error: Nullable(Type.String()),
  queued: Type.Boolean({ description: 'False if the `ping` was already sent' }),
})

const inProject = '/v1/orgs/:orgId/vault/projects/:projectId/webhooks'
const one = `${inProject}/:vaultWebhookId` as const
const oneEndpoint = Strict({ endpoint: VaultWebhook })

/** Webhooks of a vault project, as its admins see them. The product's backend has `/v1/vault/webhooks`. */
export const vaultWebhooks = {
  list: get(inProject, {
    summary: 'List the webhooks of a vault project',
    responses: { 200: VaultWebhookList },
  }),
  create: post(inProject, {
    summary:
      'Make a webhook, which sends the events of a vault project to a URL. The server shows the signing secret only in this answer',
    body: NewVaultWebhook,
    responses: { 201: VaultWebhookCreated },
    refuses: ['conflict'],
    audits: ['vault.webhook.created'],
  }),
  update: patch(one, {
    summary:
      'Change a webhook. If you enable a disabled webhook, the server sends the deliveries that waited meanwhile',
    body: Strict({
      url: Type.Optional(url),
      events: Type.Optional(events),
      description: Type.Optional(Nullable(DisplayName)),
      status: Type.Optional(oneOf(vaultWebhookStatuses)),
    }),
    responses: { 200: oneEndpoint },
    refuses: ['conflict'],
    audits: ['vault.webhook.updated'],
  }),
  delete: del(one, {
    summary: 'Delete a webhook. The server also deletes the deliveries (events) that it has not sent yet',
    responses: { 200: Ok },
    audits: ['vault.webhook.deleted'],
  }),
  test: post(`${one}/test`, {
    unit: 'manual',
    summary:
      'Send the test event `ping` to the URL of the webhook now. The answer says whether the receiver accepted it',
    responses: { 200: VaultWebhookTested },
    refuses: ['conflict'],
    audits: ['vault.webhook.tested'],
  }),
  deliveries: get(`${one}/deliveries`, {
    summary: 'List the deliveries of a webhook in the last 30 days, newest first. By default, a page has 50 deliveries',
    query: Strict({
      ...PageOf(limits.vaultDeliveriesDefault).properties,
      status: Type.Optional({ ...oneOf(vaultDeliveryStatuses), description: 'Only deliveries with this status' }),
    }),
    responses: { 200: Strict({ deliveries: Type.Array(VaultDelivery), nextCursor: NextCursor }) },
  }),
  redeliver: post(`${one}/deliveries/:vaultDeliveryId/redeliver`, {
    summary: 'Send a delivery of a webhook (one event) again, with the same id',
    responses: { 200: Strict({ delivery: VaultDelivery }) },
    refuses: ['conflict'],
    audits: ['vault.webhook.redelivered'],
  }),
}
