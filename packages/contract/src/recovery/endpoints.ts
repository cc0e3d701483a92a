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
  WrappedKey,
} from '../schema.ts'
import {
  EnvironmentGrant,
  Grants,
  KeyAndShares,
  Recovery,
  RecoveryCoverage,
  RecoveryRequest,
  ShareIndex,
  Threshold,
} from './schemas.ts'

const PrincipalId = Type.String({ maxLength: 64, pattern: '^[A-Za-z0-9_]+$' })

const Configured = Strict({ recovery: Nullable(Recovery), coverage: RecoveryCoverage })

/**
 * A key that no machine has. Custodians have shares of it, and enough of them together open the environments that it
 * covers.
 */
export const recovery = {
  get: get('/v1/orgs/:orgId/recovery', {
    summary: 'The recovery key, its custodians, and which environments it covers',
    responses: { 200: Configured },
  }),
  publicKey: get('/v1/orgs/:orgId/recovery/public-key', {
    summary: 'The key to which clients wrap the keys of new environments; null without recovery',
    responses: { 200: Strict({ recoveryPublicKeyJwk: Nullable(PublicKeyJwk) }) },
  }),
  enable: post('/v1/orgs/:orgId/recovery', {
    summary: 'Set recovery up; 409 where it is',
    body: KeyAndShares,
    responses: { 201: Configured },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['recovery.enabled'],
  }),
  rotate: post('/v1/orgs/:orgId/recovery/rotate', {
    summary: 'Another recovery key, with other shares; what `grants` leave out is covered no longer',
    body: KeyAndShares,
    responses: { 200: Configured },
    refuses: ['conflict'],
    audits: ['recovery.rotated', 'recovery_request.cancelled'],
  }),
  disable: del('/v1/orgs/:orgId/recovery', {
    summary: 'End recovery; every key wrapped to the recovery key is deleted',
    body: Strict({ ...trusted }),
    responses: { 200: Ok },
    audits: ['recovery.disabled', 'recovery_request.cancelled'],
  }),
  cover: post('/v1/orgs/:orgId/recovery/grants', {
    summary: 'Wrap the keys of environments to the recovery key',
    body: Strict({ grants: Grants }),
    responses: { 200: Configured },
    refuses: ['conflict'],
    audits: ['recovery.environments_covered'],
  }),
  share: get('/v1/orgs/:orgId/recovery/share', {
    summary: 'The caller’s own share of the recovery key, wrapped to the caller',
    responses: {
      200: Strict({
        share: Strict({
          shareIndex: ShareIndex,
          wrappedShare: WrappedKey,
          threshold: Threshold,
          recoveryPublicKeyJwk: PublicKeyJwk,
        }),
      }),
    },
  }),
  envKeys: get('/v1/orgs/:orgId/recovery/env-keys', {
    summary: 'Every key that is wrapped to the recovery key',
    query: Page,
    responses: { 200: Strict({ grants: Type.Array(EnvironmentGrant), nextCursor: NextCursor }) },
  }),
}

const ContributedShare = Strict({
  shareIndex: ShareIndex,
  userId: Id('user'),
  contributedShare: Nullable(Type.String({ description: 'null once the request is closed' })),
  createdAt: Instant,
})

const One = Strict({ request: RecoveryRequest })

const WithShares = Strict({ request: RecoveryRequest, shares: Type.Array(ContributedShare) })

/** A recovery: custodians wrap their shares to the target. The shares come together only on the target's machine. */
export const recoveryRequests = {
  list: get('/v1/orgs/:orgId/recovery/requests', {
    summary: 'Requests, oldest first; custodians see those that are open, and a target its own',
    query: Page,
    responses: { 200: Strict({ requests: Type.Array(RecoveryRequest), nextCursor: NextCursor }) },
  }),
  open: post('/v1/orgs/:orgId/recovery/requests', {
    summary: 'Ask the custodians for their shares, for a target or for a drill; a repeated call gets the open request',
    body: Strict({
      targetPublicKeyJwk: PublicKeyJwk,
      targetType: Type.Optional(PrincipalType),
      targetId: Type.Optional(PrincipalId),
      reason: Type.Optional(FreeText),
      drill: Type.Optional(Type.Boolean()),
    }),
    responses: { 200: One, 201: One },
    refuses: ['conflict'],
    audits: ['recovery_request.opened'],
  }),
  get: get('/v1/orgs/:orgId/recovery/requests/:recoveryRequestId', {
    summary: 'A request, with the shares that custodians have wrapped to its target',
    responses: { 200: WithShares },
  }),
  contribute: post('/v1/orgs/:orgId/recovery/requests/:recoveryRequestId/shares', {
    summary: 'A custodian’s own share, wrapped to the target',
    body: Strict({ shareIndex: ShareIndex, contributedShare: WrappedKey }),
    responses: { 201: One },
    refuses: ['conflict'],
    audits: ['recovery_request.share_contributed'],
  }),
  complete: post('/v1/orgs/:orgId/recovery/requests/:recoveryRequestId/complete', {
    summary: 'Give the target the keys that its machine has opened; a drill ends without any',
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
    summary: 'Cancel an open request',
    responses: { 200: One },
    refuses: ['conflict'],
    audits: ['recovery_request.cancelled'],
  }),
}
