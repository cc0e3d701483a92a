import { Type } from 'typebox'
import { get } from './endpoint.ts'
import { limits } from './limits.ts'
import { slugForm } from './patterns.ts'
import { Id, SecretName, Strict } from './schema.ts'

/** One environment's secrets and the key to them, wrapped to the caller. Later layers override earlier ones. */
export const Layer = Strict({
  source: Type.Union([Type.Literal('group'), Type.Literal('app'), Type.Literal('branch')]),
  environmentId: Id('environment'),
  slug: Type.String(),
  groupSlug: Type.Optional(Type.String()),
  wrappedDek: Type.String(),
  secrets: Type.Array(Strict({ name: SecretName, ciphertext: Type.String() })),
})

export const Scope = Strict({
  orgId: Id('organization'),
  orgSlug: Type.String(),
  appId: Id('application'),
  appSlug: Type.String(),
  envId: Id('environment'),
  envSlug: Type.String(),
  branchOf: Type.Optional(Id('environment')),
})

export const resolve = {
  get: get('/v1/resolve', {
    summary: 'Everything a program needs to start: layers of ciphertext and keys, lowest precedence first',
    tagged: true,
    query: Strict({
      env: Type.Optional(Id('environment')),
      with: Type.Optional(
        Type.Array(Type.String({ pattern: `^${slugForm}:${slugForm}$` }), {
          maxItems: limits.resolveWithMax,
          description: 'group slug:environment slug; repeatable',
        }),
      ),
      branch: Type.Optional(
        Type.String({ pattern: `^(?:${slugForm}|env_[0-9A-Za-z]{22})$`, description: 'slug or id of a branch' }),
      ),
    }),
    responses: { 200: Strict({ scope: Scope, layers: Type.Array(Layer) }) },
    refuses: ['not_found', 'forbidden', 'quota_exceeded'],
    audits: ['env.resolve_denied'],
  }),
}
