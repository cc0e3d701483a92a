import type { Answer } from '@skerry/contract/endpoint'
import { limits } from '@skerry/contract/limits'
import type { overrides } from '@skerry/contract/overrides/endpoints'
import { CryptoError } from '@skerry/crypto/errors'
import { openOverride, type PersonalOverride, sealOverride } from '@skerry/crypto/override'
import type { KeyHolder } from '@skerry/crypto/wrap'
import type { Client } from './client.ts'
import type { EnvironmentPlace, RememberingHolder } from './environment-key.ts'
import { DecryptionError, invalid, RefusedError } from './errors.ts'

/** A personal override in a response of the server, encrypted. */
type Row = Answer<typeof overrides.list>['overrides'][number]

/** An environment, and the person whose overrides you use. The credential of the client must belong to this person. */
export interface OverridesPlace extends EnvironmentPlace {
  /** The id of the person. */
  userId: string
}

/**
 * A personal override, decrypted: a person's own value of a secret. The programs of this person get this value instead
 * of the value that everyone else gets.
 */
export interface Override extends PersonalOverride {
  /** The id of the override on the server. */
  id: string
  /** The time of the last change: ISO 8601, UTC. */
  updatedAt: string
}

/**
 * Decrypts a list of overrides from the server. If a name occurs twice in the list, the function returns only the
 * override with the higher revision.
 *
 * @throws DecryptionError if an override was changed, or was not made by this person for this environment.
 * @example
 * const { overrides } = await client.overrides.list({ params: { orgId, envId } })
 * const opened = await openOverrides(overrides, privateKey, { orgId, envId, userId })
 */
export async function openOverrides(
  rows: readonly Pick<Row, 'id' | 'wrappedKey' | 'ciphertext' | 'updatedAt'>[],
  holder: KeyHolder,
  place: OverridesPlace,
): Promise<Override[]> {
  const { opened, unreadable } = await openReadable(rows, holder, place)
  const [first] = unreadable
  if (first) throw new DecryptionError('your personal override', first.id)
  return opened
}

/**
 * A personal override that cannot be decrypted with the present key pair of the person. The name is encrypted, too, so
 * nobody knows to which secret the override belongs.
 */
export interface UnreadableOverride {
  /** The id of the override on the server. */
  id: string
  /** The time of the last change: ISO 8601, UTC. */
  updatedAt: string
}

async function openReadable(rows: Parameters<typeof openOverrides>[0], holder: KeyHolder, place: OverridesPlace) {
  const { orgId, envId: environmentId, userId } = place
  const newest = new Map<string, Override>()
  const unreadable: UnreadableOverride[] = []
  const open = async ({ id, updatedAt, ...sealed }: (typeof rows)[number]) => {
    try {
      const one = await openOverride(sealed, holder, { orgId, environmentId, userId })
      if (one.revision > (newest.get(one.name)?.revision ?? 0)) newest.set(one.name, { ...one, id, updatedAt })
    } catch (error) {
      // A holder elsewhere can fail in other ways, which say nothing about the override.
      if (!(error instanceof CryptoError)) throw error
      unreadable.push({ id, updatedAt })
    }
  }
  await Promise.all(rows.map(open))
  const opened = [...newest.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  return { opened, unreadable: unreadable.sort((a, b) => (a.id < b.id ? -1 : 1)) }
}

/**
 * Lists your own overrides in an environment, sorted by name. If `holder` has a known state, the known state reports
 * each override that is missing or has a lower revision than before. The list does not contain overrides that cannot be
 * decrypted: for them, call `listUnreadableOverrides`.
 *
 * @throws RefusedError `forbidden` if the caller does not have the key of the environment; RollbackError if the known
 *   state is strict, and an override is missing or has a lower revision; SkerryError `old_server` if the server has no
 *   personal overrides; UnavailableError.
 * @example const overrides = await listOverrides(client, { orgId, envId, userId }, privateKey)
 */
export async function listOverrides(
  client: Client,
  place: OverridesPlace,
  holder: RememberingHolder,
): Promise<Override[]> {
  return (await fetchOverrides(client, place, holder)).opened
}

async function fetchOverrides(client: Client, place: OverridesPlace, holder: RememberingHolder) {
  const { orgId, envId } = place
  const { overrides: rows } = await client.overrides.list({ params: { orgId, envId } })
  const { opened, unreadable } = await openReadable(rows, holder, place)
  await holder.knownState?.check({ overrides: { environmentId: envId, overrides: opened } })
  return { rows, opened, unreadable }
}

/**
 * Lists your overrides in an environment that your key pair cannot decrypt, for example because they were encrypted
 * with an earlier key pair. While you have such an override, `skerry run` starts no program in this environment. Remove
 * the override with `removeOverrideById`.
 *
 * @throws The errors of `listOverrides`.
 * @example const unreadable = await listUnreadableOverrides(client, { orgId, envId, userId }, privateKey)
 */
export async function listUnreadableOverrides(
  client: Client,
  place: OverridesPlace,
  holder: KeyHolder,
): Promise<UnreadableOverride[]> {
  const { orgId, envId } = place
  const { overrides: rows } = await client.overrides.list({ params: { orgId, envId } })
  return (await openReadable(rows, holder, place)).unreadable
}

/**
 * Stores your own value of a secret, a personal override. Your programs then get this value, and not the value that
 * everyone else gets. The function encrypts the value with your own key, so only you can read the value. The value
 * replaces your earlier override of the same name.
 *
 * @throws RefusedError `conflict` if another program changed your overrides at the same time (call the function again),
 *   `quota_exceeded`; SkerryError `invalid_request` if the value is too long; the errors of `listOverrides`.
 * @example await setOverride(client, { orgId, envId, userId }, { name: 'PORT', value: '3001' }, privateKey)
 */
export async function setOverride(
  client: Client,
  place: OverridesPlace,
  { name, value }: { name: string; value: string },
  holder: RememberingHolder,
): Promise<Override> {
  const { orgId, envId: environmentId, userId } = place
  const { rows, opened } = await fetchOverrides(client, place, holder)
  const before = opened.find((one) => one.name === name)
  const revision = (before?.revision ?? 0) + 1
  const sealed = await sealOverride({ name, value, revision }, holder, { orgId, environmentId, userId })
  if (sealed.ciphertext.length > limits.ciphertextBytes) throw invalid('value: is too long for an override')
  const params = { orgId, envId: environmentId }
  const row = rows.find(({ id }) => id === before?.id)
  const { override } = row
    ? await client.overrides.replace({
        params: { ...params, overrideId: row.id },
        body: { ...sealed, expectedRevision: row.revision },
      })
    : await client.overrides.create({ params, body: { ...sealed, seen: rows.map(({ id }) => id) } })
  await holder.knownState?.overrode(environmentId, { name, revision })
  return { id: override.id, name, value, revision, updatedAt: override.updatedAt }
}

/**
 * Removes your override of a secret. Your programs then get the same value as everyone else.
 *
 * @returns true if the override was removed, and false if you have no override of this name. In both cases, the known
 *   state no longer reports this override as missing.
 * @throws The errors of `listOverrides`.
 * @example const removed = await removeOverride(client, { orgId, envId, userId }, 'PORT', privateKey)
 */
export async function removeOverride(
  client: Client,
  place: OverridesPlace,
  name: string,
  holder: RememberingHolder,
): Promise<boolean> {
  const { orgId, envId } = place
  const found = (await fetchOverrides(client, place, holder)).opened.find((one) => one.name === name)
  // If it is missing, another machine has removed it.
  if (found) await removeOverrideById(client, { orgId, envId }, found.id)
  await holder.knownState?.overrode(envId, { name, revision: null })
  return found !== undefined
}

/**
 * Removes one of your overrides by its id, for example an override that cannot be decrypted. If the override does not
 * exist any more, the function does not throw an error.
 *
 * @throws RefusedError `forbidden`; SkerryError `old_server` if the server has no personal overrides; UnavailableError.
 * @example await removeOverrideById(client, { orgId, envId }, overrideId)
 */
export async function removeOverrideById(client: Client, place: EnvironmentPlace, overrideId: string): Promise<void> {
  const { orgId, envId } = place
  await client.overrides.delete({ params: { orgId, envId, overrideId } }).catch((error) => {
    if (!(error instanceof RefusedError) || error.code !== 'not_found') throw error
  })
}
