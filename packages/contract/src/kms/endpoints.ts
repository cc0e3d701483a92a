import { Type } from 'typebox'
import { trusted } from '../directory/schemas.ts'
import { del, get, post } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { DisplayName, Id, NextCursor, Ok, Page, PrincipalType, PublicKeyJwk, Strict, Version } from '../schema.ts'
import { grantFields, KmsKey, KmsVersion, NewKmsGrant, Purpose, Spec } from './schemas.ts'

const NewGrants = Type.Array(NewKmsGrant, {
  minItems: 1,
  maxItems: limits.kmsGrantsMax,
  description: 'The key, wrapped once for each person and service token that may use it',
})

const PublicKey = Type.Optional(
  Type.String({
    ...PublicKeyJwk,
    description: 'JWK JSON of the public key, as a string. Required for a signing key. Other keys have no public key',
  }),
)

const oneKey = { responses: { 200: Strict({ key: KmsKey }) } }

/** Keys that clients make and use. The server stores them wrapped, with a grant for each holder. */
export const kms = {
  list: get('/v1/orgs/:orgId/kms/keys', {
    summary:
      'List managed keys: keys for encryption or signing that Skerry stores, wrapped for the people and tokens who may use them. Admins see all keys. Other callers see only the keys that somebody granted to them',
    query: Page,
    responses: { 200: Strict({ keys: Type.Array(KmsKey), nextCursor: NextCursor }) },
  }),
  create: post('/v1/orgs/:orgId/kms/keys', {
    summary:
      'Register a managed key: a key for encryption or signing. The client has made the key, and sends it wrapped for each person and token that may use it',
    body: Strict({
      name: DisplayName,
      purpose: Purpose,
      spec: Spec,
      applicationId: Type.Optional({
        ...Id('application'),
        description: 'The application to which the key belongs. A key belongs to an application, a group or neither',
      }),
      groupId: Type.Optional({
        ...Id('group'),
        description: 'The group to which the key belongs. A key belongs to an application, a group or neither',
      }),
      publicKeyJwk: PublicKey,
      grants: NewGrants,
    }),
    responses: { 201: Strict({ key: KmsKey }) },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['kms_key.created'],
  }),
  get: get('/v1/orgs/:orgId/kms/keys/:kmsKeyId', {
    summary: 'Get a managed key with its versions',
    responses: { 200: Strict({ key: KmsKey, versions: Type.Array(KmsVersion) }) },
  }),
  own: get('/v1/orgs/:orgId/kms/keys/:kmsKeyId/key', {
    summary:
      'Get the versions of a managed key that were granted to the caller, wrapped for the caller. While the key is disabled, the server refuses the call',
    responses: {
      200: Strict({
        purpose: Purpose,
        spec: Spec,
        currentVersion: Version,
        grants: Type.Array(Strict({ version: Version, wrappedKey: Type.String() })),
      }),
    },
  }),
  public: get('/v1/orgs/:orgId/kms/keys/:kmsKeyId/public', {
    summary:
      'Get the public keys of a signing key. The call also works while the key is disabled, so that you can verify old signatures',
    responses: {
      200: Strict({
        purpose: Purpose,
        spec: Spec,
        currentVersion: Version,
        keys: Type.Array(Strict({ version: Version, publicKeyJwk: Type.String() })),
      }),
    },
  }),
  grants: get('/v1/orgs/:orgId/kms/keys/:kmsKeyId/grants', {
    summary: 'List the people and service tokens that have a managed key, each with the versions that they have',
    responses: {
      200: Strict({
        grants: Type.Array(
          Strict({ principalType: Type.String(), principalId: Type.String(), versions: Type.Array(Version) }),
        ),
      }),
    },
  }),
  grant: post('/v1/orgs/:orgId/kms/keys/:kmsKeyId/grants', {
    summary:
      'Grant the current version of a managed key to a person or a service token. The caller wraps the key for them',
    body: Strict({
      ...trusted,
      ...grantFields,
      version: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 2_147_483_647,
          description:
            'Number of the version that the caller has wrapped. If it is not the current version, the answer is 409',
        }),
      ),
    }),
    responses: {
      201: Strict({ grant: Strict({ principalType: Type.String(), principalId: Type.String(), version: Version }) }),
    },
    refuses: ['conflict'],
    audits: ['kms_grant.created'],
  }),
  revoke: del('/v1/orgs/:orgId/kms/keys/:kmsKeyId/grants', {
    summary:
      'Take a managed key away from one person or service token: delete their grants on all versions. Both query parameters are required',
    body: Strict({ ...trusted }),
    query: Strict({ principalType: Type.Optional(PrincipalType), principalId: Type.Optional(grantFields.principalId) }),
    responses: { 200: Ok },
    audits: ['kms_grant.revoked'],
  }),
  rotate: post('/v1/orgs/:orgId/kms/keys/:kmsKeyId/rotate', {
    summary:
      'Add a version to a managed key. The new version becomes the current version. Earlier versions remain, and still decrypt the texts that were encrypted with them. If the key is disabled, the answer is 409',
    body: Strict({ ...trusted, publicKeyJwk: PublicKey, grants: NewGrants }),
    ...oneKey,
    refuses: ['conflict'],
    audits: ['kms_key.rotated'],
  }),
  disable: post('/v1/orgs/:orgId/kms/keys/:kmsKeyId/disable', {
    summary:
      'Disable a managed key: nobody can use, grant or rotate it. Its grants work again after `kms.enable`. You can repeat the call',
    responses: {
      200: Strict({ key: Strict({ ...KmsKey.properties, disabled: Type.Unsafe<boolean>(Type.Literal(true)) }) }),
    },
    audits: ['kms_key.disabled'],
  }),
  enable: post('/v1/orgs/:orgId/kms/keys/:kmsKeyId/enable', {
    summary: 'Enable a disabled managed key. You can repeat the call',
    ...oneKey,
    audits: ['kms_key.enabled'],
  }),
  delete: del('/v1/orgs/:orgId/kms/keys/:kmsKeyId', {
    summary:
      'Delete a managed key. The server then gives the key to nobody, so first decrypt every text that you still need. Another managed key can have the same name afterwards',
    body: Strict({ ...trusted }),
    responses: { 200: Ok },
    audits: ['kms_key.deleted'],
  }),
}
