import { Type } from 'typebox'
import { get, post } from './endpoint.ts'
import { Organization } from './orgs.ts'
import { DisplayName, Slug, Strict } from './schema.ts'

export const signup = {
  create: post('/v1/signup', {
    summary: 'Create an organization and the machine client that bootstraps it',
    open: true,
    body: Strict({ orgName: DisplayName, orgSlug: Slug, clientName: Type.Optional(DisplayName) }),
    responses: {
      201: Strict({
        org: Organization,
        m2m: Strict({
          clientId: Type.String(),
          clientSecret: Type.String({ description: 'Shown this once' }),
        }),
      }),
    },
    refuses: ['conflict'],
    audits: ['org.created', 'machine_client.created'],
  }),
}

export const oauth = {
  token: post('/oauth/token', {
    summary: 'Exchange machine client credentials for an access token (client credentials grant)',
    open: true,
    body: Strict({
      grant_type: Type.Literal('client_credentials'),
      client_id: Type.Optional(Type.String({ maxLength: 100, pattern: '^[A-Za-z0-9_-]*$' })),
      client_secret: Type.Optional(Type.String({ maxLength: 200, pattern: '^[A-Za-z0-9_-]*$' })),
      scope: Type.Optional(Type.String({ maxLength: 200, pattern: '^[\\u0020-\\u007e]*$' })),
    }),
    responses: {
      200: Strict({
        access_token: Type.String(),
        token_type: Type.Literal('Bearer'),
        expires_in: Type.Integer({ description: 'seconds' }),
      }),
    },
    refuses: ['unauthorized'],
    audits: ['machine_client.token_issued'],
  }),
}

export const health = {
  live: get('/health', {
    summary: 'Liveness: the process answers',
    open: true,
    responses: { 200: Strict({ status: Type.Literal('ok') }) },
  }),
  ready: get('/ready', {
    summary: 'Readiness: the database answers and its schema is the one that this server needs',
    open: true,
    responses: { 200: Strict({ status: Type.Literal('ready') }) },
  }),
}
