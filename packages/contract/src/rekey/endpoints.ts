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
      'Re-key an environment: replace its key, all grants and all current ciphertexts in one transaction. Readers who are not in `grants` lose access. In a protected environment, use `changes.proposeRekey` instead',
    body: Strict({ ...Rekey.properties, ...trusted }),
    responses: {
      200: Strict({ environment: Environment, rekeyedSecrets: Type.Integer(), grants: Type.Integer() }),
    },
    bodyBytes: limits.rekeyBodyBytes,
    refuses: ['conflict'],
    audits: ['env.rekeyed', 'change_request.superseded'],
  }),
}
