import { Type } from 'typebox'
import { del, get, post } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { Id, NextCursor, Ok, Page, Strict } from '../schema.ts'
import { HoneyToken } from './schemas.ts'

/**
 * Decoys: service tokens that never worked. The server answers a decoy like an unknown token, and reports it to the
 * admins.
 */
export const honeyTokens = {
  list: get('/v1/orgs/:orgId/honey-tokens', {
    summary:
      'List decoys (honey tokens): tokens that give no access, and that you put where a thief would look. For each decoy, the answer has the number of uses and the IP address of the last use, but not the hash of the decoy',
    query: Page,
    responses: { 200: Strict({ honeyTokens: Type.Array(HoneyToken), nextCursor: NextCursor }) },
    refuses: ['quota_exceeded'],
  }),
  create: post('/v1/orgs/:orgId/honey-tokens', {
    summary:
      'Register a decoy (a honey token), which the caller has made. A decoy looks like a service token, but gives no access. If somebody uses the decoy, the audit log shows it, and the server tells the admins',
    body: Strict({
      tokenId: { ...Id('serviceToken'), description: 'The id in the decoy, which the client chooses' },
      tokenHash: Type.String({
        pattern: '^[A-Za-z0-9_-]{43}$',
        description: 'SHA-256, in base64url, of the whole string that you plant as a decoy',
      }),
      placement: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: limits.noteCharacters,
          pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]+$',
          description: 'Where you put the decoy, as a note for the admins',
        }),
      ),
    }),
    responses: { 201: Strict({ honeyToken: HoneyToken }) },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['honey_token.created'],
  }),
  delete: del('/v1/orgs/:orgId/honey-tokens/:honeyTokenId', {
    summary:
      'Delete a decoy permanently. Afterwards, the server refuses the decoy like any unknown token, and does not tell the admins',
    responses: { 200: Ok },
    refuses: ['quota_exceeded'],
    audits: ['honey_token.deleted'],
  }),
}
