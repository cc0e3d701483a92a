import { Type } from 'typebox'
import { trusted } from '../directory/schemas.ts'
import { del, get, post } from '../endpoint.ts'
import {
  FreeText,
  Id,
  Instant,
  NextCursor,
  Nullable,
  Ok,
  Page,
  PrincipalType,
  PublicKeyJwk,
  Strict,
} from '../schema.ts'
import {
  EnvironmentGrant,
  Grants,
  KeyAndShares,
  Recovery,
  RecoveryCoverage,
  RecoveryRequest,
  ShareForTarget,
  ShareIndex,
  Threshold,
  WrappedShare,
} from './schemas.ts'

const PrincipalId = Type.String({
  maxLength: 64,
  pattern: '^[A-Za-z0-9_]+$',
  description: 'The id of the person or service token for which the keys are wrapped',
})

const Configured = Strict({ recovery: Nullable(Recovery), coverage: RecoveryCoverage })

/**
 * A key that no machine has. Custodians have shares of it, and enough of them together open the environments that it
 * covers.
 */
export const recovery = {
  get: get('/v1/orgs/:orgId/recovery', {
    summary:
      'Get the public recovery key, the custodians (people who each have a share of the private recovery key), and the environments whose keys are wrapped for the recovery key',
    responses: { 200: Configured },
  }),
  publicKey: get('/v1/orgs/:orgId/recovery/public-key', {
    summary:
      'Get the public recovery key. Clients wrap the key of each new environment with it, so that custodians can recover the environment. `recoveryPublicKeyJwk` is null if recovery is not set up',
    responses: { 200: Strict({ recoveryPublicKeyJwk: Nullable(PublicKeyJwk) }) },
  }),
  enable: post('/v1/orgs/:orgId/recovery', {
    summary:
      'Set up recovery. Clients then also wrap each environment key for the recovery key of the organization. The private recovery key is divided among custodians, and enough of them can together restore access. If recovery is set up already, the answer is 409',
    body: KeyAndShares,
    responses: { 201: Configured },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['recovery.enabled'],
  }),
  rotate: post('/v1/orgs/:orgId/recovery/rotate', {
    summary:
      'Replace the recovery key and its shares. The old shares stop working. The new recovery key can recover only the environments that you send in `grants`',
    body: KeyAndShares,
    responses: { 200: Configured },
    refuses: ['conflict'],
    audits: ['recovery.rotated', 'recovery_request.cancelled'],
  }),
  disable: del('/v1/orgs/:orgId/recovery', {
    summary: 'End recovery. The server deletes its copies of environment keys that are wrapped for the recovery key',
    body: Strict({ ...trusted }),
    responses: { 200: Ok },
    audits: ['recovery.disabled', 'recovery_request.cancelled'],
  }),
  cover: post('/v1/orgs/:orgId/recovery/grants', {
    summary:
      'Cover environments with recovery: store their keys, wrapped for the recovery key. The custodians can then recover these environments',
    body: Strict({ grants: Grants }),
    responses: { 200: Configured },
    refuses: ['conflict'],
    audits: ['recovery.environments_covered'],
  }),
  share: get('/v1/orgs/:orgId/recovery/share', {
    summary:
      'Get the caller’s own share of the private recovery key, wrapped for the caller. The caller must be a custodian',
    responses: {
      200: Strict({
        share: Strict({
          shareIndex: ShareIndex,
          wrappedShare: WrappedShare,
          threshold: Threshold,
          recoveryPublicKeyJwk: PublicKeyJwk,
        }),
      }),
    },
  }),
  envKeys: get('/v1/orgs/:orgId/recovery/env-keys', {
    summary:
      'List all environment keys that are wrapped for the recovery key. Only enough custodians together can unwrap them',
    query: Page,
    responses: { 200: Strict({ grants: Type.Array(EnvironmentGrant), nextCursor: NextCursor }) },
  }),
}

const ContributedShare = Strict({
  shareIndex: ShareIndex,
  userId: Id('user'),
  contributedShare: Nullable(Type.String({ description: 'null after the request was closed' })),
  createdAt: Instant,
})

const One = Strict({ request: RecoveryRequest })

const WithShares = Strict({ request: RecoveryRequest, shares: Type.Array(ContributedShare) })

/** A recovery: custodians wrap their shares to the target. The shares come together only on the target's machine. */
export const recoveryRequests = {
  list: get('/v1/orgs/:orgId/recovery/requests', {
    summary:
      'List recovery requests, oldest first. A recovery request asks the custodians for their shares of the recovery key, so that its target (a person or service token) gets access. Admins see all requests. Custodians see the open requests. Every caller sees the requests whose target is the caller',
    query: Page,
    responses: { 200: Strict({ requests: Type.Array(RecoveryRequest), nextCursor: NextCursor }) },
  }),
  open: post('/v1/orgs/:orgId/recovery/requests', {
    summary:
      'Ask the custodians for their shares of the recovery key. The target of the request is the person or service token that should get access. A drill has no target, because it only tests the recovery. If the caller already has an open request for the same target and public key, the answer has that request',
    body: Strict({
      targetPublicKeyJwk: {
        ...PublicKeyJwk,
        description:
          'The public key with which the custodians encrypt their shares: the target’s key, or a new key for a drill',
      },
      targetType: Type.Optional(PrincipalType),
      targetId: Type.Optional({
        ...PrincipalId,
        description:
          'The id of the person or service token that should get access. Default: the caller. A machine client must send an id, except for a drill',
      }),
      reason: Type.Optional({ ...FreeText, description: 'Why the recovery is needed. The custodians see this text' }),
      drill: Type.Optional(Type.Boolean({ description: 'True for a drill. Default: false' })),
    }),
    responses: { 200: One, 201: One },
    refuses: ['conflict'],
    audits: ['recovery_request.opened'],
  }),
  get: get('/v1/orgs/:orgId/recovery/requests/:recoveryRequestId', {
    summary:
      'Get a recovery request, with the shares of the recovery key that custodians have already wrapped for the target of the request',
    responses: { 200: WithShares },
  }),
  contribute: post('/v1/orgs/:orgId/recovery/requests/:recoveryRequestId/shares', {
    summary:
      'Contribute the caller’s own share of the recovery key, wrapped for the target of the request (the person or token that should get access)',
    body: Strict({ shareIndex: ShareIndex, contributedShare: ShareForTarget }),
    responses: { 201: One },
    refuses: ['conflict'],
    audits: ['recovery_request.share_contributed'],
  }),
  complete: post('/v1/orgs/:orgId/recovery/requests/:recoveryRequestId/complete', {
    summary:
      'Complete a recovery request. The target’s machine has put the shares together, has decrypted the environment keys, and sends them wrapped for the target as `grants`. A drill grants no keys',
    body: Strict({
      ...trusted,
      principalType: Type.Optional(PrincipalType),
      principalId: Type.Optional(PrincipalId),
      grants: Grants,
    }),
    responses: { 200: Strict({ request: RecoveryRequest, granted: Type.Integer() }) },
    refuses: ['conflict'],
    audits: ['recovery_request.completed', 'recovery.drilled'],
  }),
  cancel: post('/v1/orgs/:orgId/recovery/requests/:recoveryRequestId/cancel', {
    summary: 'Cancel an open recovery request. Custodians can then contribute no more shares to it',
    responses: { 200: One },
    refuses: ['conflict'],
    audits: ['recovery_request.cancelled'],
  }),
}
