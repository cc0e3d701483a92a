import { type Bytes, decodeBase64url, encodeBase64url, encodeUtf8 } from '../base64url.ts'
import { fingerprint, sha256 } from '../digest.ts'
import { CryptoError } from '../errors.ts'
import { hkdf } from '../hkdf.ts'
import { formatPublicKeyJwk, importPrivateKey, type PrivateKey, parsePublicKeyJwk } from '../keys.ts'
import { bytesToNumber, numberTo32Bytes, p256Order, publicPointOf } from '../p256.ts'
import { formatPrintedCode, parsePrintedCode } from '../printed-code.ts'
import { randomBytes } from '../random.ts'
import { tokenScalar } from '../token.ts'
import { malformed } from './refusal.ts'

/** The public key of a signer as roots contain it: the four members that RFC 7638 hashes. */
interface SigningJwk {
  crv: 'P-256'
  kty: 'EC'
  x: string
  y: string
}

/** A key that signs documents: in this process, or in a program or device that keeps it. */
export interface DirectorySigner {
  /** RFC 7638 thumbprint of the public key. */
  readonly kid: string
  readonly jwk: SigningJwk
  /** ECDSA P-256 with SHA-256: r and s of 32 bytes each. */
  sign(bytes: Bytes): Promise<Bytes>
}

const ecdsa = { name: 'ECDSA', namedCurve: 'P-256' } as const
const ecdsaSha256 = { name: 'ECDSA', hash: 'SHA-256' } as const

/** If a label changes, every signing key changes, and no root knows any signer. */
const signingInfo = 'skerry/signing-key/v1'
const rescueInfo = 'skerry/rescue-key/v1'
const rescueCheckLabel = 'skerry/rescue-key/check/v1/'
const noSalt: Bytes = new Uint8Array(0)

/** 48 bytes for a 256-bit order: reducing 128 surplus bits leaves no measurable bias (FIPS 186-5 appendix A.2.1). */
const scalarMaterialLengthBytes = 48
const rescueSecretLengthBytes = 16

/**
 * Derives the signing key of a person from their private key. The same private key always gives the same signing key,
 * which reveals nothing about the private key.
 *
 * @param privateKey must be exportable.
 * @throws CryptoError `invalid_argument` for a key that was not made exportable.
 * @example const directorySigner = await signerOfPerson(privateKey)
 */
export async function signerOfPerson(privateKey: PrivateKey): Promise<DirectorySigner> {
  if (!privateKey.key.extractable) throw new CryptoError('invalid_argument', 'this private key cannot be exported')
  const { d } = await crypto.subtle.exportKey('jwk', privateKey.key)
  return signerOfSecret(decodeBase64url(d!), signingInfo)
}

/**
 * Derives the signing key of an admin token. Only tokens that keep their key apart from their bearer can sign. The server
 * has seen the key of a classic token.
 *
 * @throws CryptoError `malformed_token`, also for a classic token.
 * @example const directorySigner = await signerOfToken(token)
 */
export async function signerOfToken(token: string): Promise<DirectorySigner> {
  return signerOfSecret(numberTo32Bytes(await tokenScalar(token)), signingInfo)
}

/**
 * Makes a signer from a PKCS8 that exists on one machine alone. `newSigningMaterial('ecdsa-p256-sha256')` makes one.
 *
 * @throws CryptoError `malformed_key`.
 * @example const directorySigner = await signerOfMachine(pkcs8)
 */
export async function signerOfMachine(pkcs8: Bytes): Promise<DirectorySigner> {
  const { point } = await importPrivateKey(pkcs8)
  return signerOf(await crypto.subtle.importKey('pkcs8', pkcs8, ecdsa, false, ['sign']), point)
}

/**
 * Makes the printed code of a rescue key: 28 letters and digits in seven groups of four, with hyphens between the
 * groups. The code contains a check of 12 bits. Show it once. With the codes of enough rescue keys anyone can change
 * the root.
 *
 * @example const rescueCode = await newRescueCode() // 'G5TN-8Q0W-…', seven groups
 */
export const newRescueCode = (): Promise<string> =>
  formatPrintedCode(randomBytes(rescueSecretLengthBytes), rescueCheckLabel)

/**
 * Reads the printed code of a rescue key, as people type it. A code has 128 random bits, as strong as P-256 itself.
 *
 * @throws CryptoError `malformed_code` for a mistyped code, and for a code of another kind.
 * @example const directorySigner = await signerOfRescueCode(await newRescueCode())
 */
export async function signerOfRescueCode(typed: string): Promise<DirectorySigner> {
  return signerOfSecret(await parsePrintedCode(typed, rescueCheckLabel), rescueInfo)
}

async function signerOfSecret(secret: Bytes, info: string): Promise<DirectorySigner> {
  const material = await hkdf(secret, noSalt, info, scalarMaterialLengthBytes)
  const scalar = (bytesToNumber(material) % (p256Order - 1n)) + 1n
  const point = publicPointOf(scalar)
  const jwk = { ...(JSON.parse(formatPublicKeyJwk(point)) as SigningJwk), d: encodeBase64url(numberTo32Bytes(scalar)) }
  return signerOf(await crypto.subtle.importKey('jwk', jwk, ecdsa, false, ['sign']), point)
}

async function signerOf(key: CryptoKey, point: Bytes): Promise<DirectorySigner> {
  const publicKeyJwk = formatPublicKeyJwk(point)
  return {
    kid: await fingerprint(publicKeyJwk),
    jwk: JSON.parse(publicKeyJwk) as SigningJwk,
    sign: async (bytes) => new Uint8Array(await crypto.subtle.sign(ecdsaSha256, key, bytes)),
  }
}

/** A key that a root names. `kid` was compared with the key. */
export interface NamedKey {
  kid: string
  jwk: SigningJwk
}

/**
 * Refuses a key whose `kid` is not its own thumbprint, so that a kid stands for one key everywhere.
 *
 * @throws CryptoError `directory_malformed`.
 */
export async function requireOwnKid({ kid, jwk: { crv, kty, x, y } }: NamedKey): Promise<void> {
  if (kid !== encodeBase64url(await sha256(encodeUtf8(JSON.stringify({ crv, kty, x, y })))))
    throw malformed('a kid is not the thumbprint of its key')
}

/** The signatures of a document, and the bytes that they cover. */
interface Signed {
  signed: Bytes
  signatures: readonly { kid: string; sig: string }[]
}

/** Verifies the signatures by these keys -> the kids of the valid ones. It ignores signatures by other keys. */
export async function validKids(document: Signed, keys: readonly NamedKey[]): Promise<ReadonlySet<string>> {
  const jwks = new Map(keys.map(({ kid, jwk }) => [kid, jwk]))
  const verified = await Promise.all(
    document.signatures.map(async ({ kid, sig }) => {
      const jwk = jwks.get(kid)
      return jwk !== undefined && (await isSigned(document.signed, decodeBase64url(sig), jwk)) ? [kid] : []
    }),
  )
  return new Set(verified.flat())
}

async function isSigned(bytes: Bytes, signature: Bytes, jwk: SigningJwk): Promise<boolean> {
  const key = await importVerifier(jwk)
  return crypto.subtle.verify(ecdsaSha256, key, signature, bytes)
}

async function importVerifier(jwk: SigningJwk): Promise<CryptoKey> {
  try {
    return await crypto.subtle.importKey('raw', parsePublicKeyJwk(JSON.stringify(jwk)), ecdsa, false, ['verify'])
  } catch (error) {
    if (error instanceof CryptoError) throw malformed('a key is not a point of P-256')
    throw error
  }
}
