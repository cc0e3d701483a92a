import { Type } from 'typebox'
import { trusted } from '../directory/schemas.ts'
import { del, get, patch, post } from '../endpoint.ts'
import { DisplayName, GivenInstant, Id, NextCursor, Nullable, Ok, Page, PublicKeyJwk, Strict } from '../schema.ts'
import { ServiceToken, TokenRole } from './schemas.ts'

const One = Strict({ token: ServiceToken })

export const tokens = {
  list: get('/v1/orgs/:orgId/tokens', {
    summary: 'List service tokens, including revoked ones. The answer does not have the hashes of the tokens',
    query: Page,
    responses: { 200: Strict({ tokens: Type.Array(ServiceToken), nextCursor: NextCursor }) },
  }),
  create: post('/v1/orgs/:orgId/tokens', {
    summary:
      'Register a service token that the caller has made. The body has the token’s hash and public key, but not the token itself',
    body: Strict({
      name: DisplayName,
      tokenId: { ...Id('serviceToken'), description: 'The id of the token, which the client chooses' },
      tokenHash: Type.String({
        pattern: '^[A-Za-z0-9_-]{43}$',
        description: 'SHA-256, in base64url, of the whole credential that the client later sends as `Bearer`',
      }),
      publicKeyJwk: PublicKeyJwk,
      role: Type.Optional({ ...TokenRole, description: 'Default: member' }),
      environmentId: Type.Optional({
        ...Nullable(Id('environment')),
        description: 'The environment to which the token is bound. Default: null, for an unbound token',
      }),
      expiresAt: Type.Optional({
        ...Nullable(GivenInstant),
        description: 'When the token expires, in RFC 3339. Default: null, for a token that does not expire',
      }),
    }),
    responses: { 201: One },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['token.created', 'token.registered'],
  }),
  update: patch('/v1/orgs/:orgId/tokens/:tokenId', {
    summary: 'Rename a service token. Nothing else about a token can change',
    body: Strict({ ...trusted, name: DisplayName }),
    responses: { 200: One },
    audits: ['token.updated'],
  }),
  revoke: del('/v1/orgs/:orgId/tokens/:tokenId', {
    summary: 'Revoke a service token: the server refuses it from now on. You can repeat the call',
    body: Strict({ ...trusted }),
    responses: { 200: Ok },
    audits: ['token.revoked'],
  }),
  delete: del('/v1/orgs/:orgId/tokens/:tokenId/permanent', {
    summary: 'Delete a service token and its key grants. You must revoke the token first',
    body: Strict({ ...trusted }),
    responses: { 200: Ok },
    refuses: ['conflict'],
    audits: ['token.deleted', 'kms_grant.revoked'],
  }),
}
