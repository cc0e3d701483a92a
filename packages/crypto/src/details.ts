import { type Bytes, decodeUtf8, encodeUtf8 } from './base64url.ts'
import { formatBlob, parseBlob } from './blob.ts'
import { CryptoError } from './errors.ts'
import { openGcm, sealGcm } from './gcm.ts'
import type { Dek } from './secret.ts'

/** The texts that people write about a secret. Clients encrypt these texts. */
export interface DescribedSecret {
  description: string
  tags: string[]
}

/**
 * Encrypts the description and the tags of a secret: `sd1.<iv>.<ciphertext and tag>`. The blob decrypts only for this
 * name in this environment, and never as a value.
 *
 * @throws CryptoError `invalid_argument` for an ambiguous environment id or name.
 * @example const sealed = await sealDetails({ description: 'Reads the bucket', tags: ['google'] }, dek, envId, 'KEY')
 */
export async function sealDetails(
  { description, tags }: DescribedSecret,
  dek: Dek,
  environmentId: string,
  name: string,
): Promise<string> {
  const plaintext = encodeUtf8(JSON.stringify({ description, tags }))
  const { iv, ciphertext } = await sealGcm(dek.key, plaintext, placeOf(environmentId, name))
  return formatBlob('sd1', [iv, ciphertext])
}

/**
 * Decrypts the description and the tags of a secret.
 *
 * @throws CryptoError `unsupported_prefix`, `malformed_blob`, `decryption_failed`, `malformed_text` for a plaintext of
 *   another form, `invalid_argument`.
 * @example
 * const sealed = await sealDetails({ description: 'Reads the bucket', tags: [] }, dek, envId, 'KEY')
 * const { description, tags } = await openDetails(sealed, dek, envId, 'KEY')
 */
export async function openDetails(
  blob: string,
  dek: Dek,
  environmentId: string,
  name: string,
): Promise<DescribedSecret> {
  const [iv, ciphertext] = parseBlob(blob, 'sd1') as [Bytes, Bytes]
  return parse(decodeUtf8(await openGcm(dek.key, iv, ciphertext, placeOf(environmentId, name))))
}

function parse(text: string): DescribedSecret {
  try {
    const { description, tags } = JSON.parse(text)
    if (typeof description === 'string' && Array.isArray(tags) && tags.every((tag) => typeof tag === 'string'))
      return { description, tags }
  } catch {
    // falls through: no JSON, or no object
  }
  throw new CryptoError('malformed_text', 'expected a description and tags')
}

/**
 * Builds the AAD. A value has `<environmentId>/<NAME>`, and no environment id begins with `skerry-details`, so a server
 * cannot pass off a description as a value or a value as a description.
 */
function placeOf(environmentId: string, name: string): Bytes {
  if (environmentId === '' || environmentId.includes('/') || name === '')
    throw new CryptoError('invalid_argument', 'expected an environment id without a slash, and a name')
  return encodeUtf8(`skerry-details/v1/${environmentId}/${name}`)
}
