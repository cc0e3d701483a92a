import { Type } from 'typebox'
import { del, get, patch, post } from './endpoint.ts'
import { limits } from './limits.ts'
import { secretNamePattern } from './patterns.ts'
import {
  Ciphertext,
  DisplayName,
  HolderType,
  Id,
  Instant,
  NextCursor,
  Nullable,
  Ok,
  Page,
  PrincipalType,
  ReaderType,
  SecretName,
  Slug,
  Strict,
  Version,
  WrappedKey,
} from './schema.ts'

const environmentFields = {
  id: Id('environment'),
  applicationId: Nullable(Id('application')),
  groupId: Nullable(Id('group')),
  parentEnvironmentId: Nullable(Id('environment')),
  name: Type.String(),
  slug: Type.String(),
  expiresAt: Nullable(Instant),
  createdAt: Instant,
  updatedAt: Instant,
}

/** Exactly one of `applicationId` and `groupId` is set; a branch also has `parentEnvironmentId`. */
export const Environment = Strict(environmentFields)
export const EnvironmentWithAccess = Strict({
  ...environmentFields,
  canDecrypt: Type.Boolean({ description: 'The caller holds a key grant' }),
})

export const CreateEnvironment = Strict({
  name: DisplayName,
  slug: Slug,
  wrappedDek: WrappedKey,
  recoveryWrappedDek: Type.Optional(WrappedKey),
})

const Grantee = Strict({
  principalType: HolderType,
  principalId: Type.String(),
  name: Nullable(Type.String()),
  publicKeyJwk: Type.String(),
})

const PrincipalId = Type.String({ maxLength: 64, pattern: '^[A-Za-z0-9_]+$' })

export const BranchGrant = Strict({ principalType: PrincipalType, principalId: PrincipalId, wrappedDek: WrappedKey })

const One = Strict({ environment: Environment })

export const envs = {
  get: get('/v1/orgs/:orgId/envs/:envId', { summary: 'One environment', responses: { 200: One } }),
  update: patch('/v1/orgs/:orgId/envs/:envId', {
    summary: 'Rename an environment; its slug is fixed',
    body: Strict({ name: DisplayName }),
    responses: { 200: One },
    audits: ['env.updated'],
  }),
  delete: del('/v1/orgs/:orgId/envs/:envId', {
    summary: 'Delete an environment, or tear down a branch, with everything that hangs on it',
    responses: { 200: Ok },
    audits: ['env.deleted', 'branch.deleted'],
  }),
  grantees: get('/v1/orgs/:orgId/envs/:envId/grantees', {
    summary: 'Public keys of those who hold a key grant',
    query: Page,
    responses: { 200: Strict({ grantees: Type.Array(Grantee), nextCursor: NextCursor }) },
  }),
}

/** New key, new wrapping for each holder, new ciphertext for each secret, in one go. */
export const rekey = {
  run: post('/v1/orgs/:orgId/envs/:envId/rekey', {
    summary:
      'Replace an environment’s key: every grant and every current ciphertext, or nothing; not while it is protected',
    body: Strict({
      expectedVersions: Type.Record(Type.String({ pattern: secretNamePattern }), Version, {
        additionalProperties: false,
        maxProperties: limits.rekeySecretsMax,
        description: 'The current version of every secret, by name; 409 when one has moved on, appeared or gone',
      }),
      grants: Type.Array(Strict({ principalType: HolderType, principalId: PrincipalId, wrappedDek: WrappedKey }), {
        minItems: 1,
        maxItems: limits.rekeyGrantsMax,
        description: 'The new key, wrapped to each holder who keeps access; a holder who is not named loses it',
      }),
      dropReaders: Type.Optional(
        Type.Array(Strict({ principalType: ReaderType, principalId: PrincipalId }), {
          maxItems: limits.rekeyGrantsMax,
          description:
            'Rotator and sync connections that lose the key on purpose: 409 unless each that holds it is here or in `grants`',
        }),
      ),
      secrets: Type.Array(Strict({ name: SecretName, ciphertext: Ciphertext }), { maxItems: limits.rekeySecretsMax }),
      recoveryWrappedDek: Type.Optional(WrappedKey),
    }),
    responses: {
      200: Strict({ environment: Environment, rekeyedSecrets: Type.Integer(), grants: Type.Integer() }),
    },
    bodyBytes: limits.rekeyBodyBytes,
    refuses: ['conflict'],
    audits: ['env.rekeyed', 'change_request.superseded'],
  }),
}

export const branches = {
  list: get('/v1/orgs/:orgId/envs/:envId/branches', {
    summary: 'Branches of an environment',
    query: Page,
    responses: { 200: Strict({ branches: Type.Array(Environment), nextCursor: NextCursor }) },
  }),
  create: post('/v1/orgs/:orgId/envs/:envId/branches', {
    summary:
      'Fork an environment into a branch, which holds only the values that differ and starts with the parent’s protection',
    body: Strict({
      slug: Slug,
      name: Type.Optional(DisplayName),
      ttlSeconds: Type.Optional(
        Nullable(
          Type.Integer({
            minimum: limits.branchTtlMinSeconds,
            maximum: limits.branchTtlMaxSeconds,
            description: '7 days unless given; null: no expiry',
          }),
        ),
      ),
      wrappedDek: WrappedKey,
      recoveryWrappedDek: Type.Optional(WrappedKey),
      grants: Type.Optional(
        Type.Array(BranchGrant, {
          maxItems: limits.branchGrantsMax,
          description:
            'only to holders of the parent’s key; the caller has the key from `wrappedDek`, named here or not',
        }),
      ),
    }),
    responses: { 201: Strict({ branch: Environment }) },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['branch.created', 'branch.expired'],
  }),
}
