import { Type } from 'typebox'
import { Directory, trustQuery } from '../directory/schemas.ts'
import { get } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { slugForm } from '../patterns.ts'
import { Id, Nullable, Strict } from '../schema.ts'
import { Layer, Scope } from './schemas.ts'

export const resolve = {
  get: get('/v1/resolve', {
    summary:
      'Get all secrets that a program needs, encrypted, with wrapped keys. The answer has a list of layers: first the included groups, then the environment, then its branch. If two layers have a secret of the same name, the later layer wins',
    tagged: true,
    query: Strict({
      env: Type.Optional({
        ...Id('environment'),
        description: 'The environment to read. Required, except for a service token that is bound to an environment',
      }),
      with: Type.Optional(
        Type.Array(Type.String({ pattern: `^${slugForm}:${slugForm}$` }), {
          maxItems: limits.resolveWithMax,
          description:
            '`<group slug>:<environment slug>`: use this environment of an included group. By default, the server uses the group’s environment with the same slug as `env`. You can repeat the parameter',
        }),
      ),
      proof: Type.Optional(
        Type.Literal('1', { description: '1: the answer also has the signed directory, and proofs of the layers' }),
      ),
      ...trustQuery,
      branch: Type.Optional(
        Type.String({
          pattern: `^(?:${slugForm}|env_[0-9A-Za-z]{22})$`,
          description: 'Slug or id of a branch of the environment. The answer then also has the layer of this branch',
        }),
      ),
    }),
    responses: {
      200: Strict({
        scope: Scope,
        layers: Type.Array(Layer),
        directory: Type.Optional(Nullable(Directory)),
      }),
    },
    refuses: ['not_found', 'forbidden', 'quota_exceeded'],
    audits: ['env.resolve_denied'],
  }),
}
