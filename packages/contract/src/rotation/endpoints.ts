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
  description: 'Seconds between two rotations',
})

const One = Strict({ rotation: Rotation })

const Configured = Strict({
  rotation: Rotation,
  version: Type.Optional({ ...Version, description: 'The version of the secret that `rotateNow` has written' }),
})

/** Secrets that the server replaces at intervals. A client must grant it the key of the environment. */
export const rotation = {
  rotatorKey: get('/v1/orgs/:orgId/rotation/rotator-key', {
    summary:
      'Get the public key of the rotator, the part of the server that replaces values of secrets. Clients wrap environment keys with it. The answer also lists the environments whose keys the rotator has, and that the server can therefore read',
    unit: 'transaction',
    unaudited: 'the first call makes the key pair, but gives nobody access',
    responses: {
      200: Strict({ publicKeyJwk: PublicKeyJwk, grantedEnvironmentIds: Type.Array(Id('environment')) }),
    },
    refuses: ['conflict'],
  }),
  list: get('/v1/orgs/:orgId/rotation', {
    summary:
      'List rotation policies, without values. A rotation policy says how often the server replaces the value of a secret',
    query: Page,
    responses: { 200: Strict({ rotations: Type.Array(Rotation), nextCursor: NextCursor }) },
  }),
  create: post('/v1/orgs/:orgId/rotation', {
    summary:
      'Set up the rotation of a secret (the server then replaces its value at regular intervals), or replace the settings of the rotation. The caller must have the environment’s key',
    unit: 'manual',
    body: Strict({
      ...trusted,
      environmentId: Id('environment'),
      secretName: SecretName,
      config: Config,
      intervalSeconds: IntervalSeconds,
      targetId: Type.Optional({
        ...TargetId,
        description: 'The target on which the server sets the new password. Not for the kind `generated`',
      }),
      wrappedDek: Type.Optional({
        ...WrappedKey,
        description:
          'The environment’s key, wrapped for the rotator. Required if the rotator does not have this key yet',
      }),
      rotateNow: Type.Optional(Type.Boolean({ description: 'true: the server also rotates the secret right away' })),
    }),
    responses: { 200: Configured, 201: Configured },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['rotation.created', 'rotation.updated', 'key.granted', 'rotation.completed', 'secret.written'],
  }),
  get: get('/v1/orgs/:orgId/rotation/:rotationId', {
    summary: 'Get a rotation policy',
    responses: { 200: One },
  }),
  update: patch('/v1/orgs/:orgId/rotation/:rotationId', {
    summary:
      'Change the interval or the settings of a rotation, or pause or resume it. You cannot change the kind. If you resume the rotation, the server sets `failureStreak`, the number of failures in a row, to 0',
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
    summary: 'Rotate the secret now, even if the rotation is paused',
    unit: 'manual',
    responses: { 200: Strict({ rotation: Rotation, version: Version, rotatedAt: Instant }) },
    refuses: ['conflict'],
    audits: ['rotation.completed', 'secret.written'],
  }),
  delete: del('/v1/orgs/:orgId/rotation/:rotationId', {
    summary:
      'Delete a rotation policy: the server no longer replaces the value. The secret and its versions do not change. If this was the last policy of the environment, the rotator loses the environment’s key',
    unit: 'manual',
    body: Strict({ ...trusted }),
    query: Strict({
      force: Type.Optional(
        Type.Union([Type.Literal('true'), Type.Literal('false')], {
          description:
            'true: delete the policy even if a rotation runs, or was interrupted and is not finished. Default: false',
        }),
      ),
    }),
    responses: { 200: Strict({ ok: Type.Literal(true), rotatorRevoked: Type.Boolean() }) },
    refuses: ['conflict'],
    audits: ['rotation.deleted', 'key.revoked'],
  }),
}
