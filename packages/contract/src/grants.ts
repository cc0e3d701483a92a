import { Type } from 'typebox'
import { del, get, post } from './endpoint.ts'
import { BranchGrant } from './envs.ts'
import { Id, Instant, NextCursor, Ok, Page, Strict } from './schema.ts'

export const KeyGrant = Strict({
  id: Id('keyGrant'),
  environmentId: Id('environment'),
  principalType: Type.String(),
  principalId: Type.String(),
  wrappedDek: Type.String(),
  createdAt: Instant,
})

export const grants = {
  own: get('/v1/orgs/:orgId/envs/:envId/key', {
    summary: 'The environment’s key, wrapped to the caller',
    responses: { 200: Strict({ wrappedDek: Type.String() }) },
  }),
  list: get('/v1/orgs/:orgId/envs/:envId/keys', {
    summary: 'Every key grant of an environment',
    query: Page,
    responses: { 200: Strict({ grants: Type.Array(KeyGrant), nextCursor: NextCursor }) },
  }),
  create: post('/v1/orgs/:orgId/envs/:envId/keys', {
    summary: 'Grant an environment’s key, wrapped to a principal, by an admin who holds it',
    body: BranchGrant,
    responses: { 201: Strict({ grant: KeyGrant }) },
    refuses: ['conflict'],
    audits: ['key.granted'],
  }),
  delete: del('/v1/orgs/:orgId/envs/:envId/keys/:grantId', {
    summary: 'Revoke a key grant',
    responses: { 200: Ok },
    audits: ['key.revoked'],
  }),
}
