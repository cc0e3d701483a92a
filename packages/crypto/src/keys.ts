import { type Bytes, decodeBase64url, encodeBase64url } from './base64url.ts'
import { CryptoError } from './errors.ts'
import { isUncompressedPoint, numberTo32Bytes, publicPointOf } from './p256.ts'

const algorithm = { name: 'ECDH', namedCurve: 'P-256' } as const

/** The size of a P-256 coordinate, and of a scalar. */
const coordinateLengthBytes = 32

/** A P-256 private key, and in `point` its public key (SEC1 encoding, uncompressed, 65 bytes). */
export interface PrivateKey {
  readonly key: CryptoKey
  readonly point: Bytes
}

/**
 * Makes a fresh P-256 key pair. The private key can be exported, because its owner is about to seal it under a
 * passphrase or passkey. Imported keys are not exportable by default.
 *
 * @example
 * const { privateKey, publicKeyJwk } = await generateKeyPair()
 * const pkcs8 = await exportPrivateKey(privateKey)
 */
export async function generateKeyPair(): Promise<{ privateKey: PrivateKey; publicKeyJwk: string }> {
  const pair = await crypto.subtle.generateKey(algorithm, true, ['deriveBits'])
  const point = new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey))
  return { privateKey: { key: pair.privateKey, point }, publicKeyJwk: formatPublicKeyJwk(point) }
}

/**
 * Parses the JWK JSON of a public key and returns its SEC1 uncompressed point (65 bytes). It requires `kty` EC, `crv`
 * P-256, and `x` and `y` of exactly 32 bytes each, on the curve. Other members (`key_ops`, `ext`, `kid`) are ignored. A
 * key with a private member `d` is refused, because its sender has published a private key and must learn of it.
 *
 * @throws CryptoError `malformed_key`.
 * @example const point = parsePublicKeyJwk('{"crv":"P-256","kty":"EC","x":"...","y":"..."}')
 */
export function parsePublicKeyJwk(publicKeyJwk: string): Bytes {
  const jwk = parseObject(publicKeyJwk)
  if (Object.hasOwn(jwk, 'd'))
    throw new CryptoError('malformed_key', 'a public key must not contain the private part (d)')
  if (jwk.kty !== 'EC' || jwk.crv !== 'P-256') throw new CryptoError('malformed_key', 'expected kty EC, crv P-256')
  const point = new Uint8Array(1 + 2 * coordinateLengthBytes)
  point[0] = 4
  point.set(decodeCoordinate(jwk.x), 1)
  point.set(decodeCoordinate(jwk.y), 1 + coordinateLengthBytes)
  if (!isUncompressedPoint(point)) throw new CryptoError('malformed_key', 'the point is not on the curve')
  return point
}

/**
 * Writes a SEC1 uncompressed point as `publicKeyJwk`. The text is always the same for the same key: the required
 * members in lexicographic order, as RFC 7638 hashes them.
 *
 * @throws CryptoError `malformed_key` for bytes that are no point of P-256.
 * @example formatPublicKeyJwk(privateKey.point) // '{"crv":"P-256","kty":"EC","x":"...","y":"..."}'
 */
export function formatPublicKeyJwk(point: Uint8Array): string {
  if (!isUncompressedPoint(point)) throw new CryptoError('malformed_key', 'the point is not on the curve')
  const x = encodeBase64url(point.subarray(1, 1 + coordinateLengthBytes))
  const y = encodeBase64url(point.subarray(1 + coordinateLengthBytes))
  return JSON.stringify({ crv: 'P-256', kty: 'EC', x, y })
}

/**
 * Imports a SEC1 uncompressed point as a public key for key agreement.
 *
 * @throws CryptoError `malformed_key` for a compressed, infinite, over-long or off-curve point.
 * @example const key = await importPublicPoint(parsePublicKeyJwk(publicKeyJwk))
 */
export async function importPublicPoint(point: Bytes): Promise<CryptoKey> {
  if (!isUncompressedPoint(point)) throw new CryptoError('malformed_key', 'the point is not on the curve')
  return crypto.subtle.importKey('raw', point, algorithm, true, [])
}

/**
 * Imports a private key from PKCS8 DER. The DER should contain the public part, which RFC 5915 leaves optional.
 * Published clients and {@link exportPrivateKey} write it, and WebKit refuses to import a key without it.
 *
 * @param options.extractable whether {@link exportPrivateKey} works on it. Default: false.
 * @throws CryptoError `malformed_key` for anything but a P-256 private key: another curve, RSA, truncated DER, bytes
 *   after its end.
 * @example
 * const pkcs8 = await exportPrivateKey(privateKey)
 * const imported = await importPrivateKey(pkcs8)
 */
export async function importPrivateKey(pkcs8: Bytes, options: { extractable?: boolean } = {}): Promise<PrivateKey> {
  if (!isOneDerSequence(pkcs8)) throw new CryptoError('malformed_key', 'expected exactly one DER sequence')
  try {
    const readable = await crypto.subtle.importKey('pkcs8', pkcs8, algorithm, true, ['deriveBits'])
    const { x, y } = await crypto.subtle.exportKey('jwk', readable)
    const point = parsePublicKeyJwk(JSON.stringify({ kty: 'EC', crv: 'P-256', x, y }))
    if (options.extractable) return { key: readable, point }
    return { key: await crypto.subtle.importKey('pkcs8', pkcs8, algorithm, false, ['deriveBits']), point }
  } catch {
    throw new CryptoError('malformed_key', 'expected a P-256 private key in PKCS8 format')
  }
}

/**
 * Imports a private scalar as a private key that cannot be exported. It is for keys derived from a seed.
 *
 * @throws CryptoError `invalid_argument` unless 0 < scalar < n, the order of the curve.
 * @example const privateKey = await importPrivateScalar(5n)
 */
export async function importPrivateScalar(scalar: bigint): Promise<PrivateKey> {
  const point = publicPointOf(scalar)
  const jwk = { ...JSON.parse(formatPublicKeyJwk(point)), d: encodeBase64url(numberTo32Bytes(scalar)) }
  return { key: await crypto.subtle.importKey('jwk', jwk, algorithm, false, ['deriveBits']), point }
}

/**
 * Exports a private key as PKCS8 DER. The caller should seal it at once.
 *
 * @throws CryptoError `invalid_argument` for a key that was not made exportable.
 * @example const pkcs8 = await exportPrivateKey(privateKey)
 */
export async function exportPrivateKey(privateKey: PrivateKey): Promise<Bytes> {
  if (!privateKey.key.extractable) throw new CryptoError('invalid_argument', 'this private key cannot be exported')
  return new Uint8Array(await crypto.subtle.exportKey('pkcs8', privateKey.key))
}

/**
 * Returns the public half of a private key as `publicKeyJwk`. Only `point` is needed.
 *
 * @example publicKeyJwkOf(privateKey) // '{"crv":"P-256","kty":"EC","x":"...","y":"..."}'
 */
export function publicKeyJwkOf({ point }: Pick<PrivateKey, 'point'>): string {
  return formatPublicKeyJwk(point)
}

function parseObject(json: string): Record<string, unknown> {
  let value: unknown
  try {
    value = typeof json === 'string' ? JSON.parse(json) : undefined
  } catch {
    throw new CryptoError('malformed_key', 'expected a JWK in JSON format')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new CryptoError('malformed_key', 'expected a JWK object as a string')
  }
  return value as Record<string, unknown>
}

/**
 * Whether bytes are exactly one DER sequence. Platforms ignore bytes after it, which would give one key many spellings.
 */
function isOneDerSequence(bytes: Uint8Array): boolean {
  const [tag, first = 0, ...more] = bytes.subarray(0, 4)
  if (tag !== 0x30) return false
  if (first < 0x80) return bytes.length === 2 + first
  if (first === 0x81) return bytes.length === 3 + more[0]!
  return first === 0x82 && bytes.length === 4 + more[0]! * 256 + more[1]!
}

function decodeCoordinate(member: unknown): Bytes {
  const bytes = decodeBase64url(member as string, 'malformed_key')
  if (bytes.length !== coordinateLengthBytes) throw new CryptoError('malformed_key', 'a coordinate must have 32 bytes')
  return bytes
}
