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
 * The two forms of a service token, told apart by what follows the second underscore:
 *
 * - `skerry`: 32 bytes, a seed. The bearer and the private key are both derived from it, so what the server sees in an
 *   Authorization header tells nothing about the key.
 * - `classic`: the PKCS8 of the private key, as the published clients write it. The whole token is the bearer.
 */
export type TokenFormat = 'skerry' | 'classic'

/** What a client needs of a token. `bearer` goes to the server, `privateKey` stays. */
export interface ParsedToken {
  tokenId: string
  format: TokenFormat
  bearer: string
  privateKey: PrivateKey
  publicKeyJwk: string
}

/** A token at its birth: `token` is shown once; `tokenId`, `tokenHash` and `publicKeyJwk` are registered. */
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

/** The id is fixed in length and has no underscore, so only the first two underscores separate. */
const tokenPattern = new RegExp(`^(${credentialPrefixes.serviceToken}[0-9A-Za-z]{${idLength}})_([A-Za-z0-9_-]+)$`)

/** Changing it changes every token: the wrapped keys would no longer be readable. */
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
 * Reads a service token of either form.
 *
 * The token of our own form and the bearer derived from it look alike (`skt_<id>_<43 characters>`), so nothing but care
 * keeps a token out of an Authorization header: send `bearer`, never the input.
 *
 * @throws CryptoError `malformed_token`.
 * @example
 * const { bearer, privateKey } = await parseToken(token)
 * // Authorization: Bearer <bearer>
 */
export async function parseToken(token: string): Promise<ParsedToken> {
  const [, tokenId, rest] = (typeof token === 'string' && tokenPattern.exec(token)) || []
  if (tokenId === undefined || rest === undefined) {
    throw new CryptoError('malformed_token', `expected skt_, ${idLength} characters, an underscore, key material`)
  }
  const bytes = decodeBase64url(rest, 'malformed_token')
  if (bytes.length === seedLengthBytes) {
    const { bearer, privateKey } = await derive(tokenId, bytes)
    return { tokenId, format: 'skerry', bearer, privateKey, publicKeyJwk: publicKeyJwkOf(privateKey) }
  }
  if (bytes.length > classicLongerThanBytes && bytes[0] === derSequence) {
    const privateKey = await importPrivateKey(bytes).catch(() => {
      throw new CryptoError('malformed_token', 'the key part is no P-256 private key')
    })
    return { tokenId, format: 'classic', bearer: token, privateKey, publicKeyJwk: publicKeyJwkOf(privateKey) }
  }
  throw new CryptoError('malformed_token', 'the key part is neither a seed nor a private key')
}

/** The id is the salt: the same seed under another id is another bearer and another key. */
async function derive(tokenId: string, seed: Bytes): Promise<{ bearer: string; privateKey: PrivateKey }> {
  const salt = encodeUtf8(tokenId)
  const bearer = `${tokenId}_${encodeBase64url(await hkdf(seed, salt, bearerInfo, 32))}`
  const material = await hkdf(seed, salt, privateKeyInfo, scalarMaterialLengthBytes)
  const scalar = (bytesToNumber(material) % (p256Order - 1n)) + 1n
  return { bearer, privateKey: await importPrivateScalar(scalar) }
}

async function freshPkcs8(): Promise<Bytes> {
  const { privateKey } = await generateKeyPair()
  return exportPrivateKey(privateKey)
}
