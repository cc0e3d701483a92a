import type { changes } from '@skerry/contract/changes/endpoints'
import type { Answer } from '@skerry/contract/endpoint'
import type { grants } from '@skerry/contract/grants/endpoints'
import { changeNoteHeader } from '@skerry/contract/headers'
import { limits } from '@skerry/contract/limits'
import type { secrets } from '@skerry/contract/secrets/endpoints'
import type { Bytes } from '@skerry/crypto/base64url'
import { CryptoError } from '@skerry/crypto/errors'
import { type Dek, importDek, sealSecret } from '@skerry/crypto/secret'
import { type KeyHolder, unwrapKey, wrapKey } from '@skerry/crypto/wrap'
import type { Client, RequestOptions } from './client.ts'
import { DecryptionError, invalid } from './errors.ts'
import type { KnownState } from './known-state.ts'

/** An environment's key: `bytes` (32) to wrap it to others, `dek` to seal and open secrets with. Neither is stored. */
export interface EnvironmentKey {
  readonly bytes: Bytes
  readonly dek: Dek
}

/** A key holder that remembers which key each environment had: a server could hand out one of its own making. */
export type RememberingHolder = KeyHolder & { knownState?: KnownState }

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
 * @param holder the private key, or whatever keeps it and opens what was wrapped to it.
 * @throws RefusedError `forbidden` without a grant, `not_found`; DecryptionError when the grant is not for this private
 *   key; RollbackError when the holder remembers another key; UnavailableError; what a holder elsewhere throws.
 * @example const key = await environmentKey(client, { orgId, envId }, privateKey)
 */
export async function environmentKey(
  client: Client,
  { orgId, envId }: EnvironmentPlace,
  holder: RememberingHolder,
): Promise<EnvironmentKey> {
  const { wrappedDek } = await client.grants.own({ params: { orgId, envId } })
  try {
    const bytes = await unwrapKey(wrappedDek, holder)
    await holder.knownState?.check({ environments: [{ environmentId: envId, label: envId, key: bytes }] })
    return await environmentKeyOf(bytes)
  } catch (error) {
    throw error instanceof CryptoError ? new DecryptionError(envId, undefined) : error
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
 * @example const ciphertext = await sealFor(envId, 'API_KEY', value, key.dek)
 */
export function sealFor(environmentId: string, name: string, value: string, dek: Dek): Promise<string> {
  return sealSecret(value, dek, environmentId, name)
}

/** A secret in its place. */
export interface SecretPlace extends EnvironmentPlace {
  name: string
}

export interface WriteOptions extends RequestOptions {
  /** Refused with `conflict` unless the secret is at this version; 0: it must not exist. */
  expectedVersion?: number
  /** Why, for those who approve; at most 2,000 characters. Only a protected environment keeps it. */
  note?: string
}

export type ChangeRequest = Answer<typeof changes.get>['changeRequest']

/**
 * What a write comes to in a protected environment: nothing is written, and a change request waits for approval. Every
 * write below answers this or what it wrote: `if ('queued' in answer)`.
 */
export interface Queued {
  readonly queued: true
  readonly changeRequest: ChangeRequest
}

/**
 * Seals a value and writes it, or proposes it where the environment is protected.
 *
 * @throws RefusedError `forbidden` without a grant, `conflict` where the secret is not at `expectedVersion`;
 *   CryptoError `malformed_text`; SkerryError `invalid_request` for a note that is too long; UnavailableError.
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

/**
 * Makes a stored version current again, as a new one, or proposes that where the environment is protected. Needs no key.
 *
 * @throws RefusedError `not_found` for a version that there is not, `invalid_request` where the secret holds that value
 *   already, `forbidden`, `conflict`; SkerryError `invalid_request`; UnavailableError.
 * @example const answer = await restoreSecret(client, { orgId, envId, name: 'API_KEY' }, 3)
 */
export async function restoreSecret(
  client: Client,
  { orgId, envId, name }: SecretPlace,
  version: number,
  options: WriteOptions = {},
): Promise<Answer<typeof secrets.restore>> {
  const body = { version, ...expected(options) }
  return client.secrets.restore({ params: { orgId, envId, name }, body }, noted(options))
}

/**
 * Deletes a secret with its whole history, or proposes that where the environment is protected. Needs no key.
 *
 * @throws RefusedError `not_found`, `forbidden`, `conflict`; SkerryError `invalid_request`; UnavailableError.
 * @example const answer = await deleteSecret(client, { orgId, envId, name: 'API_KEY' }, { note: 'unused since May' })
 */
export async function deleteSecret(
  client: Client,
  { orgId, envId, name }: SecretPlace,
  options: WriteOptions = {},
): Promise<Answer<typeof secrets.delete>> {
  return client.secrets.delete({ params: { orgId, envId, name }, query: expected(options) }, noted(options))
}

/** Several changes of one environment. Where `expectedVersion` is left out, the version at which each secret is then. */
export interface ProposedChanges {
  puts?: readonly { name: string; value: string; expectedVersion?: number }[]
  deletes?: readonly { name: string; expectedVersion?: number }[]
}

/**
 * Seals values and proposes them, with deletions, as one change of a protected environment: what reviewers decide, they
 * decide about all of it, and it is applied as a whole or not at all. At most 200 secrets.
 *
 * @param dek the environment's key, which values are sealed with: `(await environmentKey(...)).dek`.
 * @param options `note` for those who approve.
 * @returns a change request for each secret, and the id that they share; null for a single one.
 * @throws RefusedError `conflict` where the environment is not protected or a secret is not at its `expectedVersion`,
 *   `not_found` for a secret to delete that there is not, `forbidden`, `quota_exceeded`; CryptoError `malformed_text`;
 *   SkerryError `invalid_request` for too many secrets, one named twice or a note that is too long; UnavailableError.
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
    deletes: deletes.map(({ name, ...rest }) => ({ name, ...expected(rest) })),
  }
  return client.changes.propose({ params: { orgId, envId }, body }, noted(options))
}

const expected = ({ expectedVersion }: WriteOptions) => (expectedVersion === undefined ? {} : { expectedVersion })

/** Header values are bytes, and proxies differ in which they let through: percent-encoded, a note is ASCII. */
function noted({ note, expectedVersion: _, headers, ...options }: WriteOptions): RequestOptions {
  if (note === undefined) return { ...options, ...(headers && { headers }) }
  if ([...note].length > limits.noteCharacters) throw invalid(`note: at most ${limits.noteCharacters} characters`)
  if (!note.isWellFormed()) throw invalid('note: not well-formed Unicode')
  return { ...options, headers: { ...headers, [changeNoteHeader]: encodeURIComponent(note) } }
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

/** A value that was just written, and the version that it got. */
export interface WrittenSecret {
  name: string
  value: string
  version: number
}

/**
 * To be called after values were written. The environment may have been re-keyed between the fetching of its key and the
 * writing: then they lie there under a key that nobody is given any more, and every resolve fails on them. The server
 * cannot see that; this writes them again under the key of now.
 *
 * @param used the key that they were sealed under.
 * @returns the same values, with the versions that they have now.
 * @throws RefusedError `conflict` when someone has written a value since; as `environmentKey`.
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
      // Protected since: the value waits for approval under the key of now.
      if (!('queued' in answer)) again.push({ name, value, version: answer.secret.version })
    }
    current = again
  }
}

const isSame = (one: Bytes, other: Bytes) => one.every((byte, index) => byte === other[index])
