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
      'Register a vault executor: the program that has the vault’s private key, and uses the connected accounts for the product. The code comes from an admin. The server shows the executor’s credential only in this answer',
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
        credential: Type.String({ description: 'The credential of the executor: `skx_...`' }),
      }),
    },
    refuses: ['unauthorized', 'conflict'],
    audits: ['vault.executor.registered'],
  }),
  me: get('/v1/vault/executor/me', {
    surface,
    summary:
      'Get the calling executor, and the display settings of its project. The server stores the time of the call, so that admins see that the executor runs',
    responses: {
      200: Strict({
        executor: VaultExecutor,
        project: Strict({ id: Id('vaultProject'), display: VaultDisplay, status: VaultProject.properties.status }),
      }),
    },
  }),
  catalog: put('/v1/vault/executor/catalog', {
    surface,
    summary: 'Replace the catalog: the list of providers (services) whose accounts people can connect',
    body: Strict({ catalog: VaultCatalog, sdkVersion: SdkVersion }),
    responses: { 200: oneExecutor },
    audits: ['vault.executor.catalog_updated'],
  }),
  addKey: post('/v1/vault/executor/keys', {
    surface,
    summary:
      'Register another wrapping key of the executor: the public key with which browsers encrypt credentials. The new key becomes the current key. The executor needs its earlier private keys for older credentials',
    body: Strict({ wrappingKey: WrappingKey }),
    responses: { 200: oneExecutor },
    refuses: ['conflict'],
    audits: ['vault.executor.key_added'],
  }),
  verifySession: post('/v1/vault/executor/connect-sessions/verify', {
    surface,
    summary:
      'Check the claim token that a browser sent to the executor. The answer has the connect session of this token: what the person wants to connect. The person must not have completed or cancelled it',
    body: Strict({
      claimToken: Type.String({ pattern: '^vcl_[A-Za-z0-9_-]{43}$', description: 'A claim token' }),
    }),
    responses: { 200: Strict({ session: VaultConnectView }) },
    refuses: ['not_found', 'conflict'],
    unaudited: 'this call changes nothing',
  }),
  complete: post('/v1/vault/executor/connect-sessions/:connectSessionId/complete', {
    surface,
    summary:
      'Store the credentials of the person’s account, which the executor has encrypted for itself. This connects the account, and ends the connect session',
    body: VaultExecutorCapture,
    responses: { 200: VaultCaptured },
    refuses: ['not_found', 'conflict'],
    audits: ['vault.connection.created', 'vault.connection.reactivated', 'vault.credential.written'],
  }),
  connection: get('/v1/vault/executor/connections/:vaultConnectionId', {
    surface,
    summary:
      'Get a vault connection (one connected account), with the product’s id of the user, and the wrapping key of each credential',
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
      'Get a credential of a connection, in its current revision, encrypted for the executor. The executor must have registered the wrapping key with which it is encrypted',
    responses: { 200: Strict({ credential: VaultCredential }) },
    refuses: ['not_found', 'forbidden', 'quota_exceeded'],
    audits: ['vault.credential.release_denied'],
  }),
  writeBack: put('/v1/vault/executor/connections/:vaultConnectionId/credentials/:slot', {
    surface,
    summary:
      'Replace a credential of a connection, for example after a refresh of OAuth tokens. If the credential already has a newer revision, the answer is 409. The server stores the new and the previous revision',
    body: VaultWriteBack,
    responses: { 200: Strict({ slot: Slot, revision: Version }) },
    refuses: ['not_found', 'conflict'],
    audits: ['vault.credential.written'],
  }),
  setStatus: post('/v1/vault/executor/connections/:vaultConnectionId/status', {
    surface,
    summary:
      'Report that a vault connection works again, or that the person must repair it, for example by signing in again',
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
