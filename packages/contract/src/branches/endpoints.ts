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
      'Create a branch of an environment. The branch stores only the values that differ from its parent. At first, the branch has the same protection as its parent',
    body: Strict({
      id: Type.Optional({
        ...Id('environment'),
        description:
          'The id of the new branch, which the client chooses. The manifest of the branch also contains this id',
      }),
      slug: Slug,
      name: Type.Optional({ ...DisplayName, description: 'Default: the slug' }),
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
            'The branch’s key, wrapped for each further principal. These principals must have the parent’s key. The caller’s own wrapped key is in `wrappedDek`',
        }),
      ),
    }),
    responses: { 201: Strict({ branch: Environment }) },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['branch.created', 'branch.expired'],
  }),
}
