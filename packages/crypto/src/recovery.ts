import { type Bytes, encodeUtf8 } from './base64url.ts'
import { CryptoError } from './errors.ts'
import { exportPrivateKey, importPrivateKey, type PrivateKey, parsePublicKeyJwk, publicKeyJwkOf } from './keys.ts'
import { type KeyHolder, unwrapKey, wrapKey } from './wrap.ts'

const signing = { name: 'ECDSA', namedCurve: 'P-256' } as const
const signature = { name: 'ECDSA', hash: 'SHA-256' } as const
const signatureLengthBytes = 64

/** The binding of a share. A share is valid for nothing else, whatever a server says about it. */
export interface SharePlace {
  orgId: string
  /** From 1. */
  shareIndex: number
  threshold: number
}

/** A share as its custodian opens it: the recovery key’s signature, then the share. */
export type Share = Bytes

/**
 * Splits the recovery key into shares. `threshold` of them together give it back, and fewer reveal nothing. Each share
 * is signed with the recovery key itself, so that a program that combines shares can identify a false one.
 *
 * @param privateKey must be exportable. Discard it once the shares are wrapped.
 * @returns one share for each index from 1 to `count`, in order.
 * @throws CryptoError `invalid_argument` unless 2 <= threshold <= count <= 255, and for a key that cannot be exported.
 * @example const shares = await splitRecoveryKey(privateKey, { orgId, threshold: 3, count: 5 })
 */
export async function splitRecoveryKey(
  privateKey: PrivateKey,
  { orgId, threshold, count }: { orgId: string; threshold: number; count: number },
): Promise<Share[]> {
  if (!Number.isInteger(threshold) || !Number.isInteger(count) || threshold < 2 || threshold > count || count > 255)
    throw new CryptoError('invalid_argument', 'expected 2 <= threshold <= count <= 255')
  const { split } = await import('shamir-secret-sharing')
  const pkcs8 = await exportPrivateKey(privateKey)
  const signer = await crypto.subtle.importKey('pkcs8', pkcs8, signing, false, ['sign'])
  const parts = await split(pkcs8, count, threshold)
  pkcs8.fill(0)
  return Promise.all(
    parts.map(async (part, index) => {
      const signed = signedBytes({ orgId, threshold, shareIndex: index + 1 }, new Uint8Array(part))
      return joined(new Uint8Array(await crypto.subtle.sign(signature, signer, signed)), new Uint8Array(part))
    }),
  )
}

/**
 * Whether a share belongs to this recovery key, and was made for this organization, index and threshold.
 *
 * @throws CryptoError `malformed_key` for the public key.
 * @example
 * const share = await unwrapKey(blob, privateKey)
 * await isShareOf(share, recoveryPublicKeyJwk, { orgId, shareIndex: 1, threshold: 3 })
 */
export async function isShareOf(share: Share, recoveryPublicKeyJwk: string, place: SharePlace): Promise<boolean> {
  const point = parsePublicKeyJwk(recoveryPublicKeyJwk)
  if (share.length <= signatureLengthBytes) return false
  const verifier = await crypto.subtle.importKey('raw', point, signing, false, ['verify'])
  const signed = signedBytes(place, share.slice(signatureLengthBytes))
  return crypto.subtle.verify(signature, verifier, share.slice(0, signatureLengthBytes), signed)
}

/**
 * Makes a custodian’s contribution: opens their share, checks that it belongs to the recovery key, and wraps it to the
 * target. The server supplies the target’s public key: compare its words with the target first.
 *
 * @throws CryptoError `decryption_failed` if the share is not wrapped to this key, or does not belong to the recovery
 *   key; `malformed_blob`, `malformed_key`.
 * @example
 * const place = { orgId, shareIndex: 1, threshold: 3 }
 * const contributedShare = await rewrapShare(blob, privateKey, targetPublicKeyJwk, recoveryPublicKeyJwk, place)
 */
export async function rewrapShare(
  wrappedShare: string,
  holder: KeyHolder,
  targetPublicKeyJwk: string,
  recoveryPublicKeyJwk: string,
  place: SharePlace,
): Promise<string> {
  const share = await unwrapKey(wrappedShare, holder)
  if (!(await isShareOf(share, recoveryPublicKeyJwk, place)))
    throw new CryptoError('decryption_failed', 'the text is not a share of this recovery key')
  return wrapKey(share, targetPublicKeyJwk)
}

/**
 * Combines the recovery key from shares that {@link isShareOf} has accepted.
 *
 * @throws CryptoError `decryption_failed` if there are too few shares, or if they belong to another key.
 * @example
 * const shares = await splitRecoveryKey(recoveryKey, { orgId, threshold: 3, count: 5 })
 * const combined = await combineShares(shares.slice(0, 3), recoveryPublicKeyJwk)
 */
export async function combineShares(shares: readonly Share[], recoveryPublicKeyJwk: string): Promise<PrivateKey> {
  const { combine } = await import('shamir-secret-sharing')
  try {
    const pkcs8 = new Uint8Array(await combine(shares.map((share) => share.slice(signatureLengthBytes))))
    const privateKey = await importPrivateKey(pkcs8)
    pkcs8.fill(0)
    const expected = publicKeyJwkOf({ point: parsePublicKeyJwk(recoveryPublicKeyJwk) })
    if (publicKeyJwkOf(privateKey) === expected) return privateKey
  } catch {
    // Too few shares give random bytes, which are mostly no valid key.
  }
  throw new CryptoError('decryption_failed', 'these shares do not combine to the recovery key')
}

/** Builds the signed text. If its label changes, every share becomes unusable. */
function signedBytes({ orgId, shareIndex, threshold }: SharePlace, part: Bytes): Bytes {
  return joined(encodeUtf8(`skerry/recovery-share/v1/${orgId}/${shareIndex}/${threshold}/`), part)
}

function joined(first: Bytes, second: Bytes): Bytes {
  const bytes = new Uint8Array(first.length + second.length)
  bytes.set(first)
  bytes.set(second, first.length)
  return bytes
}
