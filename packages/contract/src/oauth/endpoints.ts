import { Type } from 'typebox'
import { post } from '../endpoint.ts'
import { Strict } from '../schema.ts'

/** RFC 6749 section 3.2: the server ignores parameters that it does not know. */
const TokenRequest = Type.Object(
  {
    grant_type: Type.String({ maxLength: 100, pattern: '^[\\u0020-\\u007e]+$', description: '`client_credentials`' }),
    client_id: Type.Optional(
      Type.String({
        maxLength: 100,
        pattern: '^[A-Za-z0-9_-]*$',
        description: 'Id of the machine client, if it is not in the `Authorization` header',
      }),
    ),
    client_secret: Type.Optional(
      Type.String({
        maxLength: 200,
        pattern: '^[A-Za-z0-9_-]*$',
        description: 'Secret of the machine client, if it is not in the `Authorization` header',
      }),
    ),
    scope: Type.Optional(
      Type.String({ maxLength: 200, pattern: '^[\\u0020-\\u007e]*$', description: 'The server ignores this field' }),
    ),
  },
  { additionalProperties: true, maxProperties: 30 },
)

export const oauth = {
  token: post('/oauth/token', {
    summary: 'Exchange machine client credentials for an access token (client credentials grant)',
    surface: 'none',
    body: TokenRequest,
    responses: {
      200: Strict({
        access_token: Type.String(),
        token_type: Type.Literal('Bearer'),
        expires_in: Type.Integer({ description: 'Lifetime of the access token, in seconds' }),
      }),
    },
    refuses: ['unauthorized'],
    audits: ['machine_client.token_issued'],
  }),
}
