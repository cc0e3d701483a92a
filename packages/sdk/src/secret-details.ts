import type { Answer } from '@skerry/contract/endpoint'
import { limits } from '@skerry/contract/limits'
import type { secretDetails } from '@skerry/contract/secret-details/endpoints'
import { type DescribedSecret, openDetails, sealDetails } from '@skerry/crypto/details'
import type { Dek } from '@skerry/crypto/secret'
import type { Client } from './client.ts'
import { DecryptionError, invalid, SkerryError } from './errors.ts'
import type { EnvironmentKey, EnvironmentPlace, SecretPlace } from './secrets.ts'

type Row = Answer<typeof secretDetails.list>['details'][number]

/** The notes of people about a name in an environment. The description and the tags are decrypted. */
export interface SecretDetails extends Omit<Row, 'sealed'>, DescribedSecret {
  /** False if the key does not open the description and the tags. Then both are empty. */
  isReadable: boolean
}

/**
 * Lists the details of all names of an environment, and decrypts the descriptions and tags.
 *
 * @throws RefusedError `forbidden` without a grant, `not_found`; SkerryError `old_server`; UnavailableError.
 * @example const details = await listDetails(client, { orgId, envId }, key.dek)
 */
export async function listDetails(
  client: Client,
  { orgId, envId }: EnvironmentPlace,
  dek: Dek,
): Promise<SecretDetails[]> {
  const { details } = await client.secretDetails.list({ params: { orgId, envId } })
  return Promise.all(details.map((row) => opened(row, dek)))
}

const unwritten: DescribedSecret = { description: '', tags: [] }

async function opened({ sealed, ...row }: Row, dek: Dek): Promise<SecretDetails> {
  const text =
    sealed === null ? unwritten : await openDetails(sealed, dek, row.environmentId, row.name).catch(() => null)
  return { ...row, ...(text ?? unwritten), isReadable: text !== null }
}

/** A change of details. A field that is left out stays, and null or an empty text clears it. */
export interface DetailsChange {
  /** At most 500 characters. */
  description?: string
  /** At most 10 tags, each of at most 32 characters. */
  tags?: readonly string[]
  /** The id of a member, who is reminded before the secret expires. */
  ownerId?: string | null
  /** RFC 3339. */
  expiresAt?: string | null
  /** True if the name is missing in this environment on purpose. */
  notNeeded?: boolean
}

/**
 * Describes a secret, even if the secret does not exist yet. The description and the tags are encrypted on this
 * machine. The server can read the other details.
 *
 * @returns the details after the change; undefined if nothing is noted any more.
 * @throws RefusedError `conflict` if somebody else described the secret meanwhile, `forbidden`, `quota_exceeded`,
 *   `invalid_request` for an owner who is no member; SkerryError `invalid_request`, `old_server`; UnavailableError.
 * @example await describeSecret(client, { orgId, envId, name: 'API_KEY' }, { description: 'Reads the bucket' }, key.dek)
 */
export async function describeSecret(
  client: Client,
  { orgId, envId, name }: SecretPlace,
  { description, tags, ...plain }: DetailsChange,
  dek: Dek,
): Promise<SecretDetails | undefined> {
  const params = { orgId, envId, name }
  checkLengths({ description, tags })
  const isSealed = description !== undefined || tags !== undefined
  const before = isSealed ? (await listDetails(client, params, dek)).find((one) => one.name === name) : undefined
  // A text that this key does not open would be lost, unless both texts are written anew.
  const keepsText = description === undefined || tags === undefined
  if (before && !before.isReadable && keepsText) throw new DecryptionError(envId, name)
  const text = { description: description ?? before?.description ?? '', tags: [...(tags ?? before?.tags ?? [])] }
  const isEmpty = text.description === '' && text.tags.length === 0
  const sealed = isEmpty ? null : await sealDetails(text, dek, envId, name)
  // Control characters take more room than others.
  if ((sealed?.length ?? 0) > limits.sealedDetailsCharacters) throw invalid('description: is too long with these tags')
  const body = { ...plain, ...(isSealed && { sealed, expectedRevision: before?.revision ?? 0 }) }
  const { details } = await client.secretDetails.update({ params, body })
  return details === null ? undefined : opened(details, dek)
}

function checkLengths({ description = '', tags = [] }: Pick<DetailsChange, 'description' | 'tags'>): void {
  if ([...description].length > limits.descriptionCharacters)
    throw invalid(`description: must have at most ${limits.descriptionCharacters} characters`)
  if (tags.length > limits.tagsMax) throw invalid(`tags: must be at most ${limits.tagsMax}`)
  if (tags.some((tag) => tag === '' || [...tag].length > limits.tagCharacters))
    throw invalid(`tags: each must have 1 to ${limits.tagCharacters} characters`)
}

/**
 * Encrypts all descriptions of an environment under its new key. Returns undefined for an older server, which has no
 * descriptions. A description that cannot be decrypted is left out.
 */
export async function resealDetails(
  client: Client,
  { orgId, envId }: EnvironmentPlace,
  old: EnvironmentKey,
  key: EnvironmentKey,
): Promise<{ name: string; sealed: string | null; expectedRevision: number }[] | undefined> {
  try {
    const { details } = await client.secretDetails.list({ params: { orgId, envId } })
    const written = details.filter(({ sealed }) => sealed !== null)
    return await Promise.all(
      written.map(async (row) => {
        const { description, tags, isReadable } = await opened(row, old.dek)
        const sealed = isReadable ? await sealDetails({ description, tags }, key.dek, envId, row.name) : null
        return { name: row.name, sealed, expectedRevision: row.revision }
      }),
    )
  } catch (error) {
    if (error instanceof SkerryError && error.code === 'old_server') return undefined
    throw error
  }
}
