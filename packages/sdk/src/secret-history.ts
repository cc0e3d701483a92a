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

type Secret = Answer<typeof secrets.list>['secrets'][number]
type VersionsPage = Answer<typeof secrets.versions>

/** A secret by its present name. */
interface Place {
  orgId: string
  envId: string
  name: string
}

/** A version of a secret. `formerName` is the name that the secret had then, according to the server. */
type ShownVersion = StoredVersion & { formerName?: string | null }

/**
 * Returns a function that decrypts the versions of a secret. A version from before a rename is encrypted under a former
 * name. An encrypted record lists the former names of the secret, with a digest of each version, and the function uses
 * a former name only if this record proves it. All other versions can be decrypted only under the present name. A
 * hostile server can hide the record, and somebody with the key can store a wrong record. `unprovenVersions` lists the
 * versions that the record does not prove.
 *
 * @param history a page of `client.secrets.versions`.
 * @returns a function that decrypts a version. It throws a DecryptionError if the version was encrypted with a key from
 *   before a re-key, if it was changed, or if the record does not prove its former name. The record covers only the
 *   last 1,000 versions before a rename.
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
 * Lists the versions from before a rename that the record of former names does not prove. Either the server hides the
 * record or shows another ciphertext, or somebody with the key has stored a wrong record. Such a version cannot be
 * decrypted, or its value may belong to another version.
 *
 * @param history a page of `client.secrets.versions`.
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
 * Decrypts a version from before a rename, so that you can restore it or compare it with another value. If the record
 * of former names does not prove the version, the function throws an error, because a hostile server could show another
 * value of the secret as this version.
 *
 * @param history a page of `client.secrets.versions`.
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
 * Decrypts a version from before a rename, and encrypts it again under the present name, so that you can restore it.
 *
 * @returns the new ciphertext, and the current version of the secret. Returns undefined if the version already has the
 *   present name, because you can then restore it as it is.
 * @throws DecryptionError if the record of former names does not prove the version, or if the version cannot be
 *   decrypted.
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

/** The input of `sealRenaming`. You can read it without the key, and pass it to another process that has the key. */
export interface Renaming {
  secret: Pick<Secret, 'environmentId' | 'name' | 'version' | 'ciphertext'>
  /** The encrypted record of former names. Null if the secret was not renamed before. */
  formerNames: string | null
  /** All versions that were written under the present name, oldest first. */
  versions: ShownVersion[]
  details: { sealed: string; revision: number } | null
}

/**
 * Reads the data that `sealRenaming` needs.
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
 * Encrypts the value and the description of a secret under a new name, and adds the present name and its versions to
 * the record of former names. If the old record does not prove a version, the new record does not contain it, so that
 * clients still report this version.
 *
 * @returns also `unproven`: the versions that the old record does not prove.
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
 * Renames a secret. The value and the description are encrypted again under the new name. The secret keeps its
 * versions. After the rename, programs get the value only under the new name, so change everything that uses the old
 * name. `namedBy` in the result lists the uses that the server knows. `referringTo` finds values of the environment
 * that refer to the old name.
 *
 * @param secret a row of `client.secrets.list`. If somebody has changed the secret since, the rename is refused.
 * @returns also `unproven`: the earlier versions that the record of former names did not prove, because the record is
 *   wrong or the server hides it. The new record contains those of them that can be decrypted under the present name.
 * @throws DecryptionError if the value or the description cannot be decrypted; RefusedError `conflict` if the secret
 *   has changed or the new name exists; RefusedError `conflict` if the environment is protected or a rotation writes
 *   one of the names; RefusedError `forbidden`, `quota_exceeded`, `invalid_request` if the new name is not allowed;
 *   SkerryError `conflict`, `malformed_answer`, `old_server`; UnavailableError.
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

/** Sends the result of `sealRenaming` to the server, which then renames the secret. */
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
 * Returns the names of the secrets whose values contain `${NAME}` for the given name. A value that cannot be decrypted
 * is left out.
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
