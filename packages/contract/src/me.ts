import { Type } from 'typebox'
import { get, patch, post, put } from './endpoint.ts'
import { limits } from './limits.ts'
import { Organization } from './orgs.ts'
import { Blob, Id, Instant, Nullable, Ok, PrincipalType, PublicKeyJwk, Strict } from './schema.ts'

export const User = Strict({
  id: Id('user'),
  email: Nullable(Type.String()),
  name: Nullable(Type.String()),
  publicKeyJwk: Nullable(Type.String()),
  createdAt: Instant,
})

const SealedPrivateKey = Blob(limits.sealedPrivateKeyCharacters, 'pk1')

/** Somebody who holds a key too. */
export const KeyHolder = Strict({
  principalType: PrincipalType,
  principalId: Type.String(),
  name: Nullable(Type.String()),
})

/** An environment whose key the caller holds, and who could grant it to them again. */
export const KeyHolding = Strict({
  orgId: Id('organization'),
  orgSlug: Type.String(),
  environmentId: Id('environment'),
  label: Type.String({ description: '`app/env`, `app/env@branch` or `group:env`' }),
  grantableBy: Type.Array(KeyHolder, {
    description: 'Admins, in person or by token, who hold the key too; without one of them it is lost',
  }),
})

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
    summary: 'Store the same private key sealed under another passphrase; asks for a fresh second factor',
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
      'Replace the caller’s keypair: every key grant, recovery share and keyring passkey goes, admins are told; asks for a fresh second factor',
    body: Strict({ publicKeyJwk: PublicKeyJwk, encryptedPrivateKey: SealedPrivateKey }),
    responses: { 200: Strict({ lost: Type.Array(KeyHolding) }) },
    refuses: ['forbidden', 'mfa_required', 'conflict'],
    audits: ['user.keys_replaced', 'kms_grant.revoked', 'recovery.custodian_removed'],
  }),
}
