import { Type } from 'typebox'
import { del, get, patch, post } from '../endpoint.ts'
import { DisplayName, NextCursor, Ok, Page, PublicKeyJwk, Strict } from '../schema.ts'
import { RoleName, TargetId } from './fields.ts'
import { leaseProviders } from './providers.ts'
import { AdminSecret, Config, Lease, LeaseTarget, Provider } from './schemas.ts'

/** The result of a lease. It is beside `lease` in the answer, under the name in the provider’s row. */
const results = {
  connection: Type.Optional(leaseProviders.postgres.result),
  ssh: Type.Optional(leaseProviders.ssh.result),
  cloudA: Type.Optional(leaseProviders['cloud-a'].result),
  cloudB: Type.Optional(leaseProviders['cloud-b'].result),
  mongodb: Type.Optional(leaseProviders.mongodb.result),
}

/** Accounts that live for minutes, made on the customer's targets. */
export const leases = {
  brokerKey: get('/v1/orgs/:orgId/leases/broker-key', {
    summary:
      'Get the public key of the broker, the part of the server that makes leases. With this key, clients encrypt the credentials that sign in to targets. The server can decrypt these credentials',
    unit: 'transaction',
    unaudited: 'the first call makes the key pair, but gives nobody access',
    responses: { 200: Strict({ publicKeyJwk: PublicKeyJwk }) },
    refuses: ['conflict'],
  }),
  targets: get('/v1/orgs/:orgId/leases/targets', {
    summary:
      'List lease targets, without credentials. A target is a database, a cloud account or an SSH certificate authority for which Skerry makes short-lived accounts (leases)',
    query: Page,
    responses: { 200: Strict({ targets: Type.Array(LeaseTarget), nextCursor: NextCursor }) },
  }),
  createTarget: post('/v1/orgs/:orgId/leases/targets', {
    summary:
      'Register a target, for example a database, for which Skerry makes leases. The server, or your own provisioner (`skerry provisioner`), first signs in to the target. If the provisioner has not answered after 20 seconds, the target has the status `untested` until it answers',
    unit: 'manual',
    body: Strict({ name: Type.Optional(DisplayName), config: Config, wrappedAdminSecret: AdminSecret }),
    responses: { 201: Strict({ target: LeaseTarget }) },
    refuses: ['conflict'],
    audits: ['lease_target.created'],
  }),
  updateTarget: patch('/v1/orgs/:orgId/leases/targets/:targetId', {
    summary:
      'Rename a target, or replace the credential that signs in to it. The server, or the provisioner of the target, first signs in with the new credential',
    unit: 'manual',
    body: Strict({ name: Type.Optional(DisplayName), wrappedAdminSecret: Type.Optional(AdminSecret) }),
    responses: { 200: Strict({ target: LeaseTarget }) },
    refuses: ['conflict'],
    audits: ['lease_target.updated'],
  }),
  verifyTarget: post('/v1/orgs/:orgId/leases/targets/:targetId/verify', {
    summary:
      'Verify a target: the server, or the provisioner of the target, signs in to the target again. The server stores the result in the status of the target',
    unit: 'manual',
    responses: { 200: Strict({ target: LeaseTarget }) },
    refuses: ['conflict'],
    audits: ['lease_target.verified', 'lease_target.verification_requested'],
  }),
  deleteTarget: del('/v1/orgs/:orgId/leases/targets/:targetId', {
    summary:
      'Delete a target from Skerry. No rotation policy may use it. If the target has leases that have not ended, you must send `force=true`, and nobody removes the accounts of these leases on the target',
    query: Strict({
      force: Type.Optional(
        Type.Union([Type.Literal('true'), Type.Literal('false')], {
          description: 'true: delete the target even if it has leases that have not ended. Default: false',
        }),
      ),
    }),
    responses: { 200: Ok },
    refuses: ['conflict'],
    audits: ['lease_target.deleted'],
  }),
  list: get('/v1/orgs/:orgId/leases', {
    summary: 'List leases (short-lived accounts or credentials on a target), newest first',
    query: Strict({
      ...Page.properties,
      requestedById: Type.Optional(
        Type.String({
          maxLength: 64,
          pattern: '^[A-Za-z0-9_]+$',
          description: 'Only leases that this member, service token or machine client asked for',
        }),
      ),
      live: Type.Optional(
        Type.Union([Type.Literal('true'), Type.Literal('false')], {
          description: 'true: only leases whose credential may still work',
        }),
      ),
    }),
    responses: { 200: Strict({ leases: Type.Array(Lease), nextCursor: NextCursor }) },
  }),
  get: get('/v1/orgs/:orgId/leases/:leaseId', {
    summary: 'Get a lease',
    responses: { 200: Strict({ lease: Lease }) },
  }),
  create: post('/v1/orgs/:orgId/leases', {
    summary:
      'Make a lease: a short-lived account or credential on a target. Some fields of the body are only for some providers. For some targets, your own provisioner makes the account. If the provisioner needs longer than 20 seconds, the lease in the answer has the status `pending` or `creating`: read it again with `leases.get`',
    unit: 'manual',
    body: Strict({
      provider: Provider,
      targetId: TargetId,
      ttlSeconds: Type.Integer({
        minimum: 1,
        maximum: 86_400,
        description: 'Lifetime of the lease, in seconds. The provider and the target can set narrower limits',
      }),
      roleName: Type.Optional(RoleName),
      verifier: Type.Optional(
        Type.String({
          maxLength: 500,
          pattern: '^[\\u0020-\\u007e]*$',
          description:
            'For PostgreSQL, MySQL and Redis: a hash of the account’s password, in the format of the database. The client chooses the password',
        }),
      ),
      publicKey: Type.Optional(
        Type.String({
          maxLength: 4096,
          pattern: '^[\\u0020-\\u007e]*$',
          description: 'For SSH: the public key for which the certificate is made',
        }),
      ),
      principals: Type.Optional(
        Type.Array(Type.String({ maxLength: 64, pattern: '^[\\u0020-\\u007e]*$' }), {
          maxItems: 32,
          description: 'For SSH: the login names that the certificate is for',
        }),
      ),
      recipientPublicKey: Type.Optional({
        ...PublicKeyJwk,
        description:
          'For AWS, Google Cloud and MongoDB: the public key with which the credential is encrypted. JWK JSON, as a string',
      }),
    }),
    responses: { 201: Strict({ lease: Lease, ...results }) },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['lease.created', 'lease.requested'],
  }),
  revoke: del('/v1/orgs/:orgId/leases/:leaseId', {
    summary:
      'Revoke a lease before it expires: Skerry ends the sessions of its account, and removes the account. But a credential of SSH, AWS or Google Cloud works until it expires. You can repeat the call',
    unit: 'manual',
    responses: { 200: Strict({ lease: Lease }) },
    refuses: ['conflict'],
    audits: ['lease.revoked'],
  }),
  forget: post('/v1/orgs/:orgId/leases/:leaseId/forget', {
    summary:
      'Close an orphaned lease: a lease whose account Skerry could not remove. First check the target, because the account may still exist there, and Skerry does not try again to remove it',
    responses: { 200: Strict({ lease: Lease }) },
    refuses: ['conflict'],
    audits: ['lease.forgotten'],
  }),
}
