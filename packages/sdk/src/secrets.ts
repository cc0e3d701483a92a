import type { changes } from '@skerry/contract/changes/endpoints'
import type { Answer } from '@skerry/contract/endpoint'
import { changeNoteHeader } from '@skerry/contract/headers'
import { limits } from '@skerry/contract/limits'
import type { deletedSecrets, secrets } from '@skerry/contract/secrets/endpoints'
import type { Bytes } from '@skerry/crypto/base64url'
import { type Dek, openSecret, sealSecret } from '@skerry/crypto/secret'
import type { Client, RequestOptions } from './client.ts'
import {
  type EnvironmentKey,
  type EnvironmentPlace,
  environmentKey,
  type RememberingHolder,
} from './environment-key.ts'
import { DecryptionError, invalid, RefusedError } from './errors.ts'
import { resealVersion } from './secret-history.ts'

// biome-ignore lint/performance/noBarrelFile: the module has promised these names to programs.
export {
  type EnvironmentKey,
  type EnvironmentPlace,
  environmentKey,
  environmentKeyOf,
  type Grantee,
  grantEnvironment,
  type KeyGrant,
  openOwnKey,
  type RememberingHolder,
} from './environment-key.ts'

/**
 * Encrypts a value, and returns the ciphertext: `sc1.<iv>.<ciphertext>`. The ciphertext can be decrypted only with this
 * name and this environment, so the server cannot show it as another secret.
 *
 * @throws CryptoError `malformed_text` if the value is not valid Unicode, `invalid_argument` if the id of the
 *   environment or the name is empty.
 * @example const ciphertext = await sealFor(envId, 'API_KEY', value, key.dek)
 */
export function sealFor(environmentId: string, name: string, value: string, dek: Dek): Promise<string> {
  return sealSecret(value, dek, environmentId, name)
}

/** Identifies a secret. */
export interface SecretPlace extends EnvironmentPlace {
  name: string
}

/** The options of a function that changes a secret. */
export interface WriteOptions extends RequestOptions {
  /**
   * The version that you expect the secret to have. If the secret has another version, the server refuses the change
   * with `conflict`. 0 means that the secret must not exist yet. Default: no check.
   */
  expectedVersion?: number
  /**
   * The reason for the change, for the people who approve it, at most 2,000 characters. The server stores it only for a
   * protected environment.
   */
  note?: string
}

/** The options of `deleteSecret`. */
export interface DeleteOptions extends WriteOptions {
  /**
   * The time during which you can restore the deleted secret, from `1d` (one day) to `30d`. Without `keepFor`, nobody
   * can restore the secret.
   */
  keepFor?: string
}

/**
 * A proposed change of one secret, or a proposed re-key. `isSecretChange` of `@skerry/sdk/secret-change` returns true
 * for a change of a secret.
 */
export type ChangeRequest = Answer<typeof changes.approve>['changeRequest']

/**
 * A change request. `proposerEnded` says how the proposer lost access: `revoked` (a token or machine client) or
 * `removed` (a person). It is null while the proposer has access.
 */
export type ShownChange = Answer<typeof changes.get>['changeRequest']
/** A proposed change of one secret. */
export type SecretChange = Answer<typeof changes.propose>['changeRequests'][number]

/**
 * The result of `putSecret`, `restoreSecret` and `deleteSecret` in a protected environment. The server has not changed
 * the secret yet, and a change request waits for approval. Check for this result with `if ('queued' in answer)`.
 */
export interface Queued {
  readonly queued: true
  readonly changeRequest: SecretChange
}

/**
 * Encrypts a value, and stores it as a new version of the secret. In a protected environment, the function creates a
 * change request and stores nothing yet.
 *
 * @throws RefusedError `forbidden` if the caller has no grant, `conflict` if the secret does not have
 *   `expectedVersion`; CryptoError `malformed_text`; SkerryError `invalid_request` if the note is too long;
 *   UnavailableError.
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

/** The options of `restoreSecret`. */
export interface RestoreOptions extends WriteOptions {
  /**
   * Returns the key of the environment. The SDK calls it only for a version from before a rename, because it must
   * encrypt this version again.
   */
  openKey?: () => Promise<Dek>
}

/**
 * Stores the value of an earlier version as a new version of the secret. In a protected environment, the function
 * creates a change request and stores nothing yet. You need the key (`openKey`) only for a version from before a
 * rename.
 *
 * @param version the number of the version whose value you want.
 * @throws RefusedError `not_found` if the version does not exist, `forbidden`, `conflict`; RefusedError
 *   `invalid_request` if the secret already has this value, or if the version is from before a rename and `openKey` is
 *   missing; DecryptionError if a version from before a rename cannot be decrypted, or if the record of former names
 *   does not prove the version (see `openProven` of `@skerry/sdk/secret-history`); SkerryError `invalid_request` if the
 *   note is too long; UnavailableError; the errors of `openKey`.
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
 * Deletes a secret with all its versions. With `keepFor`, you can restore the secret during this time. In a protected
 * environment, the function creates a change request and deletes nothing yet. You do not need the key of the
 * environment.
 *
 * @throws RefusedError `not_found`, `forbidden`, `conflict` if the secret does not have `expectedVersion`,
 *   `quota_exceeded` if the environment has too many deleted secrets that can be restored; SkerryError
 *   `invalid_request` if the note is too long; UnavailableError.
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

/** A deleted secret that can still be restored, with its last ciphertext. */
export type DeletedSecret = Answer<typeof deletedSecrets.list>['deletedSecrets'][number]

/**
 * Restores a deleted secret with its versions. A client that remembers the deletion would refuse the old ciphertext.
 * The function therefore encrypts the value again, and stores it as a new version. In a protected environment, the
 * function creates a change request and restores nothing yet.
 *
 * @param deleted a row of `client.deletedSecrets.list`.
 * @param dek the key of the environment. Somebody may replace this key before the function stores the value, and
 *   readers then cannot decrypt the value. Therefore call `rewriteIfRekeyed` afterwards, as after every write.
 * @throws DecryptionError if the value cannot be decrypted, for example because the environment was re-keyed after the
 *   deletion; RefusedError `not_found` if the secret can no longer be restored, `conflict` if a new secret has the same
 *   name, `quota_exceeded`, `forbidden`; SkerryError `invalid_request`; UnavailableError.
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
 * @param deleted a row of `client.deletedSecrets.list`.
 * @throws DecryptionError if the value cannot be decrypted, or if the secret can no longer be restored.
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
 * Changes of several secrets of one environment: new values (`puts`) and deletions (`deletes`). When the change is
 * approved, the server applies it only if the secret then has the version `expectedVersion`. Default: the version at
 * the time of the proposal.
 */
export interface ProposedChanges {
  puts?: readonly { name: string; value: string; expectedVersion?: number }[]
  deletes?: readonly { name: string; expectedVersion?: number; keepFor?: string }[]
}

/**
 * Proposes new values and deletions for up to 200 secrets of a protected environment. The function encrypts the values.
 * The approvers decide about all changes together, and the server applies all of them or none.
 *
 * @param dek the key of the environment, which encrypts the values: `(await environmentKey(...)).dek`.
 * @param options.note the reason for the changes, for the people who approve them. At most 2,000 characters.
 * @returns one change request for each secret, and the `groupId` that all of them have. `groupId` is null if there is
 *   only one secret.
 * @throws RefusedError `forbidden`, `quota_exceeded`; RefusedError `conflict` if the environment is not protected, or
 *   if a secret does not have its `expectedVersion`; RefusedError `not_found` if a secret to delete does not exist;
 *   CryptoError `malformed_text`; SkerryError `invalid_request` if there are too many secrets, if a name occurs twice,
 *   or if the note is too long; UnavailableError.
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
 * Makes the request options for a change with a note. The function puts the note into a header. It percent-encodes the
 * note, because some proxies accept only ASCII characters in headers.
 *
 * @throws SkerryError `invalid_request` if the note is too long or is not valid Unicode.
 */
export function noted({ note, expectedVersion: _, headers, ...options }: WriteOptions): RequestOptions {
  if (note === undefined) return { ...options, ...(headers && { headers }) }
  if ([...note].length > limits.noteCharacters)
    throw invalid(`note: must have at most ${limits.noteCharacters} characters`)
  if (!note.isWellFormed()) throw invalid('note: must be well-formed Unicode')
  return { ...options, headers: { ...headers, [changeNoteHeader]: encodeURIComponent(note) } }
}

/** A value that you have just written. */
export interface WrittenSecret {
  name: string
  value: string
  /** The version that the server gave to the value. */
  version: number
}

/**
 * Repairs values that you wrote while somebody re-keyed the environment. Call this function after every write.
 *
 * If somebody re-keys the environment after you got the key and before you write, your values are encrypted with the
 * old key. Readers cannot decrypt these values, and the server cannot notice this. If this has happened, this function
 * encrypts the values with the present key and writes them again.
 *
 * @param used the key with which you encrypted the values.
 * @param written the values that you wrote, with their versions.
 * @returns the same values. A value that the function wrote again has a new version.
 * @throws RefusedError `conflict` if somebody has changed one of the secrets since you wrote it; the errors of
 *   `environmentKey`.
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
