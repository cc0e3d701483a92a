import { Type } from 'typebox'
import { trusted } from '../directory/schemas.ts'
import { del, get, patch, post } from '../endpoint.ts'
import { CreateEnvironment, Environment, EnvironmentWithAccess } from '../envs/schemas.ts'
import { limits } from '../limits.ts'
import { DisplayName, Id, NextCursor, Ok, Page, Slug, Strict } from '../schema.ts'
import { Composition, Group } from './schemas.ts'

const One = Strict({ group: Group })

export const groups = {
  list: get('/v1/orgs/:orgId/groups', {
    summary: 'List groups',
    query: Page,
    responses: { 200: Strict({ groups: Type.Array(Group), nextCursor: NextCursor }) },
  }),
  create: post('/v1/orgs/:orgId/groups', {
    summary: 'Create a group. Several applications can share the secrets of a group',
    body: Strict({ name: DisplayName, slug: Slug }),
    responses: { 201: One },
    refuses: ['conflict'],
    audits: ['group.created'],
  }),
  get: get('/v1/orgs/:orgId/groups/:groupId', {
    summary: 'Get a group with its environments',
    responses: { 200: Strict({ group: Group, environments: Type.Array(EnvironmentWithAccess) }) },
  }),
  update: patch('/v1/orgs/:orgId/groups/:groupId', {
    summary: 'Rename a group. Its slug does not change',
    body: Strict({ name: DisplayName }),
    responses: { 200: One },
    audits: ['group.updated'],
  }),
  delete: del('/v1/orgs/:orgId/groups/:groupId', {
    summary:
      'Delete a group with its environments, secrets and key grants. Environments that included the group no longer include it',
    body: Strict({ ...trusted }),
    responses: { 200: Ok },
    audits: ['group.deleted'],
  }),
  envs: get('/v1/orgs/:orgId/groups/:groupId/envs', {
    summary: 'List the environments of a group',
    query: Page,
    responses: { 200: Strict({ environments: Type.Array(EnvironmentWithAccess), nextCursor: NextCursor }) },
  }),
  createEnv: post('/v1/orgs/:orgId/groups/:groupId/envs', {
    summary:
      'Create an environment of a group. The caller makes its key, and sends the key wrapped for the caller as `wrappedDek`. The caller is then the first reader',
    body: CreateEnvironment,
    responses: { 201: Strict({ environment: Environment }) },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['env.created'],
  }),
}

export const composition = {
  list: get('/v1/orgs/:orgId/envs/:envId/groups', {
    summary:
      'List the groups that an environment includes, lowest position first. If two groups have a secret of the same name, a program gets the value of the group with the higher position',
    responses: { 200: Strict({ groups: Type.Array(Composition) }) },
  }),
  set: post('/v1/orgs/:orgId/envs/:envId/groups', {
    summary:
      'Include a group in an environment of an application, or change the position of an included group. You cannot include a group in a branch, because a branch uses the groups of its parent',
    body: Strict({
      ...trusted,
      groupId: Id('group'),
      position: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: limits.compositionPositionMax,
          description:
            'If two groups have a secret of the same name, the value comes from the group with the higher position. Default: above all other groups, or the current position of an included group',
        }),
      ),
    }),
    responses: { 200: Strict({ group: Composition }), 201: Strict({ group: Composition }) },
    refuses: ['conflict'],
    audits: ['composition.set'],
  }),
  delete: del('/v1/orgs/:orgId/envs/:envId/groups/:groupId', {
    summary: 'Remove a group from an environment. Programs that use the environment then get no secrets of this group',
    body: Strict({ ...trusted }),
    responses: { 200: Ok },
    audits: ['composition.removed'],
  }),
}
