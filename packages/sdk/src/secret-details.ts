import type { Answer } from '@skerry/contract/endpoint'
import { limits } from '@skerry/contract/limits'
import type { secretDetails } from '@skerry/contract/secret-details/endpoints'
import { type DescribedSecret, openDetails, sealDetails } from '@skerry/crypto/details'
import type { Dek } from '@skerry/crypto/secret'
import type { Client } from './client.ts'
import type { EnvironmentKey, EnvironmentPlace } from './environment-key.ts'
import { DecryptionError, invalid, SkerryError } from './errors.ts'
import type { SecretPlace } from './secrets.ts'

/** The details of a secret in a response of the server. The description and the tags are encrypted in `sealed`. */
type Row = Answer<typeof secretDetails.list>['details'][number]

/**
 * The details of a secret: notes that people write about the secret, for one environment. The description and the tags
 * are decrypted.
 */
export interface SecretDetails extends Omit<Row, 'sealed'>, DescribedSecret {
  /** False if the given key does not decrypt the description and the tags. `description` and `tags` are then empty. */
  isReadable: boolean
}

/**
 * Lists the details of all secrets of an environment, and decrypts their descriptions and tags.
 *
 * @throws RefusedError `forbidden` if the caller has no grant, `not_found`; SkerryError `old_server`; UnavailableError.
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

/**
 * A change of the details of a secret. A field that you leave out does not change. Null, an empty text or an empty list
 * clears a field.
 */
export interface DetailsChange {
  /** The description of the secret, at most 500 characters. */
  description?: string
  /** At most 10 tags. Each tag has 1 to 32 characters. */
  tags?: readonly string[]
  /** The id of the member who is the owner. The server reminds this member before the secret expires. */
  ownerId?: string | null
  /** The time at which the secret expires, in the format of RFC 3339: `2027-01-31T00:00:00Z`. */
  expiresAt?: string | null
  /** True if this environment does not need the secret. The dashboard then does not show the secret as missing. */
  notNeeded?: boolean
}

/**
 * Changes the details of a secret. The secret need not exist yet. The function encrypts the description and the tags on
 * this machine. The server can read the other details.
 *
 * @returns the details after the change, or undefined if all of them are empty.
 * @throws RefusedError `forbidden`, `quota_exceeded`; RefusedError `conflict` if somebody else changed the details at
 *   the same time; RefusedError `invalid_request` if the owner is not a member; SkerryError `invalid_request` if a text
 *   is too long, `old_server` if the server has no details; DecryptionError if you give only one of `description` and
 *   `tags`, and the function cannot decrypt the other one. It needs the other one because both are encrypted together;
 *   UnavailableError.
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
 * Decrypts the descriptions and tags of all secrets of an environment with the old key, and encrypts them with the new
 * key, for a re-key. If the function cannot decrypt a text, it leaves the text out, so the re-key deletes the text.
 *
 * @param old the present key of the environment.
 * @param key the new key of the environment.
 * @returns the list for the field `details` in the body of a re-key. Undefined if the server is older than this feature
 *   and stores no details.
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
