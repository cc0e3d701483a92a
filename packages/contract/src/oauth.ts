import { Type } from 'typebox'
import { post } from './endpoint.ts'
import { Strict } from './schema.ts'

export const oauth = {
  token: post('/oauth/token', {
    summary: 'Exchange machine client credentials for an access token (client credentials grant)',
    surface: 'none',
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
