import { Type } from 'typebox'
import { get, post } from '../endpoint.ts'
import { Branch, BranchGrant, BranchManifest, Environment, OwnWrappedDek, RecoveryWrappedDek } from '../envs/schemas.ts'
import { limits } from '../limits.ts'
import { DisplayName, Id, NextCursor, Nullable, Page, Slug, Strict } from '../schema.ts'

export const branches = {
  list: get('/v1/orgs/:orgId/envs/:envId/branches', {
    summary: 'List the branches of an environment',
    query: Page,
    responses: { 200: Strict({ branches: Type.Array(Branch), nextCursor: NextCursor }) },
  }),
  create: post('/v1/orgs/:orgId/envs/:envId/branches', {
    summary:
      'Create a branch of an environment, which becomes its parent. The branch stores only the values that differ from the parent. If the parent is protected, the new branch is protected in the same way',
    body: Strict({
      id: Type.Optional({
        ...Id('environment'),
        description:
          'The id of the new branch, which the client chooses. If you send a `manifest`, it contains the same id',
      }),
      slug: Slug,
      name: Type.Optional({ ...DisplayName, description: 'Name of the branch, for people. Default: the slug' }),
      ttlSeconds: Type.Optional(
        Nullable(
          Type.Integer({
            minimum: limits.branchTtlMinSeconds,
            maximum: limits.branchTtlMaxSeconds,
            description: 'Lifetime of the branch in seconds. Default: 7 days. null: the branch does not expire',
          }),
        ),
      ),
      wrappedDek: OwnWrappedDek,
      recoveryWrappedDek: Type.Optional(RecoveryWrappedDek),
      manifest: Type.Optional(BranchManifest),
      grants: Type.Optional(
        Type.Array(BranchGrant, {
          maxItems: limits.branchGrantsMax,
          description:
            'The branch’s key, wrapped for each other person or service token that should read the branch. They must have the key of the parent environment. The key for the caller is in `wrappedDek`',
        }),
      ),
    }),
    responses: { 201: Strict({ branch: Environment }) },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['branch.created', 'branch.expired'],
  }),
}
