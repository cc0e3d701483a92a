import { Type } from 'typebox'
import { post } from '../endpoint.ts'
import { Environment, PrincipalId } from '../envs/schemas.ts'
import { limits } from '../limits.ts'
import { secretNamePattern } from '../patterns.ts'
import { Ciphertext, HolderType, Nullable, ReaderType, SecretName, Strict, Version, WrappedKey } from '../schema.ts'
import { Revision, SealedDetails } from '../secret-details/schemas.ts'

/** Replaces the key, its wrapping for each holder and the ciphertext of each secret, in one request. */
export const rekey = {
  run: post('/v1/orgs/:orgId/envs/:envId/rekey', {
    summary:
      'Replace an environment’s key: every grant and every current ciphertext, or nothing; not while it is protected',
    body: Strict({
      expectedVersions: Type.Record(Type.String({ pattern: secretNamePattern }), Version, {
        additionalProperties: false,
        maxProperties: limits.rekeySecretsMax,
        description: 'The current version of every secret, by name; 409 when one has moved on, appeared or gone',
      }),
      grants: Type.Array(Strict({ principalType: HolderType, principalId: PrincipalId, wrappedDek: WrappedKey }), {
        minItems: 1,
        maxItems: limits.rekeyGrantsMax,
        description: 'The new key, wrapped to each holder who keeps access; a holder who is not named loses it',
      }),
      dropReaders: Type.Optional(
        Type.Array(Strict({ principalType: ReaderType, principalId: PrincipalId }), {
          maxItems: limits.rekeyGrantsMax,
          description:
            'Rotator and sync connections that lose the key on purpose: 409 unless each that holds it is here or in `grants`',
        }),
      ),
      secrets: Type.Array(Strict({ name: SecretName, ciphertext: Ciphertext }), { maxItems: limits.rekeySecretsMax }),
      details: Type.Optional(
        Type.Array(Strict({ name: SecretName, sealed: Nullable(SealedDetails), expectedRevision: Revision }), {
          maxItems: limits.rekeySecretsMax,
          description:
            'Every description, encrypted under the new key; 409 when one is missing or has changed. Without the list, all descriptions are dropped',
        }),
      ),
      recoveryWrappedDek: Type.Optional(WrappedKey),
    }),
    responses: {
      200: Strict({ environment: Environment, rekeyedSecrets: Type.Integer(), grants: Type.Integer() }),
    },
    bodyBytes: limits.rekeyBodyBytes,
    refuses: ['conflict'],
    audits: ['env.rekeyed', 'change_request.superseded'],
  }),
}
