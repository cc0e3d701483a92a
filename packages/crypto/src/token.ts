import { bearerInfo, credentialPrefixes, idLength } from '@skerry/contract/prefixes'
import { type Bytes, decodeBase64url, encodeBase64url, encodeUtf8 } from './base64url.ts'
import { tokenHash } from './digest.ts'
import { CryptoError } from './errors.ts'
import { hkdf } from './hkdf.ts'
import {
  exportPrivateKey,
  generateKeyPair,
  importPrivateKey,
  importPrivateScalar,
  type PrivateKey,
  publicKeyJwkOf,
} from './keys.ts'
import { bytesToNumber, p256Order } from './p256.ts'
import { newId, randomBytes } from './random.ts'

/**
 * The two formats of a service token. They differ in the part after the second underscore:
 *
 * - `skerry`: a seed of 32 bytes. The bearer and the private key are both derived from the seed. The server gets only
 *   the bearer, from which nobody can compute the private key.
 * - `classic`: the private key as PKCS8. Clients that are not part of Skerry use this format. The whole token is the
 *   bearer, so the server gets the private key with each request.
 */
export type TokenFormat = 'skerry' | 'classic'

/** The parts of a service token. */
export interface ParsedToken {
  /** The id of the token. It is not secret. */
  tokenId: string
  format: TokenFormat
  /** The text that the client sends to the server in the header `Authorization`. */
  bearer: string
  /** The private key, with which the client unwraps keys of environments. */
  privateKey: PrivateKey
  /** The public key of the same key pair, a JWK as a JSON string. */
  publicKeyJwk: string
}

/** A new token. `token` is shown once; `tokenId`, `tokenHash` and `publicKeyJwk` are registered. */
export interface NewToken extends ParsedToken {
  token: string
  tokenHash: string
}

const seedLengthBytes = 32

/** 48 bytes for a 256-bit order: reducing 128 surplus bits leaves no measurable bias (FIPS 186-5 appendix A.2.1). */
const scalarMaterialLengthBytes = 48

/** A P-256 PKCS8 with its public part has 138 bytes; a DER sequence starts with 0x30. */
const classicLongerThanBytes = 100
const derSequence = 0x30

/** The id has a fixed length and no underscore, so only the first two underscores are separators. */
const tokenPattern = new RegExp(`^(${credentialPrefixes.serviceToken}[0-9A-Za-z]{${idLength}})_([A-Za-z0-9_-]+)$`)

/** If this label changes, the key of every token changes: the wrapped keys become unreadable. */
const privateKeyInfo = 'skerry/service-token/private-key/v1'

/**
 * Makes a service token.
 *
 * @example
 * const { token, tokenId, tokenHash, publicKeyJwk } = await newToken('skerry')
 * // show `token` once; register the other three
 */
export async function newToken(format: TokenFormat): Promise<NewToken> {
  const key = format === 'classic' ? await freshPkcs8() : randomBytes(seedLengthBytes)
  const token = `${newId('serviceToken')}_${encodeBase64url(key)}`
  const parsed = await parseToken(token)
  return { ...parsed, token, tokenHash: await tokenHash(parsed.bearer) }
}

/**
 * Parses a service token of either format.
 *
 * A `skerry` token and the bearer derived from it look alike (`skt_<id>_<43 characters>`), so no check prevents a token
 * in an Authorization header. Send `bearer`, never the token.
 *
 * @throws CryptoError `malformed_token`.
 * @example
 * const { bearer, privateKey } = await parseToken(token)
 * // Authorization: Bearer <bearer>
 */
export async function parseToken(token: string): Promise<ParsedToken> {
  const { tokenId, bytes, format } = splitToken(token)
  if (format === 'skerry') {
    const { bearer, privateKey } = await derive(tokenId, bytes)
    return { tokenId, format, bearer, privateKey, publicKeyJwk: publicKeyJwkOf(privateKey) }
  }
  const privateKey = await importPrivateKey(bytes).catch(() => {
    throw new CryptoError('malformed_token', 'its key is not a P-256 private key')
  })
  return { tokenId, format, bearer: token, privateKey, publicKeyJwk: publicKeyJwkOf(privateKey) }
}

/**
 * Derives the private scalar of a token, from which its signing key is derived.
 *
 * @throws CryptoError `malformed_token`, also for a token of the `classic` format, whose key the server has seen.
 */
export async function tokenScalar(token: string): Promise<bigint> {
  const { tokenId, bytes, format } = splitToken(token)
  if (format === 'classic') throw new CryptoError('malformed_token', 'a token of this format cannot sign')
  return deriveScalar(tokenId, bytes)
}

function splitToken(token: string): { tokenId: string; bytes: Bytes; format: TokenFormat } {
  const [, tokenId, rest] = (typeof token === 'string' && tokenPattern.exec(token)) || []
  if (tokenId === undefined || rest === undefined) {
    throw new CryptoError('malformed_token', `expected skt_, ${idLength} characters, an underscore and the key`)
  }
  const bytes = decodeBase64url(rest, 'malformed_token')
  if (bytes.length === seedLengthBytes) return { tokenId, bytes, format: 'skerry' }
  if (bytes.length > classicLongerThanBytes && bytes[0] === derSequence) return { tokenId, bytes, format: 'classic' }
  throw new CryptoError('malformed_token', 'its key is neither a seed nor a private key')
}

/**
 * Derives the bearer and the private key. The id is the salt: the same seed under another id gives another bearer and
 * another key.
 */
async function derive(tokenId: string, seed: Bytes): Promise<{ bearer: string; privateKey: PrivateKey }> {
  const bearer = `${tokenId}_${encodeBase64url(await hkdf(seed, encodeUtf8(tokenId), bearerInfo, 32))}`
  return { bearer, privateKey: await importPrivateScalar(await deriveScalar(tokenId, seed)) }
}

async function deriveScalar(tokenId: string, seed: Bytes): Promise<bigint> {
  const material = await hkdf(seed, encodeUtf8(tokenId), privateKeyInfo, scalarMaterialLengthBytes)
  return (bytesToNumber(material) % (p256Order - 1n)) + 1n
}

async function freshPkcs8(): Promise<Bytes> {
  const { privateKey } = await generateKeyPair()
  return exportPrivateKey(privateKey)
}
