import type { Answer } from '@skerry/contract/endpoint'
import type { grants } from '@skerry/contract/grants/endpoints'
import type { Bytes } from '@skerry/crypto/base64url'
import { CryptoError } from '@skerry/crypto/errors'
import { type Dek, importDek } from '@skerry/crypto/secret'
import { type KeyHolder, unwrapKey, wrapKey } from '@skerry/crypto/wrap'
import type { Client } from './client.ts'
import type { WriterDirectory } from './directory/writer.ts'
import { DecryptionError } from './errors.ts'
import type { KnownState } from './known-state.ts'

/** The key of an environment in two forms. The SDK does not store the key. */
export interface EnvironmentKey {
  /** The 32 bytes of the key. Use them to wrap the key for other readers. */
  readonly bytes: Bytes
  /** The key as an object. Use it to encrypt and decrypt secrets. */
  readonly dek: Dek
}

/**
 * A private key, with settings for checking the keys of environments. With these settings, the SDK notices a hostile
 * server that shows its own key as the key of an environment.
 */
export type RememberingHolder = KeyHolder & {
  /** If you set it, the SDK compares the key of each environment with the key that this environment had before. */
  knownState?: KnownState
  /**
   * Settings for the signed directory. With a pin or a memory, the SDK compares each key with the directory. The SDK
   * refuses the key if the newest head of the directory is older than 14 days (30 days with the purpose `read`).
   * `openToken` of `@skerry/sdk/tokens` sets this field if a token contains a pin.
   */
  directory?: WriterDirectory
}

/** Identifies an environment. */
export interface EnvironmentPlace {
  orgId: string
  envId: string
}

/** A grant in a response of the server, without the wrapped key. */
export type KeyGrant = Answer<typeof grants.create>['grant']

/** The person or service token that gets a key. */
export interface Grantee {
  principalType: 'user' | 'service_token'
  principalId: string
  /**
   * The public key of the person or token, a JWK as a JSON string. It comes from the server. If you do not trust the
   * server, first compare the words of this public key with the person, or with the owner of the token.
   */
  publicKeyJwk: string
  /**
   * Settings for the signed directory. With a pin or a memory, the directory must list this person or token with the
   * same public key. If the directory does not, the function throws an error.
   */
  directory?: WriterDirectory
}

/**
 * Gets the wrapped key of an environment from the server, and unwraps it. The caller needs a grant for the environment.
 *
 * @param holder the private key, or an object that unwraps keys with a private key in another process.
 * @throws RefusedError `forbidden` if the caller has no grant, `not_found`; DecryptionError if the grant is not for
 *   this private key; RollbackError if `holder.knownState` remembers another key for this environment;
 *   UnavailableError; the errors of `holder`, if `holder` asks another process to unwrap keys; CryptoError
 *   `directory_…` if the signed directory does not contain this key; CryptoError `not_authentic` if the manifest of a
 *   branch is false, `authentic_expired` if it has expired; SkerryError `invalid_request` if `holder.directory` has a
 *   pin, but neither `name` nor `token` says which environment it is.
 * @example const key = await environmentKey(client, { orgId, envId }, privateKey)
 */
export async function environmentKey(
  client: Client,
  place: EnvironmentPlace,
  holder: RememberingHolder,
): Promise<EnvironmentKey> {
  const { wrappedDek: _, ...key } = await openOwnKey(client, place, holder)
  return key
}

/**
 * Does the same as `environmentKey`, but also returns the wrapped key that the server stores for the caller.
 *
 * @throws the errors of `environmentKey`.
 * @example const { bytes, wrappedDek } = await openOwnKey(client, { orgId, envId }, privateKey)
 */
export async function openOwnKey(
  client: Client,
  { orgId, envId }: EnvironmentPlace,
  holder: RememberingHolder,
): Promise<EnvironmentKey & { wrappedDek: string }> {
  const { wrappedDek } = await client.grants.own({ params: { orgId, envId } })
  const key = await unwrapEnvironmentKey(envId, wrappedDek, holder)
  const { directory } = holder
  // A client without a pin and without memory loads nothing of the directory.
  if (directory) {
    const { requireSignedKey } = await import('./directory/signed-key.ts')
    await requireSignedKey(client, { orgId, envId }, key.bytes, { ...holder, directory })
  }
  await holder.knownState?.check({ environments: [{ environmentId: envId, label: envId, key: key.bytes }] })
  return { ...key, wrappedDek }
}

async function unwrapEnvironmentKey(envId: string, wrappedDek: string, holder: KeyHolder): Promise<EnvironmentKey> {
  try {
    return await environmentKeyOf(await unwrapKey(wrappedDek, holder))
  } catch (error) {
    throw error instanceof CryptoError ? new DecryptionError(envId, undefined) : error
  }
}

/**
 * Makes an EnvironmentKey from the 32 bytes of the key.
 *
 * @throws CryptoError `malformed_key` if there are not 32 bytes.
 * @example const key = await environmentKeyOf(newDek())
 */
export async function environmentKeyOf(bytes: Bytes): Promise<EnvironmentKey> {
  return { bytes, dek: await importDek(bytes) }
}

/**
 * Gives a person or a service token the key of an environment. The function wraps the key with the public key of the
 * person or token on this machine, and stores the wrapped key on the server.
 *
 * @param bytes the key of the environment, 32 bytes: `(await environmentKey(...)).bytes`.
 * @param seconds the time in seconds after which the server ends the grant, from 300 (5 minutes) to 7,776,000 (90
 *   days). Without `seconds`, the grant stays until somebody revokes it. If the principal already has a grant that ends
 *   at a set time, the new time replaces the old time.
 * @throws RefusedError `forbidden`, `not_found`, `conflict` if the principal already has a grant without an end;
 *   CryptoError `malformed_key` if the public key is wrong, `directory_…` if `directory` is set and the signed
 *   directory does not list this key; UnavailableError.
 * @example await grantEnvironment(client, { orgId, envId, principalType: 'user', principalId, publicKeyJwk }, key.bytes)
 */
export async function grantEnvironment(
  client: Client,
  { orgId, envId, principalType, principalId, publicKeyJwk, directory }: EnvironmentPlace & Grantee,
  bytes: Bytes,
  seconds?: number,
): Promise<KeyGrant> {
  if (directory) {
    const { requireReceivers } = await import('./directory/receivers.ts')
    await requireReceivers(client, orgId, [{ principalType, principalId, publicKeyJwk }], directory)
  }
  const wrappedDek = await wrapKey(bytes, publicKeyJwk)
  const body = { principalType, principalId, wrappedDek, ...(seconds === undefined ? {} : { seconds }) }
  return (await client.grants.create({ params: { orgId, envId }, body })).grant
}
