import type { changes } from '@skerry/contract/changes/endpoints'
import type { Answer } from '@skerry/contract/endpoint'
import type { grants } from '@skerry/contract/grants/endpoints'
import { changeNoteHeader } from '@skerry/contract/headers'
import { limits } from '@skerry/contract/limits'
import type { deletedSecrets, secrets } from '@skerry/contract/secrets/endpoints'
import type { Bytes } from '@skerry/crypto/base64url'
import { CryptoError } from '@skerry/crypto/errors'
import { type Dek, importDek, openSecret, sealSecret } from '@skerry/crypto/secret'
import { type KeyHolder, unwrapKey, wrapKey } from '@skerry/crypto/wrap'
import type { Client, RequestOptions } from './client.ts'
import type { WriterDirectory } from './directory/writer.ts'
import { DecryptionError, invalid, RefusedError } from './errors.ts'
import type { KnownState } from './known-state.ts'
import { resealVersion } from './secret-history.ts'

/**
 * An environment's key in two forms: 32 `bytes` to wrap it for other readers, and `dek` to encrypt and decrypt
 * secrets. The SDK stores neither form.
 */
export interface EnvironmentKey {
  readonly bytes: Bytes
  readonly dek: Dek
}

/** A private key that remembers each environment's key, to detect a server that inserts its own key. */
export type RememberingHolder = KeyHolder & {
  /** Remembers each environment's key. */
  knownState?: KnownState
  /**
   * Compares each key with the one in the signed directory, from a pin or from what was verified before, and refuses it
   * under a head that is older than 14 days. `openToken` of `@skerry/sdk/tokens` fills it from a token.
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
  /** A JWK as a JSON string. The server supplies it. If you do not trust the server, compare fingerprints first. */
  publicKeyJwk: string
  /** With a pin or a memory, the key is wrapped only to a grantee whom the signed directory lists with this public key. */
  directory?: WriterDirectory
}

/**
 * Fetches and unwraps the key of an environment. The caller needs a grant on it.
 *
 * @param holder the private key, or an object, such as an agent, that keeps the private key and unwraps keys.
 * @throws RefusedError `forbidden` without a grant, `not_found`; DecryptionError when the grant is not for this private
 *   key; RollbackError when the holder remembers another key; UnavailableError; the errors of an object that unwraps
 *   keys. With a directory: CryptoError `directory_…`, and `not_authentic` or `authentic_expired` for a branch;
 *   SkerryError `invalid_request` without a name.
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
 * Fetches and unwraps the key of an environment. Also returns the wrapped key that the server stores for the caller.
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
 * Builds both forms of an environment's key from its 32 bytes.
 *
 * @throws CryptoError `malformed_key`.
 * @example const key = await environmentKeyOf(newDek())
 */
export async function environmentKeyOf(bytes: Bytes): Promise<EnvironmentKey> {
  return { bytes, dek: await importDek(bytes) }
}

/**
 * Encrypts a value and returns the ciphertext to store: `sc1.<iv>.<ciphertext>`. The ciphertext can be decrypted only
 * under this name in this environment.
 *
 * @throws CryptoError `malformed_text` for a value with a lone surrogate, `invalid_argument`.
 * @example const ciphertext = await sealFor(envId, 'API_KEY', value, key.dek)
 */
export function sealFor(environmentId: string, name: string, value: string, dek: Dek): Promise<string> {
  return sealSecret(value, dek, environmentId, name)
}

/** Identifies a secret. */
export interface SecretPlace extends EnvironmentPlace {
  name: string
}

export interface WriteOptions extends RequestOptions {
  /** The write is refused with `conflict` unless the secret is at this version. 0 means that it must not exist. */
  expectedVersion?: number
  /** The reason, for the approvers; at most 2,000 characters. Only a protected environment stores it. */
  note?: string
}

export interface DeleteOptions extends WriteOptions {
  /** The time for which the deleted secret can be restored: `1d` to `30d`. Without it, the secret is deleted for good. */
  keepFor?: string
}

/** A proposed change of one secret, or of the key: `isSecretChange` of `@skerry/sdk/secret-change` tells them apart. */
export type ChangeRequest = Answer<typeof changes.get>['changeRequest']
/** A proposed change of one secret. */
export type SecretChange = Answer<typeof changes.propose>['changeRequests'][number]

/**
 * The answer to a write in a protected environment: nothing is written, and a change request waits for approval.
 * `putSecret`, `restoreSecret` and `deleteSecret` return either this or the result: check `if ('queued' in answer)`.
 */
export interface Queued {
  readonly queued: true
  readonly changeRequest: SecretChange
}

/**
 * Encrypts a value and writes it. In a protected environment, it creates a change request instead.
 *
 * @throws RefusedError `forbidden` without a grant, `conflict` if the secret is not at `expectedVersion`; CryptoError
 *   `malformed_text`; SkerryError `invalid_request` for a note that is too long; UnavailableError.
 * @example
 * const answer = await putSecret(client, { orgId, envId, name: 'API_KEY' }, value, key.dek, { note: 'rotated' })
 * if ('queued' in answer) console.error(`waits for approval: ${answer.changeRequest.id}`)
 * else console.error(`version ${answer.secret.version}`)
 */
export async function putSecret(
  client: Client,
  { orgId, envId, name }: SecretPlace,
  value: string,
  dek: Dek,
  options: WriteOptions = {},
): Promise<Answer<typeof secrets.put>> {
  const ciphertext = await sealFor(envId, name, value, dek)
  const body = { ciphertext, ...expected(options) }
  return client.secrets.put({ params: { orgId, envId, name }, body }, noted(options))
}

export interface RestoreOptions extends WriteOptions {
  /** Opens the environment's key. The SDK calls it only for a version from before a rename, which is encrypted anew. */
  openKey?: () => Promise<Dek>
}

/**
 * Makes an earlier version of a secret current again, as a new version. In a protected environment, it creates a change
 * request instead. Needs no key, except for a version from before a rename.
 *
 * @throws RefusedError `not_found` for an unknown version, `invalid_request` if the secret already has that value or
 * was renamed since and there is no `openKey`, `forbidden`, `conflict`; DecryptionError for a version from before a
 * rename that cannot be decrypted or has no proof; SkerryError `invalid_request`; UnavailableError; the errors of
 * `openKey`.
 * @example const answer = await restoreSecret(client, { orgId, envId, name: 'API_KEY' }, 3)
 */
export async function restoreSecret(
  client: Client,
  { orgId, envId, name }: SecretPlace,
  version: number,
  { openKey, ...options }: RestoreOptions = {},
): Promise<Answer<typeof secrets.restore>> {
  const params = { orgId, envId, name }
  const send = (more: { ciphertext?: string; expectedVersion?: number }) =>
    client.secrets.restore({ params, body: { version, ...more, ...expected(options) } }, noted(options))
  try {
    return await send({})
  } catch (error) {
    if (!openKey || !(error instanceof RefusedError) || error.code !== 'invalid_request') throw error
    const resealed = await resealVersion(client, params, version, openKey)
    if (!resealed) throw error
    return send(resealed)
  }
}

/**
 * Deletes a secret with all its versions. With `keepFor`, the secret can be restored for this time. In a protected
 * environment, the function creates a change request instead. Needs no key.
 *
 * @throws RefusedError `not_found`, `forbidden`, `conflict`, `quota_exceeded` if the environment keeps too many deleted
 *   secrets; SkerryError `invalid_request`; UnavailableError.
 * @example const answer = await deleteSecret(client, { orgId, envId, name: 'API_KEY' }, { keepFor: '30d', note: 'unused since May' })
 */
export async function deleteSecret(
  client: Client,
  { orgId, envId, name }: SecretPlace,
  { keepFor, ...options }: DeleteOptions = {},
): Promise<Answer<typeof secrets.delete>> {
  const query = { ...expected(options), ...kept({ keepFor }) }
  return client.secrets.delete({ params: { orgId, envId, name }, query }, noted(options))
}

export type DeletedSecret = Answer<typeof deletedSecrets.list>['deletedSecrets'][number]

/**
 * Restores a deleted secret with its versions. The value of the secret is encrypted again and becomes a new version,
 * because a client that saw the deletion refuses the old ciphertext. In a protected environment, it creates a change
 * request instead.
 *
 * @param deleted a row of `client.deletedSecrets.list`.
 * @param dek the environment's key. Call `rewriteIfRekeyed` after the restore, as after every write.
 * @throws DecryptionError if its value cannot be decrypted, for example because the environment was re-keyed after
 * the deletion; RefusedError `not_found` if it can no longer be restored, `conflict` if a secret has its name again,
 * `quota_exceeded`, `forbidden`; SkerryError `invalid_request`; UnavailableError.
 * @example
 * const { deletedSecrets } = await client.deletedSecrets.list({ params: { orgId, envId } })
 * const last = deletedSecrets.find(({ name }) => name === 'API_KEY')
 * if (last) await restoreDeletedSecret(client, { orgId, envId }, last, key.dek)
 */
export async function restoreDeletedSecret(
  client: Client,
  { orgId, envId }: EnvironmentPlace,
  { id, name, ciphertext: stored }: Pick<DeletedSecret, 'id' | 'name' | 'ciphertext'>,
  dek: Dek,
  options: Omit<WriteOptions, 'expectedVersion'> = {},
): Promise<Answer<typeof deletedSecrets.restore>> {
  const value = await openDeleted(envId, { name, ciphertext: stored }, dek)
  const body = { ciphertext: await sealFor(envId, name, value, dek) }
  return client.deletedSecrets.restore({ params: { orgId, envId, secretId: id }, body }, noted(options))
}

/**
 * Decrypts the last value of a deleted secret.
 *
 * @throws DecryptionError.
 * @example
 * const [deleted] = (await client.deletedSecrets.list({ params: { orgId, envId } })).deletedSecrets
 * const value = deleted && (await openDeleted(envId, deleted, key.dek))
 */
export async function openDeleted(
  envId: string,
  { name, ciphertext }: Pick<DeletedSecret, 'name' | 'ciphertext'>,
  dek: Dek,
): Promise<string> {
  if (ciphertext === null) throw new DecryptionError(envId, name)
  return openSecret(ciphertext, dek, envId, name).catch(() => {
    throw new DecryptionError(envId, name)
  })
}

/**
 * Several changes to one environment. A missing `expectedVersion` means the secret's version at the time of the
 * proposal.
 */
export interface ProposedChanges {
  puts?: readonly { name: string; value: string; expectedVersion?: number }[]
  deletes?: readonly { name: string; expectedVersion?: number; keepFor?: string }[]
}

/**
 * Encrypts values and proposes them, with deletions, as one change of a protected environment. Reviewers decide about
 * the whole change at once, and it is applied as a whole or not at all. At most 200 secrets.
 *
 * @param dek the environment's key, which encrypts the values: `(await environmentKey(...)).dek`.
 * @param options `note` for the approvers.
 * @returns a change request for each secret, and the id that they share; null for a single one.
 * @throws RefusedError `conflict` if the environment is not protected or a secret is not at its `expectedVersion`,
 *   `not_found` for a secret to delete that does not exist, `forbidden`, `quota_exceeded`; CryptoError
 *   `malformed_text`; SkerryError `invalid_request` for too many secrets, one named twice or a note that is too long;
 *   UnavailableError.
 * @example
 * const place = { orgId, envId }
 * const { groupId } = await proposeChanges(client, place, { puts: [{ name: 'NEW', value }], deletes: [{ name: 'OLD' }] }, key.dek)
 */
export async function proposeChanges(
  client: Client,
  { orgId, envId }: EnvironmentPlace,
  { puts = [], deletes = [] }: ProposedChanges,
  dek: Dek,
  options: Omit<WriteOptions, 'expectedVersion'> = {},
): Promise<Answer<typeof changes.propose>> {
  const seal = async ({ name, value, ...rest }: (typeof puts)[number]) => ({
    name,
    ciphertext: await sealFor(envId, name, value, dek),
    ...expected(rest),
  })
  const body = {
    puts: await Promise.all(puts.map(seal)),
    deletes: deletes.map(({ name, ...rest }) => ({ name, ...expected(rest), ...kept(rest) })),
  }
  return client.changes.propose({ params: { orgId, envId }, body }, noted(options))
}

const expected = ({ expectedVersion }: WriteOptions) => (expectedVersion === undefined ? {} : { expectedVersion })

const kept = ({ keepFor }: { keepFor?: string | undefined }) => (keepFor === undefined ? {} : { keepFor })

/**
 * Puts the note into a header. The note is percent-encoded to ASCII, because proxies accept different other bytes.
 */
export function noted({ note, expectedVersion: _, headers, ...options }: WriteOptions): RequestOptions {
  if (note === undefined) return { ...options, ...(headers && { headers }) }
  if ([...note].length > limits.noteCharacters)
    throw invalid(`note: must have at most ${limits.noteCharacters} characters`)
  if (!note.isWellFormed()) throw invalid('note: must be well-formed Unicode')
  return { ...options, headers: { ...headers, [changeNoteHeader]: encodeURIComponent(note) } }
}

/**
 * Grants an environment's key to a person or service token. The function wraps the key on this machine for their
 * public key, and stores the wrapped key.
 *
 * @param bytes the environment's key, `(await environmentKey(...)).bytes`.
 * @param seconds the time after which the server ends the grant, from 300 to 7,776,000 (90 days). Without `seconds`,
 *   the grant stays until it is revoked. A second grant gives a temporary grant a new end.
 * @throws RefusedError `forbidden`, `not_found`, `conflict` when the principal has a grant without an end; CryptoError `malformed_key`
 *   for the public key, and `directory_…` with a directory; UnavailableError.
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

/** A value that was just written, and the version that it got. */
export interface WrittenSecret {
  name: string
  value: string
  version: number
}

/**
 * Repairs values that were written while the environment was re-keyed. Call it after every write.
 *
 * A re-key may run between fetching the key and writing. The new values are then encrypted under an old key that nobody
 * receives any more, and every resolve fails on them. The server cannot detect this. This function writes the values
 * again under the current key.
 *
 * @param used the key that the values were encrypted under.
 * @returns the same values, with their current versions.
 * @throws RefusedError `conflict` when someone has written a value since; the errors of `environmentKey`.
 * @example
 * const [place, name] = [{ orgId, envId }, 'API_KEY']
 * const answer = await putSecret(client, { ...place, name }, value, key.dek)
 * if ('secret' in answer)
 *   await rewriteIfRekeyed(client, place, privateKey, key, [{ name, value, version: answer.secret.version }])
 */
export async function rewriteIfRekeyed(
  client: Client,
  { orgId, envId }: EnvironmentPlace,
  holder: RememberingHolder,
  used: EnvironmentKey,
  written: readonly WrittenSecret[],
): Promise<WrittenSecret[]> {
  await holder.knownState?.wrote(
    envId,
    written.map(({ name }) => name),
  )
  let key = used
  let current = [...written]
  for (;;) {
    const present = await environmentKey(client, { orgId, envId }, holder)
    if (isSame(present.bytes, key.bytes)) return current
    key = present
    const again: WrittenSecret[] = []
    for (const { name, value, version } of current) {
      const answer = await putSecret(client, { orgId, envId, name }, value, key.dek, { expectedVersion: version })
      // The environment has become protected, so the value waits for approval under the current key.
      if (!('queued' in answer)) again.push({ name, value, version: answer.secret.version })
    }
    current = again
  }
}

const isSame = (one: Bytes, other: Bytes) => one.every((byte, index) => byte === other[index])
