import { Type } from 'typebox'
import { Thumbprint } from '../agents/schemas.ts'
import { get, post, put } from '../endpoint.ts'
import { Id, Strict, Version } from '../schema.ts'
import { vaultReauthReasons } from './facts.ts'
import {
  oneOf,
  SdkVersion,
  Slot,
  Url,
  VaultCaptured,
  VaultCatalog,
  VaultConnection,
  VaultConnectView,
  VaultCredential,
  VaultDisplay,
  VaultExecutor,
  VaultExecutorCapture,
  VaultProject,
  VaultWriteBack,
  WrappingKey,
} from './schemas.ts'

const surface = 'executor'
const oneConnection = Strict({ connection: VaultConnection })
const oneExecutor = Strict({ executor: VaultExecutor })

/** The only surface of the vault that answers ciphertext, and only to the executor whose key it is wrapped to. */
export const vaultExecutor = {
  register: post('/v1/vault/executor/register', {
    surface: 'none',
    summary:
      'Register an executor with a code from an admin. The server shows the executor’s credential only in this answer',
    body: Strict({
      code: Type.String({ pattern: '^vrc_[A-Za-z0-9_-]{43}$', description: 'A registration code' }),
      origin: Url('Origin of the executor: https, or http on the loopback interface'),
      wrappingKey: WrappingKey,
      catalog: VaultCatalog,
      sdkVersion: SdkVersion,
      proof: Type.Optional(
        Type.String({
          pattern: '^[A-Za-z0-9_-]{86}$',
          description:
            'Signature of the code and origin with the wrapping key, in base64url. With this proof, the active executor registers again and gets a new credential',
        }),
      ),
    }),
    responses: {
      201: Strict({
        executorId: Id('vaultExecutor'),
        projectId: Id('vaultProject'),
        credential: Type.String({ description: '`skx_...`' }),
      }),
    },
    refuses: ['unauthorized', 'conflict'],
    audits: ['vault.executor.registered'],
  }),
  me: get('/v1/vault/executor/me', {
    surface,
    summary:
      'Get the executor and the display settings of its project. The server notes the time of the call as a sign that the executor runs',
    responses: {
      200: Strict({
        executor: VaultExecutor,
        project: Strict({ id: Id('vaultProject'), display: VaultDisplay, status: VaultProject.properties.status }),
      }),
    },
  }),
  catalog: put('/v1/vault/executor/catalog', {
    surface,
    summary: 'Replace the catalog of providers that people see',
    body: Strict({ catalog: VaultCatalog, sdkVersion: SdkVersion }),
    responses: { 200: oneExecutor },
    audits: ['vault.executor.catalog_updated'],
  }),
  addKey: post('/v1/vault/executor/keys', {
    surface,
    summary:
      'Register another wrapping key of the executor, which becomes the current key. The executor can still unwrap with earlier keys',
    body: Strict({ wrappingKey: WrappingKey }),
    responses: { 200: oneExecutor },
    refuses: ['conflict'],
    audits: ['vault.executor.key_added'],
  }),
  verifySession: post('/v1/vault/executor/connect-sessions/verify', {
    surface,
    summary: 'Check the claim token of a browser. The answer has the connect session, which must still be pending',
    body: Strict({
      claimToken: Type.String({ pattern: '^vcl_[A-Za-z0-9_-]{43}$', description: 'A claim token' }),
    }),
    responses: { 200: Strict({ session: VaultConnectView }) },
    refuses: ['not_found', 'conflict'],
    unaudited: 'this call changes nothing',
  }),
  complete: post('/v1/vault/executor/connect-sessions/:connectSessionId/complete', {
    surface,
    summary: 'Store the credentials that the executor has encrypted. The call completes the connect session',
    body: VaultExecutorCapture,
    responses: { 200: VaultCaptured },
    refuses: ['not_found', 'conflict'],
    audits: ['vault.connection.created', 'vault.connection.reactivated', 'vault.credential.written'],
  }),
  connection: get('/v1/vault/executor/connections/:vaultConnectionId', {
    surface,
    summary: 'Get a connection of the project, with the user of the product and the wrapping key of each credential',
    responses: {
      200: Strict({
        connection: VaultConnection,
        keys: Type.Array(Strict({ slot: Slot, keyThumbprint: Thumbprint }), {
          description: 'The wrapping key of the current revision of each slot',
        }),
      }),
    },
    refuses: ['not_found'],
  }),
  release: get('/v1/vault/executor/connections/:vaultConnectionId/credentials/:slot', {
    surface,
    summary:
      'Get the current revision of a credential. The executor must have registered the wrapping key of this credential',
    responses: { 200: Strict({ credential: VaultCredential }) },
    refuses: ['not_found', 'forbidden', 'quota_exceeded'],
    audits: ['vault.credential.release_denied'],
  }),
  writeBack: put('/v1/vault/executor/connections/:vaultConnectionId/credentials/:slot', {
    surface,
    summary:
      'Replace a credential, for example after a refresh. If the credential already has a newer revision, the answer is 409. The server keeps the new and the previous revision',
    body: VaultWriteBack,
    responses: { 200: Strict({ slot: Slot, revision: Version }) },
    refuses: ['not_found', 'conflict'],
    audits: ['vault.credential.written'],
  }),
  setStatus: post('/v1/vault/executor/connections/:vaultConnectionId/status', {
    surface,
    summary: 'Report that a connection works again, or that the person must repair the connection',
    body: Strict({
      status: {
        ...oneOf(['reauth_required', 'active']),
        description: '`reauth_required`: the person must repair the connection',
      },
      reason: Type.Optional({
        ...oneOf(vaultReauthReasons),
        description: 'Why the person must repair the connection',
      }),
    }),
    responses: { 200: oneConnection },
    refuses: ['not_found', 'conflict'],
    audits: ['vault.connection.reauth_required', 'vault.connection.reactivated'],
  }),
  revoke: post('/v1/vault/executor/connections/:vaultConnectionId/revoke', {
    surface,
    summary: 'Revoke a connection on behalf of the product. You can repeat the call',
    responses: { 200: oneConnection },
    refuses: ['not_found'],
    audits: ['vault.connection.revoked'],
  }),
}
