import { Type } from 'typebox'
import { trusted } from '../directory/schemas.ts'
import { del, get, post, put } from '../endpoint.ts'
import { BranchGrant } from '../envs/schemas.ts'
import { limits } from '../limits.ts'
import { Id, NextCursor, Nullable, Ok, Page, PageOf, Strict } from '../schema.ts'
import {
  Access,
  GivenGrant,
  GrantResult,
  GrantSeconds,
  KeyGrant,
  MissingGrant,
  Reader,
  RecoveryReaders,
} from './schemas.ts'

const Planned = Strict({
  environmentIds: Type.Array(Id('environment'), {
    description: 'Planned environments whose key the person does not have yet',
  }),
})

export const grants = {
  own: get('/v1/orgs/:orgId/envs/:envId/key', {
    summary: 'Get the environment’s key, wrapped for the caller. Only the caller’s private key can unwrap it',
    responses: { 200: Strict({ wrappedDek: Type.String() }) },
  }),
  list: get('/v1/orgs/:orgId/envs/:envId/keys', {
    summary: 'List every key grant of an environment. A key grant is the environment’s key, wrapped for one reader',
    query: Page,
    responses: { 200: Strict({ grants: Type.Array(KeyGrant), nextCursor: NextCursor }) },
  }),
  readers: get('/v1/orgs/:orgId/envs/:envId/readers', {
    summary:
      'List the readers of an environment (the people, tokens and parts of the server that have its key). The answer also has the custodians who together could recover the key',
    responses: { 200: Strict({ readers: Type.Array(Reader), recovery: Nullable(RecoveryReaders) }) },
  }),
  overview: get('/v1/orgs/:orgId/grants', {
    summary: 'List the people and tokens that can read each environment',
    query: Strict({
      ...Page.properties,
      branches: Type.Optional(
        Type.Union([Type.Literal('true'), Type.Literal('false')], {
          description: 'true: the list also has branches. Default: false',
        }),
      ),
    }),
    responses: { 200: Strict({ access: Type.Array(Access), nextCursor: NextCursor }) },
  }),
  create: post('/v1/orgs/:orgId/envs/:envId/keys', {
    summary:
      'Grant an environment’s key to a person or a service token. The body has the key, wrapped for them. The caller must be an admin who has the key. With `seconds`, the access is temporary. If the person now has every key that they asked for in a request for access, the server closes this request',
    body: Strict({ ...trusted, ...BranchGrant.properties, seconds: Type.Optional(GrantSeconds) }),
    responses: { 201: Strict({ grant: KeyGrant }) },
    refuses: ['conflict'],
    audits: ['key.granted', 'access_request.granted'],
  }),
  delete: del('/v1/orgs/:orgId/envs/:envId/keys/:grantId', {
    summary:
      'Revoke a key grant: the server no longer gives the key or the secrets to this reader. The reader may have stored the key, so re-key the environment afterwards',
    body: Strict({ ...trusted }),
    responses: { 200: Ok },
    audits: ['key.revoked'],
  }),
  missing: get('/v1/orgs/:orgId/missing-grants', {
    summary:
      'List the environment keys that people should have, but do not have yet. A person should have a key because of a team, or because of a plan that an admin made (`grants.plan`). Admins see the missing keys of all people. Other callers see only their own missing keys',
    query: Strict({
      ...PageOf(limits.missingGrantsDefault).properties,
      teamId: Type.Optional({ ...Id('team'), description: 'Only keys that people should have because of this team' }),
      userId: Type.Optional({ ...Id('user'), description: 'Only keys that this person should have' }),
    }),
    responses: { 200: Strict({ missing: Type.Array(MissingGrant), nextCursor: NextCursor }) },
  }),
  createMany: post('/v1/orgs/:orgId/grants', {
    summary:
      'Grant keys of several environments. The caller must be an admin who has each of these keys. Each grant has its own result. If one grant fails, the server still stores the other grants',
    body: Strict({ ...trusted, grants: Type.Array(GivenGrant, { minItems: 1, maxItems: limits.grantsAtOnceMax }) }),
    responses: {
      200: Strict({ results: Type.Array(GrantResult, { description: 'In the order of `grants` in the body' }) }),
    },
    audits: ['key.granted', 'access_request.granted'],
  }),
  planned: get('/v1/orgs/:orgId/members/:userId/planned-grants', {
    summary:
      'List the environments in a person’s plan. The person should get the keys of these environments, in addition to the keys that they should get because of teams',
    responses: { 200: Planned },
  }),
  plan: put('/v1/orgs/:orgId/members/:userId/planned-grants', {
    summary:
      'Set a person’s plan: environments whose keys the person should get, in addition to those of their teams. A plan gives no key: an admin grants the keys. The new plan replaces the earlier plan',
    body: Strict({
      environmentIds: Type.Array(Id('environment'), { maxItems: limits.plannedGrantsMax, uniqueItems: true }),
    }),
    responses: { 200: Planned },
    audits: ['grant.planned'],
  }),
}
