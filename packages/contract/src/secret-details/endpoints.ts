import { Type } from 'typebox'
import { get, patch } from '../endpoint.ts'
import { GivenInstant, Id, NextCursor, Nullable, Page, Strict } from '../schema.ts'
import { SealedDetails, SecretDetails } from './schemas.ts'

export const secretDetails = {
  list: get('/v1/orgs/:orgId/envs/:envId/secret-details', {
    summary:
      'List the details of the secrets of an environment, by name: descriptions and tags (encrypted), owners and expiry dates',
    query: Page,
    responses: { 200: Strict({ details: Type.Array(SecretDetails), nextCursor: NextCursor }) },
  }),
  update: patch('/v1/orgs/:orgId/envs/:envId/secret-details/:name', {
    summary:
      'Change the details of a secret. Fields that the body leaves out do not change. If you send null, the server clears the field',
    body: Strict({
      sealed: Type.Optional(Nullable(SealedDetails)),
      ownerId: Type.Optional({
        ...Nullable(Id('user')),
        description: 'The person whom the server reminds before the secret expires',
      }),
      expiresAt: Type.Optional({
        ...Nullable(GivenInstant),
        description: 'When the secret expires, in RFC 3339, such as `2026-10-04T12:00:00Z`',
      }),
      notNeeded: Type.Optional(Type.Boolean({ description: 'True if this environment needs no secret of this name' })),
      expectedRevision: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 2_147_483_647,
          description:
            'The revision that the caller read. If it is not the current revision, the answer is 409. 0: there are no details yet',
        }),
      ),
    }),
    responses: { 200: Strict({ details: Nullable(SecretDetails) }) },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['secret.described'],
  }),
}
