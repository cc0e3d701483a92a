import { Type } from 'typebox'
import { trusted } from '../directory/schemas.ts'
import { del, get, patch, post } from '../endpoint.ts'
import { TargetId } from '../leases/fields.ts'
import { limits } from '../limits.ts'
import { Id, Instant, NextCursor, Page, PublicKeyJwk, SecretName, Strict, Version, WrappedKey } from '../schema.ts'
import { Config, Rotation, Status } from './schemas.ts'

const IntervalSeconds = Type.Integer({
  minimum: limits.rotationIntervalMinSeconds,
  maximum: limits.rotationIntervalMaxSeconds,
  description: 'seconds from one rotation to the next',
})

const One = Strict({ rotation: Rotation })

const Configured = Strict({
  rotation: Rotation,
  version: Type.Optional({ ...Version, description: 'of the secret, where `rotateNow` has written one' }),
})

/** Secrets that the server replaces at intervals. A client must grant it the key of the environment. */
export const rotation = {
  rotatorKey: get('/v1/orgs/:orgId/rotation/rotator-key', {
    summary:
      'The public key to which environments’ keys are wrapped for rotation, and the environments that the server can read so',
    unit: 'transaction',
    unaudited: 'the keypair is made with the first request, and gives nobody anything',
    responses: {
      200: Strict({ publicKeyJwk: PublicKeyJwk, grantedEnvironmentIds: Type.Array(Id('environment')) }),
    },
    refuses: ['conflict'],
  }),
  list: get('/v1/orgs/:orgId/rotation', {
    summary: 'Rotation policies; never a value',
    query: Page,
    responses: { 200: Strict({ rotations: Type.Array(Rotation), nextCursor: NextCursor }) },
  }),
  create: post('/v1/orgs/:orgId/rotation', {
    summary: 'Configure the rotation of a secret, or replace it; needs a key grant of one’s own on the environment',
    unit: 'manual',
    body: Strict({
      ...trusted,
      environmentId: Id('environment'),
      secretName: SecretName,
      config: Config,
      intervalSeconds: IntervalSeconds,
      targetId: Type.Optional(TargetId),
      wrappedDek: Type.Optional({
        ...WrappedKey,
        description: 'The environment’s key, wrapped to the rotator key; needed unless the rotator holds it already',
      }),
      rotateNow: Type.Optional(Type.Boolean({ description: 'rotate once, at once' })),
    }),
    responses: { 200: Configured, 201: Configured },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['rotation.created', 'rotation.updated', 'key.granted', 'rotation.completed', 'secret.written'],
  }),
  get: get('/v1/orgs/:orgId/rotation/:rotationId', {
    summary: 'One rotation policy',
    responses: { 200: One },
  }),
  update: patch('/v1/orgs/:orgId/rotation/:rotationId', {
    summary:
      'Change the interval, the config of the same kind, or pause and resume; resuming clears the failure streak',
    unit: 'manual',
    body: Strict({
      intervalSeconds: Type.Optional(IntervalSeconds),
      config: Type.Optional(Config),
      status: Type.Optional(Status),
    }),
    responses: { 200: One },
    refuses: ['conflict'],
    audits: ['rotation.updated'],
  }),
  rotate: post('/v1/orgs/:orgId/rotation/:rotationId/rotate', {
    summary: 'Rotate now, paused or not',
    unit: 'manual',
    responses: { 200: Strict({ rotation: Rotation, version: Version, rotatedAt: Instant }) },
    refuses: ['conflict'],
    audits: ['rotation.completed', 'secret.written'],
  }),
  delete: del('/v1/orgs/:orgId/rotation/:rotationId', {
    summary:
      'Remove a policy; the secret and its versions stay. The rotator’s grant goes with the environment’s last one',
    unit: 'manual',
    body: Strict({ ...trusted }),
    query: Strict({ force: Type.Optional(Type.Union([Type.Literal('true'), Type.Literal('false')])) }),
    responses: { 200: Strict({ ok: Type.Literal(true), rotatorRevoked: Type.Boolean() }) },
    refuses: ['conflict'],
    audits: ['rotation.deleted', 'key.revoked'],
  }),
}
