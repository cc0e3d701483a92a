import { Type } from 'typebox'
import { trusted } from '../directory/schemas.ts'
import { del, get, patch, post } from '../endpoint.ts'
import { Branch, CreateEnvironment, Environment, EnvironmentWithAccess } from '../envs/schemas.ts'
import { DisplayName, NextCursor, Ok, Page, Slug, Strict } from '../schema.ts'
import { Application } from './schemas.ts'

const One = Strict({ app: Application })

export const apps = {
  list: get('/v1/orgs/:orgId/apps', {
    summary: 'List applications',
    query: Page,
    responses: { 200: Strict({ apps: Type.Array(Application), nextCursor: NextCursor }) },
  }),
  create: post('/v1/orgs/:orgId/apps', {
    summary: 'Create an application',
    body: Strict({ name: DisplayName, slug: Slug }),
    responses: { 201: One },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['app.created'],
  }),
  get: get('/v1/orgs/:orgId/apps/:appId', {
    summary: 'Get an application with its environments',
    responses: { 200: Strict({ app: Application, environments: Type.Array(EnvironmentWithAccess) }) },
  }),
  update: patch('/v1/orgs/:orgId/apps/:appId', {
    summary: 'Rename an application. Its slug does not change',
    body: Strict({ name: DisplayName }),
    responses: { 200: One },
    audits: ['app.updated'],
  }),
  delete: del('/v1/orgs/:orgId/apps/:appId', {
    summary: 'Delete an application with its environments, branches, secrets and key grants',
    body: Strict({ ...trusted }),
    responses: { 200: Ok },
    audits: ['app.deleted'],
  }),
  envs: get('/v1/orgs/:orgId/apps/:appId/envs', {
    summary: 'List the environments of an application, without branches',
    query: Page,
    responses: { 200: Strict({ environments: Type.Array(EnvironmentWithAccess), nextCursor: NextCursor }) },
  }),
  createEnv: post('/v1/orgs/:orgId/apps/:appId/envs', {
    summary:
      'Create an environment. The caller makes its key, and sends the key wrapped for the caller as `wrappedDek`. The caller is then the first reader',
    body: CreateEnvironment,
    responses: { 201: Strict({ environment: Environment }) },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['env.created'],
  }),
  branches: get('/v1/orgs/:orgId/apps/:appId/branches', {
    summary: 'List the branches of all environments of an application',
    query: Page,
    responses: { 200: Strict({ branches: Type.Array(Branch), nextCursor: NextCursor }) },
  }),
}
