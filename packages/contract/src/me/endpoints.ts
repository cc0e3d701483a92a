import { Type } from 'typebox'
import { get, patch, post, put } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { Organization } from '../orgs/schemas.ts'
import { Blob, Instant, Nullable, Ok, PublicKeyJwk, Strict } from '../schema.ts'
import { KeyHolding, User } from './schemas.ts'

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
  patchKeys: patch('/v1/me/keys', {
    summary:
      'Store the same private key sealed under another passphrase; passkeys and a recovery kit stay; asks for a fresh second factor',
    body: Strict({
      encryptedPrivateKey: SealedPrivateKey,
      publicKeyJwk: Type.Optional(PublicKeyJwk),
    }),
    responses: { 200: Ok },
    refuses: ['forbidden', 'mfa_required', 'conflict'],
    audits: ['user.keys_resealed'],
  }),
  keyHoldings: get('/v1/me/keys/holdings', {
    summary: 'Environments whose keys the caller holds, and who could grant them again',
    responses: { 200: Strict({ holdings: Type.Array(KeyHolding) }) },
    refuses: ['forbidden'],
  }),
  replaceKeys: post('/v1/me/keys/replacement', {
    summary:
      'Replace the caller’s keypair: every key grant, recovery share, keyring passkey and recovery kit goes, admins are told; asks for a fresh second factor',
    body: Strict({ publicKeyJwk: PublicKeyJwk, encryptedPrivateKey: SealedPrivateKey }),
    responses: { 200: Strict({ lost: Type.Array(KeyHolding) }) },
    refuses: ['forbidden', 'mfa_required', 'conflict'],
    audits: ['user.keys_replaced', 'kms_grant.revoked', 'recovery.custodian_removed'],
  }),
}
