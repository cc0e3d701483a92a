import { type Bytes, decodeUtf8, encodeUtf8 } from './base64url.ts'
import { formatBlob, parseBlob } from './blob.ts'
import { CryptoError } from './errors.ts'
import { importAesKey, openGcm, sealGcm } from './gcm.ts'
import { newDek } from './secret.ts'
import { type KeyHolder, unwrapOwn, wrapToSelf } from './wrap.ts'

/** A person's own value of a secret. */
export interface PersonalOverride {
  /** The name of the secret. */
  name: string
  value: string
  /**
   * The first value has the revision 1. Each new value has the next number. The revision is encrypted together with the
   * value, so the server cannot change it.
   */
  revision: number
}

/** The organization, the environment and the person that an override belongs to, by id. */
export interface OverridePlace {
  orgId: string
  environmentId: string
  userId: string
}

/** A fresh key that the person wrapped to themselves, and the override encrypted with it. */
export interface SealedOverride {
  wrappedKey: string
  ciphertext: string
}

/**
 * Encrypts an override for the person alone: `so1.<iv>.<ciphertext and tag>` under a fresh key. The name is encrypted,
 * too. The key is wrapped by the person to themselves, so nobody else can read an override or make one for them.
 *
 * @throws CryptoError `malformed_text` for a value with a lone surrogate, `invalid_argument` for an ambiguous id or
 *   name, a revision that is no positive integer, or a holder that only opens blobs.
 * @example
 * const place = { orgId, environmentId: envId, userId }
 * const sealed = await sealOverride({ name: 'PORT', value: '3001', revision: 1 }, privateKey, place)
 */
export async function sealOverride(
  { name, value, revision }: PersonalOverride,
  holder: KeyHolder,
  place: OverridePlace,
): Promise<SealedOverride> {
  if (name === '' || name.includes('\n') || !isRevision(revision))
    throw new CryptoError('invalid_argument', 'expected a name of one line, and a revision from 1')
  const aad = placeOf(place)
  const plaintext = encodeUtf8(`${revision}\n${name}\n${value}`)
  const bytes = newDek()
  const { iv, ciphertext } = await sealGcm(await importAesKey(bytes), plaintext, aad)
  return { wrappedKey: await wrapToSelf(bytes, holder), ciphertext: formatBlob('so1', [iv, ciphertext]) }
}

/**
 * Decrypts an override of the person.
 *
 * @throws CryptoError `decryption_failed` for another person, environment or organization, and for an override that
 *   somebody else made; `unsupported_prefix`, `malformed_blob`; `malformed_text` for a plaintext of another form.
 * @example
 * const place = { orgId, environmentId: envId, userId }
 * const sealed = await sealOverride({ name: 'PORT', value: '3001', revision: 1 }, privateKey, place)
 * const { name, value } = await openOverride(sealed, privateKey, place)
 */
export async function openOverride(
  { wrappedKey, ciphertext: blob }: SealedOverride,
  holder: KeyHolder,
  place: OverridePlace,
): Promise<PersonalOverride> {
  const aad = placeOf(place)
  const [iv, ciphertext] = parseBlob(blob, 'so1') as [Bytes, Bytes]
  const key = await importAesKey(await unwrapOwn(wrappedKey, holder))
  return parse(decodeUtf8(await openGcm(key, iv, ciphertext, aad)))
}

function parse(text: string): PersonalOverride {
  const [, digits = '', name = '', value = ''] = /^([1-9]\d*)\n([^\n]+)\n(.*)$/s.exec(text) ?? []
  const revision = Number(digits)
  if (!isRevision(revision)) throw new CryptoError('malformed_text', 'expected a revision, a name and a value')
  return { name, value, revision }
}

const isRevision = (revision: number) => Number.isSafeInteger(revision) && revision >= 1

/** Builds the AAD. No environment id begins with `skerry-override`, so an override is never taken for a value. */
function placeOf({ orgId, environmentId, userId }: OverridePlace): Bytes {
  const ids = [orgId, environmentId, userId]
  if (ids.some((id) => id === '' || id.includes('/')))
    throw new CryptoError('invalid_argument', 'expected ids without a slash')
  return encodeUtf8(`skerry-override/v1/${ids.join('/')}`)
}
