import { Type } from 'typebox'
import { trusted } from '../directory/schemas.ts'
import { del, get, patch } from '../endpoint.ts'
import { DisplayName, HolderType, NextCursor, Nullable, Ok, Page, Strict } from '../schema.ts'
import { Environment } from './schemas.ts'

const Grantee = Strict({
  principalType: HolderType,
  principalId: Type.String(),
  name: Nullable(Type.String()),
  publicKeyJwk: Type.String(),
})

const One = Strict({ environment: Environment })

export const envs = {
  get: get('/v1/orgs/:orgId/envs/:envId', { summary: 'Get an environment', responses: { 200: One } }),
  update: patch('/v1/orgs/:orgId/envs/:envId', {
    summary: 'Rename an environment. Its slug does not change',
    body: Strict({ name: DisplayName }),
    responses: { 200: One },
    audits: ['env.updated'],
  }),
  delete: del('/v1/orgs/:orgId/envs/:envId', {
    summary:
      'Delete an environment with its branches, secrets and key grants, or delete one branch with its secrets and key grants',
    body: Strict({ ...trusted }),
    responses: { 200: Ok },
    audits: ['env.deleted', 'branch.deleted'],
  }),
  grantees: get('/v1/orgs/:orgId/envs/:envId/grantees', {
    summary: 'List the public keys of all people, tokens and parts of the server that have the environment’s key',
    query: Page,
    responses: { 200: Strict({ grantees: Type.Array(Grantee), nextCursor: NextCursor }) },
  }),
}
