import { Type } from 'typebox'
import { Thumbprint } from '../agents/schemas.ts'
import { del, get, post } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { Id, Instant, Nullable, Ok, Strict } from '../schema.ts'
import { vaultSessionPurposes, vaultSessionStatuses } from './facts.ts'
import {
  ConnectionsQuery,
  Method,
  oneOf,
  ProviderId,
  Url,
  UserRef,
  VaultConnection,
  VaultConnectionPage,
  VaultErased,
} from './schemas.ts'
import { NewVaultWebhook, VaultWebhookCreated, VaultWebhookList, VaultWebhookTested } from './webhooks.ts'

const surface = 'platform'
const oneConnection = Strict({ connection: VaultConnection })

const VaultSession = Strict({
  id: Id('vaultSession'),
  purpose: oneOf(vaultSessionPurposes),
  userRef: Type.String(),
  providerId: Nullable(Type.String()),
  method: Nullable(Method),
  status: oneOf(vaultSessionStatuses),
  connectionId: Nullable(Id('vaultConnection')),
  expiresAt: Instant,
  claimedAt: Nullable(Instant),
  consentedAt: Nullable(Instant),
  completedAt: Nullable(Instant),
  createdAt: Instant,
})

const linkFields = {
  userRef: UserRef,
  returnUrl: Type.Optional(
    Url(
      'The address to which the person returns. The list `display.returnOrigins` of the project must contain the origin of this address',
    ),
  ),
  expiresInSeconds: Type.Optional(
    Type.Integer({
      minimum: limits.vaultLinkTtlMinSeconds,
      maximum: limits.vaultLinkTtlMaxSeconds,
      description: 'Seconds in which the person must open the link. Default: an hour',
    }),
  ),
}

/** The executor that the link will name. */
const LinkedExecutor = Type.Object(
  { origin: Url('Origin of the executor'), thumbprint: Thumbprint },
  {
    additionalProperties: false,
    description:
      'The executor’s origin and key, as the executor itself reported them. If the server knows a different origin or key, the answer is 409',
  },
)

/** Endpoints for the product's own backend. They answer metadata, and never a credential. */
export const vaultPlatform = {
  createSession: post('/v1/vault/connect-sessions', {
    surface,
    summary:
      'Make a Connect link, with which a user of the product connects an account or repairs a connection. The server shows the link’s token only in this answer',
    body: Strict({
      ...linkFields,
      providerId: ProviderId,
      purpose: Type.Optional({
        ...oneOf(['connect', 'reconnect']),
        description:
          '`connect`: a new connection. `reconnect`: the repair of the connection `connectionId`. Default: `connect`',
      }),
      connectionId: Type.Optional({ ...Id('vaultConnection'), description: 'The connection to repair' }),
      executor: Type.Optional(LinkedExecutor),
      allowAccountChange: Type.Optional(
        Type.Boolean({
          description:
            'Only for repairing a connection: true if the person may use another account of the provider. Default: false',
        }),
      ),
    }),
    responses: {
      201: Strict({
        session: Strict({
          id: Id('vaultSession'),
          token: Type.String({ description: 'The token of the link: `vct_...`' }),
          expiresAt: Instant,
          method: Method,
          connectionId: Id('vaultConnection'),
        }),
      }),
    },
    refuses: ['not_found', 'conflict', 'quota_exceeded'],
    audits: ['vault.connect_session.created'],
  }),
  session: get('/v1/vault/connect-sessions/:connectSessionId', {
    surface,
    summary: 'Get the state of a Connect link, with which a user of the product connects an account',
    responses: { 200: Strict({ session: VaultSession }) },
    refuses: ['not_found'],
  }),
  connections: get('/v1/vault/connections', {
    surface,
    summary:
      'List the vault connections of the project (accounts that users of the product connected), oldest first. By default, a page has 100 connections',
    query: ConnectionsQuery,
    responses: { 200: VaultConnectionPage },
  }),
  connection: get('/v1/vault/connections/:vaultConnectionId', {
    surface,
    summary: 'Get a connection',
    responses: { 200: oneConnection },
    refuses: ['not_found'],
  }),
  revoke: del('/v1/vault/connections/:vaultConnectionId', {
    surface,
    summary:
      'Revoke a vault connection, and delete every revision of its credentials. The product can then no longer use the account. You can repeat the call',
    responses: { 200: oneConnection },
    refuses: ['not_found'],
    audits: ['vault.connection.revoked'],
  }),
  createManageSession: post('/v1/vault/manage-sessions', {
    surface,
    summary:
      'Make a manage link, with which a user of the product sees and revokes their own connections. The server shows the link’s token only in this answer',
    body: Strict(linkFields),
    responses: {
      201: Strict({
        session: Strict({
          id: Id('vaultSession'),
          token: Type.String({ description: 'The token of the link: `vmt_...`' }),
          expiresAt: Instant,
        }),
      }),
    },
    audits: ['vault.manage_session.created'],
  }),
  eraseUser: del('/v1/vault/users/:userRef', {
    surface,
    summary:
      'Delete all data of one user of the product: connections, credentials, links and webhook deliveries. You can repeat the call',
    responses: { 200: VaultErased },
    audits: ['vault.user.erased'],
  }),
  webhooks: get('/v1/vault/webhooks', {
    surface,
    summary: 'List the webhooks of the project',
    responses: { 200: VaultWebhookList },
  }),
  createWebhook: post('/v1/vault/webhooks', {
    surface,
    summary:
      'Make a webhook, which sends the events of the project to a URL. The server shows the signing secret only in this answer',
    body: NewVaultWebhook,
    responses: { 201: VaultWebhookCreated },
    refuses: ['conflict'],
    audits: ['vault.webhook.created'],
  }),
  deleteWebhook: del('/v1/vault/webhooks/:vaultWebhookId', {
    surface,
    summary: 'Delete a webhook. The server also deletes the deliveries (events) that it has not sent yet',
    responses: { 200: Ok },
    refuses: ['not_found'],
    audits: ['vault.webhook.deleted'],
  }),
  testWebhook: post('/v1/vault/webhooks/:vaultWebhookId/test', {
    surface,
    unit: 'manual',
    summary:
      'Send the test event `ping` to the URL of the webhook now. The answer says whether the receiver accepted it',
    responses: { 200: VaultWebhookTested },
    refuses: ['not_found', 'conflict'],
    audits: ['vault.webhook.tested'],
  }),
}
