import { Type } from 'typebox'
import { get, put } from './endpoint.ts'
import { limits } from './limits.ts'
import { Organization } from './orgs.ts'
import { Blob, Id, Instant, Nullable, Ok, PublicKeyJwk, Strict } from './schema.ts'

export const User = Strict({
  id: Id('user'),
  email: Nullable(Type.String()),
  name: Nullable(Type.String()),
  publicKeyJwk: Nullable(Type.String()),
  createdAt: Instant,
})

const SealedPrivateKey = Blob(limits.sealedPrivateKeyCharacters, 'pk1')

export const me = {
  get: get('/v1/me', {
    summary: 'Who the caller is: the user, if a person, and the organizations in reach',
    responses: {
      200: Strict({
        user: Nullable(User),
        orgs: Type.Array(Organization),
        principal: Strict({
          type: Type.Union([Type.Literal('user'), Type.Literal('service_token'), Type.Literal('m2m')]),
          id: Type.String(),
        }),
        session: Nullable(
          Strict({
            kind: Type.Union([Type.Literal('browser'), Type.Literal('cli')]),
            id: Nullable(Type.String()),
            secondFactor: Type.Boolean({ description: 'The person has one' }),
            mfaAt: Nullable(Instant),
          }),
        ),
      }),
    },
  }),
  getKeys: get('/v1/me/keys', {
    summary: 'The caller’s public key and passphrase-encrypted private key; null before the upload',
    responses: {
      200: Strict({ publicKeyJwk: Nullable(Type.String()), encryptedPrivateKey: Nullable(Type.String()) }),
    },
    refuses: ['forbidden'],
  }),
  putKeys: put('/v1/me/keys', {
    summary: 'Upload the caller’s keys, once',
    body: Strict({ publicKeyJwk: PublicKeyJwk, encryptedPrivateKey: SealedPrivateKey }),
    responses: { 200: Ok },
    refuses: ['forbidden', 'conflict'],
    audits: ['user.keys_uploaded'],
  }),
}
