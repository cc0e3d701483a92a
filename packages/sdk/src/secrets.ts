import type { Answer } from '@skerry/contract/endpoint'
import type { grants } from '@skerry/contract/grants'
import type { Bytes } from '@skerry/crypto/base64url'
import type { PrivateKey } from '@skerry/crypto/keys'
import { type Dek, importDek, sealSecret } from '@skerry/crypto/secret'
import { unwrapKey, wrapKey } from '@skerry/crypto/wrap'
import type { Client } from './client.ts'
import { DecryptionError } from './errors.ts'

/** An environment's key: `bytes` (32) to wrap it to others, `dek` to seal and open secrets with. Neither is stored. */
export interface EnvironmentKey {
  readonly bytes: Bytes
  readonly dek: Dek
}

/** Where an environment is. */
export interface EnvironmentPlace {
  orgId: string
  envId: string
}

export type KeyGrant = Answer<typeof grants.create>['grant']

/** Who is granted a key. */
export interface Grantee {
  principalType: 'user' | 'service_token'
  principalId: string
  /** A string that holds JWK JSON. It is the server's word: where that is not enough, compare fingerprints first. */
  publicKeyJwk: string
}

/**
 * The key of an environment that the caller holds a grant on.
 *
 * @throws RefusedError `forbidden` without a grant, `not_found`; DecryptionError when the grant is not for this private
 *   key; UnavailableError.
 * @example const key = await environmentKey(client, { orgId, envId }, privateKey)
 */
export async function environmentKey(
  client: Client,
  { orgId, envId }: EnvironmentPlace,
  privateKey: PrivateKey,
): Promise<EnvironmentKey> {
  const { wrappedDek } = await client.grants.own({ params: { orgId, envId } })
  try {
    return await environmentKeyOf(await unwrapKey(wrappedDek, privateKey))
  } catch {
    throw new DecryptionError(envId, undefined)
  }
}

/**
 * The 32 bytes of an environment's key -> both forms of it.
 *
 * @throws CryptoError `malformed_key`.
 * @example const key = await environmentKeyOf(newDek())
 */
export async function environmentKeyOf(bytes: Bytes): Promise<EnvironmentKey> {
  return { bytes, dek: await importDek(bytes) }
}

/**
 * The ciphertext to store for a value: `sc1.<iv>.<ciphertext>`. It opens under this name in this environment only.
 *
 * @throws CryptoError `malformed_text` for a value with a lone surrogate, `invalid_argument`.
 * @example
 * const ciphertext = await sealFor(envId, 'API_KEY', value, key.dek)
 * await client.secrets.put({ params: { orgId, envId, name: 'API_KEY' }, body: { ciphertext } })
 */
export function sealFor(environmentId: string, name: string, value: string, dek: Dek): Promise<string> {
  return sealSecret(value, dek, environmentId, name)
}

/**
 * Grants an environment's key to a principal: wraps it here to their public key, and stores the wrapped key.
 *
 * @param bytes the environment's key, `(await environmentKey(...)).bytes`.
 * @throws RefusedError `forbidden`, `not_found`, `conflict` when the principal has a grant; CryptoError `malformed_key`
 *   for the public key; UnavailableError.
 * @example await grantEnvironment(client, { orgId, envId, principalType: 'user', principalId, publicKeyJwk }, key.bytes)
 */
export async function grantEnvironment(
  client: Client,
  { orgId, envId, principalType, principalId, publicKeyJwk }: EnvironmentPlace & Grantee,
  bytes: Bytes,
): Promise<KeyGrant> {
  const wrappedDek = await wrapKey(bytes, publicKeyJwk)
  const body = { principalType, principalId, wrappedDek }
  return (await client.grants.create({ params: { orgId, envId }, body })).grant
}
