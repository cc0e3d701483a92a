import { Type } from 'typebox'
import { del, get, post, put } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { Id, Ok, Strict } from '../schema.ts'
import { NewOverride, Override, OverrideCount, OverrideRevision } from './schemas.ts'

const One = Strict({ override: Override })

/** Values that a person stores for themselves alone, in an environment whose key they hold. */
export const overrides = {
  list: get('/v1/orgs/:orgId/envs/:envId/overrides', {
    summary:
      'List your own overrides in an environment. With a personal override, you get your own value of a secret, and everybody else gets the shared value',
    tagged: true,
    responses: { 200: Strict({ overrides: Type.Array(Override) }) },
  }),
  count: get('/v1/orgs/:orgId/envs/:envId/overrides/count', {
    summary: 'Count the overrides of each person in an environment. The answer has no names and no values',
    responses: { 200: Strict({ counts: Type.Array(OverrideCount) }) },
  }),
  create: post('/v1/orgs/:orgId/envs/:envId/overrides', {
    summary: 'Store a personal override: your own value of a secret. Everybody else still gets the shared value',
    body: Strict({
      ...NewOverride,
      seen: Type.Array(Id('override'), {
        maxItems: limits.overridesMax,
        uniqueItems: true,
        description:
          'The ids of all overrides that you know of in the environment. If you have other overrides, the answer is 409, because one may have the same name',
      }),
    }),
    responses: { 201: One },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['override.stored'],
  }),
  replace: put('/v1/orgs/:orgId/envs/:envId/overrides/:overrideId', {
    summary: 'Replace one of your personal overrides, for example to store a new value',
    body: Strict({
      ...NewOverride,
      expectedRevision: {
        ...OverrideRevision,
        description: 'The revision that the caller read. If it is not the current revision, the answer is 409',
      },
    }),
    responses: { 200: One },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['override.stored'],
  }),
  delete: del('/v1/orgs/:orgId/envs/:envId/overrides/:overrideId', {
    summary: 'Remove one of your personal overrides. You then get the shared value of the secret again',
    responses: { 200: Ok },
    audits: ['override.deleted'],
  }),
}
