import { Type } from 'typebox'
import { trusted } from '../directory/schemas.ts'
import { post } from '../endpoint.ts'
import { Environment } from '../envs/schemas.ts'
import { limits } from '../limits.ts'
import { Strict } from '../schema.ts'
import { Rekey } from './schemas.ts'

/** Replaces the key, its wrapping for each holder and the ciphertext of each secret, in one request. */
export const rekey = {
  run: post('/v1/orgs/:orgId/envs/:envId/rekey', {
    summary:
      'Replace an environment’s key with every grant and every current ciphertext. The call replaces everything or nothing. A protected environment needs a proposal',
    body: Strict({ ...Rekey.properties, ...trusted }),
    responses: {
      200: Strict({ environment: Environment, rekeyedSecrets: Type.Integer(), grants: Type.Integer() }),
    },
    bodyBytes: limits.rekeyBodyBytes,
    refuses: ['conflict'],
    audits: ['env.rekeyed', 'change_request.superseded'],
  }),
}
