import { Type } from 'typebox'
import { trusted } from '../directory/schemas.ts'
import { del, get, patch, post } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { blobPattern } from '../prefixes.ts'
import { DisplayName, Id, NextCursor, Ok, Page, PageOf, PublicKeyJwk, Strict, WrappedKey } from '../schema.ts'
import {
  Adopt,
  Config,
  ConnectionId,
  Destination,
  EnvironmentId,
  Mode,
  Name,
  NameTransform,
  OnDelete,
  Patterns,
  Refused,
  SyncBinding,
  SyncConnection,
  SyncRun,
} from './schemas.ts'

const Credential = Type.String({
  maxLength: limits.wrappedCredentialCharacters,
  pattern: blobPattern('wd1'),
  description:
    'The credential for the destination. The client encrypts it with the public key of the connection, from `sync.publicKey`',
})

const WrappedDeks = Type.Array(Strict({ environmentId: EnvironmentId, wrappedDek: WrappedKey }), {
  maxItems: limits.syncWrappedDeksMax,
  description:
    'The keys of the environment, of its parent if it is a branch, and of each included group, wrapped for the connection',
})

const Acknowledged = Type.Boolean({
  description: 'true: the caller accepts that this server can read the environment through the connection',
})

const Enabled = Type.Boolean({
  description: 'false: the server pushes nothing for this binding. A new binding is enabled by default',
})

const SyncPlan = Strict({
  create: Type.Array(Name),
  update: Type.Array(Name),
  delete: Type.Array(Name),
  unchanged: Type.Array(Name),
  foreign: Type.Array(Name, {
    description: 'Names at the destination that somebody else wrote. The run does not change them',
  }),
  refused: Type.Array(Refused),
  effects: Type.Array(Type.String(), { description: 'Effects of a push at the destination, and warnings' }),
})

/** The settings of a binding that can be changed, and tried out in a plan. */
const settings = {
  destination: Type.Optional(Destination),
  nameTransform: Type.Optional(NameTransform),
  include: Type.Optional({
    ...Patterns,
    description: 'Names of the secrets to push. `*` matches any characters. An empty list matches every name',
  }),
  exclude: Type.Optional({
    ...Patterns,
    description: 'Names of secrets that are not pushed, even if `include` has them. `*` matches any characters',
  }),
  onDelete: Type.Optional(OnDelete),
  adopt: Type.Optional(Adopt),
}

/** Pushes secrets to platforms that cannot ask for them. The server reads what a binding was granted. */
export const sync = {
  connections: get('/v1/orgs/:orgId/sync/connections', {
    summary:
      'List sync connections with their public keys and status. A sync connection is a stored credential for a destination, for example Vercel. The answer does not have the credential',
    query: Page,
    responses: { 200: Strict({ connections: Type.Array(SyncConnection), nextCursor: NextCursor }) },
  }),
  publicKey: get('/v1/orgs/:orgId/sync/connections/:connectionId/public-key', {
    summary:
      'Get the public key of a sync connection. Clients encrypt the credential of the connection, and the keys of environments, with it. For a new id, the server makes a key pair. If nobody creates the connection within 24 hours, the server deletes the key pair',
    unit: 'transaction',
    unaudited: 'the first call makes the key pair, but gives nobody access',
    responses: { 200: Strict({ publicKeyJwk: PublicKeyJwk }) },
    refuses: ['conflict'],
  }),
  createConnection: post('/v1/orgs/:orgId/sync/connections', {
    summary:
      'Create a sync connection: a stored credential for a destination, for example Vercel. Before this call, choose an id, and get the public key for this id (`sync.publicKey`). The client encrypts the credential with this key',
    body: Strict({
      id: Type.Optional({
        ...ConnectionId,
        description: 'The id that you used in `sync.publicKey`. Without an id, the answer is 400',
      }),
      name: DisplayName,
      config: Config,
      wrappedCredential: Credential,
    }),
    responses: { 201: Strict({ connection: SyncConnection }) },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['sync_connection.created'],
  }),
  updateConnection: patch('/v1/orgs/:orgId/sync/connections/:connectionId', {
    summary: 'Rename a sync connection, or replace its credential for the destination',
    body: Strict({ name: Type.Optional(DisplayName), wrappedCredential: Type.Optional(Credential) }),
    responses: { 200: Strict({ connection: SyncConnection }) },
    refuses: ['conflict'],
    audits: ['sync_connection.updated'],
  }),
  verifyConnection: post('/v1/orgs/:orgId/sync/connections/:connectionId/verify', {
    summary:
      'Check whether the connection’s credential works at a destination. The call changes nothing there. If the credential does not work, the answer is 400 with `ok: false`',
    unit: 'manual',
    body: Strict({ destination: Destination }),
    responses: { 200: Ok },
    refuses: ['conflict'],
    audits: ['sync_connection.verified'],
  }),
  deleteConnection: del('/v1/orgs/:orgId/sync/connections/:connectionId', {
    summary:
      'Delete a sync connection with its bindings, its grants and its key pair. The server pushes nothing more through the connection. Secrets that it has pushed stay at the destination',
    body: Strict({ ...trusted }),
    responses: { 200: Ok },
    audits: ['sync_connection.deleted', 'sync_binding.deleted'],
  }),
  bindings: get('/v1/orgs/:orgId/sync/bindings', {
    summary:
      'List sync bindings, each with its last push. A binding names an environment, a connection, and the destination to which the server pushes the environment through the connection, for example a Vercel project',
    query: Page,
    responses: { 200: Strict({ bindings: Type.Array(SyncBinding), nextCursor: NextCursor }) },
  }),
  createBinding: post('/v1/orgs/:orgId/sync/bindings', {
    summary:
      'Create a sync binding: the server then pushes the secrets of an environment through a connection to a destination. If the binding is enabled and has the mode `auto`, the first push begins at once',
    unit: 'manual',
    body: Strict({
      ...trusted,
      connectionId: ConnectionId,
      environmentId: EnvironmentId,
      ...settings,
      destination: Destination,
      mode: Type.Optional(Mode),
      enabled: Type.Optional(Enabled),
      wrappedDeks: WrappedDeks,
      acknowledgedDecryption: Acknowledged,
    }),
    responses: { 201: Strict({ binding: SyncBinding }) },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['sync_binding.created'],
  }),
  updateBinding: patch('/v1/orgs/:orgId/sync/bindings/:bindingId', {
    summary:
      'Change a sync binding. With `wrappedDeks`, you give the connection keys that it does not have yet, for example the key of a group that the environment includes now',
    unit: 'manual',
    body: Strict({
      ...trusted,
      ...settings,
      mode: Type.Optional(Mode),
      enabled: Type.Optional(Enabled),
      wrappedDeks: Type.Optional(WrappedDeks),
      acknowledgedDecryption: Type.Optional(Acknowledged),
    }),
    responses: { 200: Strict({ binding: SyncBinding }) },
    refuses: ['conflict'],
    audits: ['sync_binding.updated'],
  }),
  deleteBinding: del('/v1/orgs/:orgId/sync/bindings/:bindingId', {
    summary:
      'Delete a sync binding: the server no longer pushes the environment to the destination of the binding. The connection loses the keys that no other of its bindings needs. Secrets that the server has pushed stay at the destination',
    body: Strict({ ...trusted }),
    responses: { 200: Ok },
    audits: ['sync_binding.deleted'],
  }),
  plan: post('/v1/orgs/:orgId/sync/bindings/:bindingId/plan', {
    summary:
      'List, by name, the secrets that the next push of a binding would create, change or delete at the destination. In the body, you can send other settings to see their effect. The call changes nothing',
    unit: 'manual',
    unaudited: 'the call reads names at the destination and changes nothing',
    body: Strict(settings),
    responses: { 200: Strict({ plan: SyncPlan }) },
    refuses: ['conflict'],
  }),
  run: post('/v1/orgs/:orgId/sync/bindings/:bindingId/run', {
    summary:
      'Push the secrets of a binding now. The server answers when the push is done, at the latest after 55 seconds. A longer push continues after the answer',
    unit: 'manual',
    body: Strict({
      adopt: Type.Optional(
        Type.Array(Name, {
          maxItems: limits.syncAdoptNamesMax,
          description: 'Names that somebody else wrote at the destination, and that this run may overwrite',
        }),
      ),
    }),
    responses: { 200: Strict({ run: SyncRun }) },
    refuses: ['conflict'],
    audits: ['sync.run_succeeded', 'sync.run_failed'],
  }),
  runs: get('/v1/orgs/:orgId/sync/runs', {
    summary: 'List the pushes (runs) of bindings, newest first, with names, counts and errors, but without values',
    query: Type.Object(
      {
        ...PageOf(limits.syncRunsDefault).properties,
        bindingId: Type.Optional({ ...Id('syncBinding'), description: 'Only runs of this binding' }),
      },
      { additionalProperties: false },
    ),
    responses: { 200: Strict({ runs: Type.Array(SyncRun), nextCursor: NextCursor }) },
  }),
}
