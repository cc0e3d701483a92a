import { Type } from 'typebox'
import { get, patch, post, put } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { Organization } from '../orgs/schemas.ts'
import { Blob, Instant, Nullable, Ok, PublicKeyJwk, Strict } from '../schema.ts'
import { KeyHolding, User } from './schemas.ts'

const SealedPrivateKey = Blob(limits.sealedPrivateKeyCharacters, 'pk1')

export const me = {
  get: get('/v1/me', {
    summary:
      'Get the organizations to which the caller belongs. If the caller is a person, the answer also has their account and their session',
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
            secondFactor: Type.Boolean({ description: 'True if the person has a second factor' }),
            mfaAt: Nullable(Instant),
          }),
        ),
      }),
    },
  }),
  getKeys: get('/v1/me/keys', {
    summary:
      'Get the caller’s public key, and the private key encrypted with the passphrase. Both are null until the caller has uploaded them with `me.putKeys`',
    responses: {
      200: Strict({ publicKeyJwk: Nullable(Type.String()), encryptedPrivateKey: Nullable(Type.String()) }),
    },
    refuses: ['forbidden'],
  }),
  putKeys: put('/v1/me/keys', {
    summary:
      'Upload the caller’s public key and encrypted private key for the first time. To change them later, use `me.patchKeys` or `me.replaceKeys`',
    body: Strict({ publicKeyJwk: PublicKeyJwk, encryptedPrivateKey: SealedPrivateKey }),
    responses: { 200: Ok },
    refuses: ['forbidden', 'conflict'],
    audits: ['user.keys_uploaded'],
  }),
  patchKeys: patch('/v1/me/keys', {
    summary:
      'Change the passphrase: store the same private key, encrypted with a new passphrase. Passkeys and the recovery kit still work. If you have a second factor, you must have entered it within the last ten minutes',
    body: Strict({
      encryptedPrivateKey: SealedPrivateKey,
      publicKeyJwk: Type.Optional({
        ...PublicKeyJwk,
        description: 'The caller’s public key. If the server has a different public key, the answer is 409',
      }),
    }),
    responses: { 200: Ok },
    refuses: ['forbidden', 'mfa_required', 'conflict'],
    audits: ['user.keys_resealed'],
  }),
  keyHoldings: get('/v1/me/keys/holdings', {
    summary:
      'List the environments whose keys the caller has. For each environment, the answer names the people and tokens that could grant the key again if the caller lost it',
    responses: { 200: Strict({ holdings: Type.Array(KeyHolding) }) },
    refuses: ['forbidden'],
  }),
  replaceKeys: post('/v1/me/keys/replacement', {
    summary:
      'Replace the caller’s key pair. The server deletes everything that belongs to the old key pair: key grants, recovery shares, keyring passkeys and the recovery kit. Then somebody must grant the caller each key again. The server tells the admins. If you have a second factor, you must have entered it within the last ten minutes',
    body: Strict({ publicKeyJwk: PublicKeyJwk, encryptedPrivateKey: SealedPrivateKey }),
    responses: { 200: Strict({ lost: Type.Array(KeyHolding) }) },
    refuses: ['forbidden', 'mfa_required', 'conflict'],
    audits: ['user.keys_replaced', 'kms_grant.revoked', 'recovery.custodian_removed'],
  }),
}
