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
  failureCount: Type.Integer({ description: 'failures in a row; what fails at the same time counts once' }),
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
  attempts: Type.Integer({ description: 'tries so far; redelivery starts anew' }),
  nextAttemptAt: Nullable(Instant),
  lastAttemptAt: Nullable(Instant),
  responseStatus: Nullable(Type.Integer({ description: 'HTTP status of the last answer' })),
  lastError: Nullable(Type.String()),
  createdAt: Instant,
})

const url = Url('https; the path may hold a token of the receiver’s own, so it is never in the audit trail')
const events = Type.Array(oneOf(vaultEventTypes), {
  minItems: 1,
  maxItems: vaultEventTypes.length,
  description: 'all of them unless given',
})

export const NewVaultWebhook = Strict({
  url,
  events: Type.Optional(events),
  description: Type.Optional(DisplayName),
})

export const VaultWebhookList = Strict({
  endpoints: Type.Array(VaultWebhook),
  available: Type.Boolean({ description: 'false where the server has no server key, and so can sign nothing' }),
})

export const VaultWebhookCreated = Strict({
  endpoint: VaultWebhook,
  secret: Type.String({ description: '`whsec_...`' }),
})

export const VaultWebhookTested = Strict({
  deliveryId: Id('vaultDelivery'),
  delivered: Type.Boolean(),
  status: Nullable(Type.Integer()),
  error: Nullable(Type.String()),
  queued: Type.Boolean({ description: 'false: it has been sent by now' }),
})

const inProject = '/v1/orgs/:orgId/vault/projects/:projectId/webhooks'
const one = `${inProject}/:vaultWebhookId` as const
const oneEndpoint = Strict({ endpoint: VaultWebhook })

/** Webhooks of a vault project, as its admins see them. The product's backend has `/v1/vault/webhooks`. */
export const vaultWebhooks = {
  list: get(inProject, {
    summary: 'Webhooks of a vault project',
    responses: { 200: VaultWebhookList },
  }),
  create: post(inProject, {
    summary: 'Have the events of a vault project sent to a URL; the signing secret is shown once',
    body: NewVaultWebhook,
    responses: { 201: VaultWebhookCreated },
    refuses: ['conflict'],
    audits: ['vault.webhook.created'],
  }),
  update: patch(one, {
    summary: 'Change a webhook; one that is enabled again is sent what waits',
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
    summary: 'Delete a webhook, and what still waits to be sent to it',
    responses: { 200: Ok },
    audits: ['vault.webhook.deleted'],
  }),
  test: post(`${one}/test`, {
    unit: 'manual',
    summary: 'Send a `ping` now; what became of it is the answer',
    responses: { 200: VaultWebhookTested },
    refuses: ['conflict'],
    audits: ['vault.webhook.tested'],
  }),
  deliveries: get(`${one}/deliveries`, {
    summary: 'What was sent to a webhook in the last 30 days, newest first; 50 at a time unless told otherwise',
    query: Strict({
      ...PageOf(limits.vaultDeliveriesDefault).properties,
      status: Type.Optional(oneOf(vaultDeliveryStatuses)),
    }),
    responses: { 200: Strict({ deliveries: Type.Array(VaultDelivery), nextCursor: NextCursor }) },
  }),
  redeliver: post(`${one}/deliveries/:vaultDeliveryId/redeliver`, {
    summary: 'Send a delivery again, with the same id',
    responses: { 200: Strict({ delivery: VaultDelivery }) },
    refuses: ['conflict'],
    audits: ['vault.webhook.redelivered'],
  }),
}
