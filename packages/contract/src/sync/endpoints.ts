import { Type } from 'typebox'
import { trusted } from '../directory/schemas.ts'
import { del, get, patch, post } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { Blob, DisplayName, Id, NextCursor, Ok, Page, PageOf, PublicKeyJwk, Strict, WrappedKey } from '../schema.ts'
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

const Credential = Blob(limits.wrappedCredentialCharacters, 'wd1')

const WrappedDeks = Type.Array(Strict({ environmentId: EnvironmentId, wrappedDek: WrappedKey }), {
  maxItems: limits.syncWrappedDeksMax,
  description: 'the key of the environment, of a branch’s parent and of each composed group, wrapped to the connection',
})

const Acknowledged = Type.Boolean({
  description: 'true: it is understood that this server can read the environment through the connection',
})

const SyncPlan = Strict({
  create: Type.Array(Name),
  update: Type.Array(Name),
  delete: Type.Array(Name),
  unchanged: Type.Array(Name),
  foreign: Type.Array(Name, { description: 'there already, written by somebody else, and left alone' }),
  refused: Type.Array(Refused),
  effects: Type.Array(Type.String(), { description: 'what a push sets off there, and what to know before it' }),
})

/** The settings of a binding that can be changed, and tried out in a plan. */
const settings = {
  destination: Type.Optional(Destination),
  nameTransform: Type.Optional(NameTransform),
  include: Type.Optional(Patterns),
  exclude: Type.Optional(Patterns),
  onDelete: Type.Optional(OnDelete),
  adopt: Type.Optional(Adopt),
}

/** Pushes secrets to platforms that cannot ask for them. The server reads what a binding was granted. */
export const sync = {
  connections: get('/v1/orgs/:orgId/sync/connections', {
    summary: 'Sync connections with their public keys and status; never a credential',
    query: Page,
    responses: { 200: Strict({ connections: Type.Array(SyncConnection), nextCursor: NextCursor }) },
  }),
  publicKey: get('/v1/orgs/:orgId/sync/connections/:connectionId/public-key', {
    summary:
      'The key of a connection, to which its credential and the keys of environments are wrapped. For an id that is not in use it is made, and forgotten unless a connection is created with that id within 24 hours',
    unit: 'transaction',
    unaudited: 'the keypair is made with the first request, and gives nobody anything',
    responses: { 200: Strict({ publicKeyJwk: PublicKeyJwk }) },
    refuses: ['conflict'],
  }),
  createConnection: post('/v1/orgs/:orgId/sync/connections', {
    summary: 'Create a connection, under the id whose public key its credential was wrapped to',
    body: Strict({
      id: Type.Optional(ConnectionId),
      name: DisplayName,
      config: Config,
      wrappedCredential: Credential,
    }),
    responses: { 201: Strict({ connection: SyncConnection }) },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['sync_connection.created'],
  }),
  updateConnection: patch('/v1/orgs/:orgId/sync/connections/:connectionId', {
    summary: 'Rename a connection, or replace its credential',
    body: Strict({ name: Type.Optional(DisplayName), wrappedCredential: Type.Optional(Credential) }),
    responses: { 200: Strict({ connection: SyncConnection }) },
    refuses: ['conflict'],
    audits: ['sync_connection.updated'],
  }),
  verifyConnection: post('/v1/orgs/:orgId/sync/connections/:connectionId/verify', {
    summary: 'Ask a destination whether the credential works there, without writing. 400 with `ok: false` where not',
    unit: 'manual',
    body: Strict({ destination: Destination }),
    responses: { 200: Ok },
    refuses: ['conflict'],
    audits: ['sync_connection.verified'],
  }),
  deleteConnection: del('/v1/orgs/:orgId/sync/connections/:connectionId', {
    summary: 'Delete a connection with its bindings, its grants and its keypair. What was pushed stays where it is',
    body: Strict({ ...trusted }),
    responses: { 200: Ok },
    audits: ['sync_connection.deleted', 'sync_binding.deleted'],
  }),
  bindings: get('/v1/orgs/:orgId/sync/bindings', {
    summary: 'Sync bindings with their last run',
    query: Page,
    responses: { 200: Strict({ bindings: Type.Array(SyncBinding), nextCursor: NextCursor }) },
  }),
  createBinding: post('/v1/orgs/:orgId/sync/bindings', {
    summary: 'Bind an environment to a destination. In mode auto the first push follows, unless it is not enabled',
    unit: 'manual',
    body: Strict({
      ...trusted,
      connectionId: ConnectionId,
      environmentId: EnvironmentId,
      ...settings,
      destination: Destination,
      mode: Type.Optional(Mode),
      enabled: Type.Optional(Type.Boolean()),
      wrappedDeks: WrappedDeks,
      acknowledgedDecryption: Acknowledged,
    }),
    responses: { 201: Strict({ binding: SyncBinding }) },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['sync_binding.created'],
  }),
  updateBinding: patch('/v1/orgs/:orgId/sync/bindings/:bindingId', {
    summary: 'Change a binding, or give its connection the keys of groups that were composed later',
    unit: 'manual',
    body: Strict({
      ...trusted,
      ...settings,
      mode: Type.Optional(Mode),
      enabled: Type.Optional(Type.Boolean()),
      wrappedDeks: Type.Optional(WrappedDeks),
      acknowledgedDecryption: Type.Optional(Acknowledged),
    }),
    responses: { 200: Strict({ binding: SyncBinding }) },
    refuses: ['conflict'],
    audits: ['sync_binding.updated'],
  }),
  deleteBinding: del('/v1/orgs/:orgId/sync/bindings/:bindingId', {
    summary: 'Delete a binding, and the grants that no other binding of its connection needs',
    body: Strict({ ...trusted }),
    responses: { 200: Ok },
    audits: ['sync_binding.deleted'],
  }),
  plan: post('/v1/orgs/:orgId/sync/bindings/:bindingId/plan', {
    summary: 'What a run would do, in names, now or with other settings. Nothing is written',
    unit: 'manual',
    unaudited: 'it reads names at the destination and changes nothing',
    body: Strict(settings),
    responses: { 200: Strict({ plan: SyncPlan }) },
    refuses: ['conflict'],
  }),
  run: post('/v1/orgs/:orgId/sync/bindings/:bindingId/run', {
    summary: 'Push now. Answers when it is done, or after 55 seconds with a run that goes on',
    unit: 'manual',
    body: Strict({
      adopt: Type.Optional(
        Type.Array(Name, {
          maxItems: limits.syncAdoptNamesMax,
          description: 'names at the destination that this run may overwrite although somebody else wrote them',
        }),
      ),
    }),
    responses: { 200: Strict({ run: SyncRun }) },
    refuses: ['conflict'],
    audits: ['sync.run_succeeded', 'sync.run_failed'],
  }),
  runs: get('/v1/orgs/:orgId/sync/runs', {
    summary: 'The history of runs, newest first: names, counts and errors, never values',
    query: Type.Object(
      { ...PageOf(limits.syncRunsDefault).properties, bindingId: Type.Optional(Id('syncBinding')) },
      { additionalProperties: false },
    ),
    responses: { 200: Strict({ runs: Type.Array(SyncRun), nextCursor: NextCursor }) },
  }),
}
