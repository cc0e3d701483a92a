import { Type } from 'typebox'
import { get, post } from '../endpoint.ts'
import { Branch, BranchGrant, BranchManifest, Environment } from '../envs/schemas.ts'
import { limits } from '../limits.ts'
import { DisplayName, Id, NextCursor, Nullable, Page, Slug, Strict, WrappedKey } from '../schema.ts'

export const branches = {
  list: get('/v1/orgs/:orgId/envs/:envId/branches', {
    summary: 'Branches of an environment',
    query: Page,
    responses: { 200: Strict({ branches: Type.Array(Branch), nextCursor: NextCursor }) },
  }),
  create: post('/v1/orgs/:orgId/envs/:envId/branches', {
    summary:
      'Create a branch of an environment. It holds only the values that differ, and starts with the parent’s protection',
    body: Strict({
      id: Type.Optional({ ...Id('environment'), description: 'The id that the client chose, for its manifest' }),
      slug: Slug,
      name: Type.Optional(DisplayName),
      ttlSeconds: Type.Optional(
        Nullable(
          Type.Integer({
            minimum: limits.branchTtlMinSeconds,
            maximum: limits.branchTtlMaxSeconds,
            description: 'Default: 7 days. null: the object does not expire',
          }),
        ),
      ),
      wrappedDek: WrappedKey,
      recoveryWrappedDek: Type.Optional(WrappedKey),
      manifest: Type.Optional(BranchManifest),
      grants: Type.Optional(
        Type.Array(BranchGrant, {
          maxItems: limits.branchGrantsMax,
          description:
            'Grants for holders of the parent’s key. The caller gets the key from `wrappedDek`, even without a grant here',
        }),
      ),
    }),
    responses: { 201: Strict({ branch: Environment }) },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['branch.created', 'branch.expired'],
  }),
}
