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

/**
 * The key of an environment in two forms. Use `bytes` (32 bytes) to wrap the key for other readers. Use `dek` to
 * encrypt and decrypt secrets. The SDK does not store the key.
 */
export interface EnvironmentKey {
  readonly bytes: Bytes
  readonly dek: Dek
}

/**
 * A private key, with settings for checking the keys of environments. With these settings, the SDK notices a server
 * that puts in its own key.
 */
export type RememberingHolder = KeyHolder & {
  /** If it is set, the key of each environment is compared with the key that was seen before. */
  knownState?: KnownState
  /**
   * If it has a pin or a memory, each key is compared with the signed directory. If the newest signature of the
   * directory is older than 14 days, the key is refused. `openToken` of `@skerry/sdk/tokens` sets this field from a
   * token.
   */
  directory?: WriterDirectory
}

/** Identifies an environment. */
export interface EnvironmentPlace {
  orgId: string
  envId: string
}

export type KeyGrant = Answer<typeof grants.create>['grant']

/** The person or service token that gets a key. */
export interface Grantee {
  principalType: 'user' | 'service_token'
  principalId: string
  /**
   * The public key, a JWK as a JSON string. It comes from the server. If you do not trust the server, first compare the
   * words of the key with its owner.
   */
  publicKeyJwk: string
  /**
   * If it has a pin or a memory, the key is wrapped only if the signed directory lists this person or token with this
   * public key.
   */
  directory?: WriterDirectory
}

/**
 * Gets the wrapped key of an environment from the server, and unwraps it. The caller needs a grant for the environment.
 *
 * @param holder the private key, or an object that unwraps keys with a private key in another process, such as an
 *   agent.
 * @throws RefusedError `forbidden` if the caller has no grant, `not_found`; DecryptionError if the grant is not for
 *   this private key; RollbackError if the holder remembers another key for this environment; UnavailableError; the
 *   errors of an object that unwraps keys. With a directory: CryptoError `directory_…`, and `not_authentic` or
 *   `authentic_expired` for a branch; SkerryError `invalid_request` if `holder.directory`
 *   has a pin, and neither `name` nor `token` says which environment is meant.
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
 * Like `environmentKey`, but also returns the wrapped key that the server stores for the caller.
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
 * Makes both forms of the key of an environment from its 32 bytes.
 *
 * @throws CryptoError `malformed_key`.
 * @example const key = await environmentKeyOf(newDek())
 */
export async function environmentKeyOf(bytes: Bytes): Promise<EnvironmentKey> {
  return { bytes, dek: await importDek(bytes) }
}

/**
 * Gives a person or a service token the key of an environment. The function wraps the key with their public key on this
 * machine, and stores the wrapped key on the server.
 *
 * @param bytes the environment's key, `(await environmentKey(...)).bytes`.
 * @param seconds the time after which the server ends the grant, from 300 (5 minutes) to 7,776,000 (90 days). Without
 *   `seconds`, the grant stays until somebody revokes it. If the principal already has a temporary grant, the call
 *   gives it a new end.
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
