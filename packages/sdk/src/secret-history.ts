import type { Answer } from '@skerry/contract/endpoint'
import { limits } from '@skerry/contract/limits'
import type { secretDetails } from '@skerry/contract/secret-details/endpoints'
import type { secrets } from '@skerry/contract/secrets/endpoints'
import { openDetails, sealDetails } from '@skerry/crypto/details'
import {
  ciphertextDigest,
  type FormerName,
  fitsRecord,
  openFormerNames,
  openVersion,
  provenName,
  type StoredVersion,
  sealFormerNames,
} from '@skerry/crypto/former-names'
import { referencesIn } from '@skerry/crypto/references'
import { type Dek, openSecret, sealSecret } from '@skerry/crypto/secret'
import type { Client } from './client.ts'
import { clientError, DecryptionError, SkerryError } from './errors.ts'
import { pagesOf } from './pages.ts'

/** A secret in a response of the server: a row of `client.secrets.list`. */
type Secret = Answer<typeof secrets.list>['secrets'][number]
/** A page of the history of a secret, from `client.secrets.versions`. */
type VersionsPage = Answer<typeof secrets.versions>

/** Identifies a secret. */
interface Place {
  orgId: string
  envId: string
  /** The present name of the secret. */
  name: string
}

/**
 * A version of a secret in a response of the server. `formerName` is the name that the secret had at that time,
 * according to the server. `formerName` is null or missing if the secret already had its present name.
 */
type ShownVersion = StoredVersion & { formerName?: string | null }

/**
 * Returns a function that decrypts the versions of a secret, including versions from before a rename.
 *
 * A value is encrypted for one name, so a version from before a rename can be decrypted only with the former name. At a
 * rename, the client therefore stores an encrypted record of the former names. For each former name, the record has the
 * digests of the versions with this name. If the digest of a version is in the record, the function decrypts the
 * version with the former name. It decrypts all other versions with the present name.
 *
 * A hostile server can hide the record, and somebody with the key can store a wrong record. `unprovenVersions` lists
 * the versions that the record does not prove.
 *
 * @param history a page of `client.secrets.versions`.
 * @returns a function that decrypts a version. It throws a DecryptionError if the version was encrypted before a
 *   re-key, or if somebody changed the version. It also throws this error if the record does not prove the former name
 *   of the version. The record has only the newest 1,000 versions from before the rename, so older versions cannot be
 *   decrypted.
 * @example
 * const page = await client.secrets.versions({ params: { orgId, envId, name: 'API_KEY' } })
 * const open = await versionOpener(page, { envId, name: 'API_KEY' }, key.dek)
 * for (const version of page.versions) console.log(version.version, await open(version))
 */
export async function versionOpener(
  history: Pick<VersionsPage, 'formerNames'>,
  { envId, name }: Pick<Place, 'envId' | 'name'>,
  dek: Dek,
): Promise<(version: StoredVersion) => Promise<string>> {
  const formerNames = await openRecord(history.formerNames, dek, envId, name)
  return async (stored) => {
    const opened = await openVersion(stored, formerNames, dek, envId, name).catch(() => {
      throw new DecryptionError(envId, name)
    })
    return opened.value
  }
}

/**
 * Lists the versions from before a rename for which the record of former names gives no proof. The record is explained
 * under `versionOpener`. A version is not proven if the server hides the record or shows another ciphertext, or if
 * somebody with the key has stored a wrong record. A version that is not proven cannot be decrypted, or its value may
 * belong to another version.
 *
 * @param history a page of `client.secrets.versions`.
 * @returns the numbers of the versions that are not proven. The list leaves out a version that `dek` cannot decrypt
 *   because it was encrypted before a re-key. Nobody can tell whether such a version is proven.
 * @example
 * const page = await client.secrets.versions({ params: { orgId, envId, name: 'API_KEY' } })
 * const unproven = await unprovenVersions(page, { envId, name: 'API_KEY' }, key.dek)
 */
export async function unprovenVersions(
  { versions, formerNames, keySinceVersion = 1 }: Pick<VersionsPage, 'versions' | 'formerNames' | 'keySinceVersion'>,
  { envId, name }: Pick<Place, 'envId' | 'name'>,
  dek: Dek,
): Promise<number[]> {
  const record = await openRecord(formerNames, dek, envId, name)
  // A version from before a re-key does not open. The server says where these end, so only those that do not open are left out.
  const isLost = async (one: StoredVersion) =>
    one.version < keySinceVersion && (await openVersion(one, record, dek, envId, name).catch(() => null)) === null
  const named = await Promise.all(
    versions.map(async (one) => ((await isProven(one, record)) || (await isLost(one)) ? [] : [one.version])),
  )
  return named.flat()
}

/** A version from before a rename is proven only by its digest in the record. */
const isProven = async (stored: ShownVersion, record: FormerName[]): Promise<boolean> =>
  stored.formerName == null ? fitsRecord(stored, record) : (await provenName(stored, record)) !== undefined

/**
 * Decrypts a version from before a rename, so that you can restore the version, or compare it with another value. The
 * version must be in the record of former names, which `versionOpener` explains. Without this proof, a hostile server
 * could show another value of the secret as this version.
 *
 * @param history a page of `client.secrets.versions`.
 * @param stored a version with a `formerName`, from this page.
 * @throws DecryptionError if the record does not prove the version, or if the version cannot be decrypted.
 * @example
 * const page = await client.secrets.versions({ params: { orgId, envId, name: 'API_KEY' } })
 * const [newest] = page.versions
 * if (newest?.formerName != null) console.log(await openProven(page, { envId, name: 'API_KEY' }, newest, key.dek))
 */
export async function openProven(
  history: Pick<VersionsPage, 'formerNames'>,
  { envId, name }: Pick<Place, 'envId' | 'name'>,
  stored: StoredVersion,
  dek: Dek,
): Promise<string> {
  const record = await openRecord(history.formerNames, dek, envId, name)
  if ((await provenName(stored, record)) === undefined)
    throw new DecryptionError(envId, name, `nothing proves that version ${stored.version} is one of its versions`)
  return (await versionOpener(history, { envId, name }, dek))(stored)
}

/** Opens the record of former names. One that does not open proves nothing: any holder of the key can store one. */
const openRecord = async (record: string | null | undefined, dek: Dek, envId: string, name: string) =>
  record == null ? [] : openFormerNames(record, dek, envId, name).catch((): FormerName[] => [])

/**
 * Decrypts a version from before a rename, and encrypts it again for the present name, so that you can restore it.
 *
 * @param wanted the number of the version.
 * @param openKey returns the key of the environment. The function calls it only if it must decrypt the version.
 * @returns the new ciphertext, and the number of the secret's current version. Undefined if the version already has the
 *   present name, or does not exist. `restoreSecret` then needs no new ciphertext.
 * @throws DecryptionError if the record of former names does not prove the version, or if the version cannot be
 *   decrypted; the errors of `openKey`; RefusedError; UnavailableError.
 */
export async function resealVersion(
  client: Client,
  place: Place,
  wanted: number,
  openKey: () => Promise<Dek>,
): Promise<{ ciphertext: string; expectedVersion: number } | undefined> {
  for await (const page of versionsOf(client, place)) {
    const found = page.versions.find(({ version }) => version === wanted)
    if (!found) continue
    if (found.formerName == null) return undefined
    const dek = await openKey()
    const value = await openProven(page, place, found, dek)
    const ciphertext = await sealSecret(value, dek, place.envId, place.name)
    return { ciphertext, expectedVersion: page.currentVersion }
  }
  return undefined
}

/** Reads the history of a secret, newest version first. */
const versionsOf = (client: Client, { orgId, envId, name }: Place): AsyncGenerator<VersionsPage> =>
  pagesOf((page) =>
    client.secrets.versions({ params: { orgId, envId, name }, query: { limit: limits.versionsMax, ...page } }),
  )

/**
 * The data that `sealRenaming` needs to rename a secret. `readRenaming` returns this data, and does not need the key of
 * the environment. You can pass the data to another process that has the key.
 */
export interface Renaming {
  /** The secret with its present name, version and ciphertext. */
  secret: Pick<Secret, 'environmentId' | 'name' | 'version' | 'ciphertext'>
  /** The encrypted record of former names. Null if the secret was not renamed before. */
  formerNames: string | null
  /**
   * The versions since the last re-key, oldest first, including the current version. If there are more than 1,000
   * versions, the oldest may be missing.
   */
  versions: ShownVersion[]
  /** The encrypted description and tags of the secret, and their revision. Null if the secret has neither. */
  details: { sealed: string; revision: number } | null
}

/**
 * Reads the history and the details of a secret, which `sealRenaming` needs to rename it.
 *
 * @param secret a row of `client.secrets.list`.
 * @throws RefusedError `forbidden`, `not_found`; SkerryError `conflict` if somebody has changed the secret since you
 *   listed it, `malformed_answer` if a version is missing in the history; UnavailableError.
 */
export async function readRenaming(client: Client, orgId: string, secret: Secret): Promise<Renaming> {
  const { environmentId: envId, name } = secret
  const newestFirst: VersionsPage['versions'] = []
  let formerNames: string | null = null
  for await (const page of versionsOf(client, { orgId, envId, name })) {
    formerNames = page.formerNames ?? null
    const readable = page.versions.filter(({ version }) => version >= (page.keySinceVersion ?? 1))
    newestFirst.push(...readable)
    if (readable.length < page.versions.length || newestFirst.length >= limits.formerVersionsMax) break
  }
  if (newestFirst[0]?.ciphertext !== secret.ciphertext || newestFirst[0].version !== secret.version)
    throw new SkerryError('conflict', `${name} was changed meanwhile`)
  if (newestFirst.some(({ version }, index) => version !== secret.version - index))
    throw clientError('malformed_answer', 'the history of the secret has gaps')
  const versions = newestFirst
    .toReversed()
    .map(({ version, ciphertext, formerName }) => ({ version, ciphertext, formerName }))
  return { secret, formerNames, versions, details: await sealedDetailsOf(client, orgId, secret) }
}

async function sealedDetailsOf(client: Client, orgId: string, { environmentId: envId, name }: Secret) {
  const { details }: Answer<typeof secretDetails.list> = await client.secretDetails.list({ params: { orgId, envId } })
  const own = details.find((one) => one.name === name)
  return own?.sealed == null ? null : { sealed: own.sealed, revision: own.revision }
}

/**
 * Encrypts the value, the description and the tags of a secret for a new name. The function also adds the present name
 * and its versions to the record of former names, which `versionOpener` explains. If the old record does not prove a
 * version, the new record does not prove it either. Clients therefore still report such a version as unproven.
 *
 * @returns the data for `sendRenaming`, and `unproven`: the numbers of the versions that the old record does not prove.
 * @throws DecryptionError if the value or the description cannot be decrypted.
 */
export async function sealRenaming(
  { secret, formerNames, versions, details }: Renaming,
  newName: string,
  dek: Dek,
): Promise<{ ciphertext: string; formerNames: string; sealedDetails: string | null; unproven: number[] }> {
  const { environmentId, name } = secret
  try {
    const value = await openSecret(secret.ciphertext, dek, environmentId, name)
    const opened = await openAll(versions, await openRecord(formerNames, dek, environmentId, name), dek, secret)
    const text = details && (await openDetails(details.sealed, dek, environmentId, name))
    return {
      ciphertext: await sealSecret(value, dek, environmentId, newName),
      formerNames: await sealFormerNames(namesAfter(opened), dek, environmentId, newName),
      sealedDetails: text && (await sealDetails(text, dek, environmentId, newName)),
      unproven: opened.filter(({ isProven }) => !isProven).map(({ version }) => version),
    }
  } catch {
    throw new DecryptionError(environmentId, name)
  }
}

interface NamedVersion {
  version: number
  digest: string
  /** The name that it opens under; undefined if it opens under none. */
  name: string | undefined
  isProven: boolean
}

const openAll = (
  versions: ShownVersion[],
  record: FormerName[],
  dek: Dek,
  { environmentId, name: present, version: current }: Renaming['secret'],
): Promise<NamedVersion[]> =>
  Promise.all(
    versions.map(async (stored) => {
      const opened = await openVersion(stored, record, dek, environmentId, present).catch(() => undefined)
      const fits = stored.version === current || (await isProven(stored, record))
      const digest = await ciphertextDigest(stored.ciphertext)
      return { version: stored.version, digest, name: opened?.name, isProven: opened !== undefined && fits }
    }),
  )

/** Groups proven versions that follow each other by the name that they open under. */
function namesAfter(versions: NamedVersion[]): FormerName[] {
  const names: { name: string; since: number; digests: string[] }[] = []
  for (const { version, digest, name, isProven } of versions) {
    if (name === undefined || !isProven) continue
    const last = names.at(-1)
    if (last?.name === name && last.since + last.digests.length === version) last.digests.push(digest)
    else names.push({ name, since: version, digests: [digest] })
  }
  return names
}

/**
 * Renames a secret. The function encrypts the value, the description and the tags again for the new name. The secret
 * keeps its versions.
 *
 * After the rename, programs get the value only under the new name. Therefore change everything that uses the old name.
 * `namedBy` in the result lists what the server knows to use the old name. `referringTo` finds the values in the
 * environment that refer to the old name.
 *
 * @param secret a row of `client.secrets.list`. If somebody has changed the secret since you listed it, the function
 *   throws an error and does not rename the secret.
 * @returns the answer of the server, and `unproven`: the numbers of the earlier versions that the record of former
 *   names does not prove. If there are such versions, somebody stored a wrong record, or the server hides the record.
 *   The new record does not contain these versions, so clients still report them as unproven.
 * @throws DecryptionError if the value or the description cannot be decrypted; RefusedError `conflict` if the secret
 *   has changed or the new name exists; RefusedError `conflict` if the environment is protected, or if a rotation of
 *   the server writes the secret of the old or the new name; RefusedError `forbidden`, `quota_exceeded`; RefusedError
 *   `invalid_request` if the new name is not allowed; SkerryError `conflict` if the secret has changed since you listed
 *   it, `malformed_answer` if a version is missing in the history, `old_server` if the server cannot rename secrets;
 *   UnavailableError.
 * @example
 * const { secrets } = await client.secrets.list({ params: { orgId, envId } })
 * const secret = secrets.find(({ name }) => name === 'API_KEY')
 * if (secret) await renameSecret(client, orgId, secret, 'SHOP_API_KEY', key.dek)
 */
export async function renameSecret(
  client: Client,
  orgId: string,
  secret: Secret,
  newName: string,
  dek: Dek,
): Promise<Answer<typeof secrets.rename> & { unproven: number[] }> {
  const renaming = await readRenaming(client, orgId, secret)
  const sealed = await sealRenaming(renaming, newName, dek)
  return { ...(await sendRenaming(client, orgId, renaming, newName, sealed)), unproven: sealed.unproven }
}

/**
 * Sends the result of `sealRenaming` to the server, which then renames the secret.
 *
 * @throws the errors of `renameSecret` that come from the server.
 */
export async function sendRenaming(
  client: Client,
  orgId: string,
  { secret, details }: Renaming,
  newName: string,
  { ciphertext, formerNames, sealedDetails }: Omit<Awaited<ReturnType<typeof sealRenaming>>, 'unproven'>,
): Promise<Answer<typeof secrets.rename>> {
  const params = { orgId, envId: secret.environmentId, name: secret.name }
  const described =
    details && sealedDetails !== null ? { details: { sealed: sealedDetails, expectedRevision: details.revision } } : {}
  const body = { newName, ciphertext, formerNames, expectedVersion: secret.version, ...described }
  return client.secrets.rename({ params, body })
}

/**
 * Returns the names of the secrets whose values refer to the secret `name`, sorted. A value refers to the secret
 * API_KEY if it contains the text `${API_KEY}` without another `$` before it. The function leaves out a secret that it
 * cannot decrypt.
 *
 * @example const names = await referringTo((await client.secrets.list({ params: { orgId, envId } })).secrets, 'API_KEY', key.dek)
 */
export async function referringTo(
  secrets: readonly Pick<Secret, 'environmentId' | 'name' | 'ciphertext'>[],
  name: string,
  dek: Dek,
): Promise<string[]> {
  const refers = await Promise.all(
    secrets.map(async (one) => {
      const value = await openSecret(one.ciphertext, dek, one.environmentId, one.name).catch(() => '')
      return referencesIn(value).includes(name)
    }),
  )
  return secrets
    .filter((_, index) => refers[index])
    .map((one) => one.name)
    .sort()
}
