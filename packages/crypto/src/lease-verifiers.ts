import { base62 } from '@skerry/contract/prefixes'
import { type Bytes, encodeBase64url, encodeUtf8 } from './base64url.ts'
import { sha256 } from './digest.ts'
import { CryptoError } from './errors.ts'
import { randomBytes } from './random.ts'

// Verifiers that a client sends instead of the password of a lease. A verifier is enough to create an account, but not
// to sign in.

const passwordLength = 40
const saltLengthBytes = 16

/** PostgreSQL's own default. A higher number slows down every sign-in, and adds nothing to a random password. */
const scramIterations = 4096

/** The largest multiple of 62 that a byte can hold. */
const rejectFrom = 248

/**
 * Makes a fresh password for a lease: 40 letters and digits (238 bits), which need no quoting in URLs, shells and
 * statements. The first character is a letter. The password must be random, because two of the three verifiers have no
 * salt.
 *
 * @example newLeasePassword() // 'x4Tq...'
 */
export function newLeasePassword(): string {
  let password = ''
  while (password.length < passwordLength) {
    for (const byte of randomBytes(passwordLength)) {
      const character = byte < rejectFrom ? base62[byte % base62.length]! : ''
      if (password.length < passwordLength && (password !== '' || /[A-Za-z]/.test(character))) password += character
    }
  }
  return password
}

/**
 * Makes a SCRAM-SHA-256 verifier as PostgreSQL stores it (RFC 5802 and RFC 7677):
 * `SCRAM-SHA-256$4096:<salt>$<StoredKey>:<ServerKey>`.
 *
 * @param password printable ASCII, which SASLprep does not change.
 * @param salt default: 16 fresh random bytes.
 * @throws CryptoError `invalid_argument` for other passwords.
 * @example const verifier = await scramVerifier(newLeasePassword())
 */
export async function scramVerifier(password: string, salt: Bytes = randomBytes(saltLengthBytes)): Promise<string> {
  const key = await crypto.subtle.importKey('raw', checkedPassword(password), 'PBKDF2', false, ['deriveBits'])
  const derivation = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: scramIterations }
  const salted = new Uint8Array(await crypto.subtle.deriveBits(derivation, key, 256))
  const [clientKey, serverKey] = await Promise.all([hmac(salted, 'Client Key'), hmac(salted, 'Server Key')])
  const storedKey = await sha256(clientKey)
  return `SCRAM-SHA-256$${scramIterations}:${base64(salt)}$${base64(storedKey)}:${base64(serverKey)}`
}

/**
 * Makes a `mysql_native_password` hash: `*` and SHA1(SHA1(password)) in upper-case hex.
 *
 * @throws CryptoError `invalid_argument` for passwords that are not printable ASCII.
 * @example const verifier = await nativePasswordHash(newLeasePassword())
 */
export async function nativePasswordHash(password: string): Promise<string> {
  const once = await crypto.subtle.digest('SHA-1', checkedPassword(password))
  return `*${hex(new Uint8Array(await crypto.subtle.digest('SHA-1', once))).toUpperCase()}`
}

/**
 * Computes the SHA-256 of the password in lower-case hex, as Redis takes it.
 *
 * @throws CryptoError `invalid_argument` for passwords that are not printable ASCII.
 * @example const verifier = await redisVerifier(newLeasePassword())
 */
export async function redisVerifier(password: string): Promise<string> {
  return hex(await sha256(checkedPassword(password)))
}

function checkedPassword(password: string): Bytes {
  if (!/^[\u0020-\u007e]+$/.test(password))
    throw new CryptoError('invalid_argument', 'a password must be printable ASCII')
  return encodeUtf8(password)
}

async function hmac(secret: Bytes, text: string): Promise<Bytes> {
  const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, encodeUtf8(text)))
}

const hex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Encodes bytes as standard base64 with padding. */
export function base64(bytes: Uint8Array): string {
  const text = encodeBase64url(bytes).replaceAll('-', '+').replaceAll('_', '/')
  return text.padEnd(Math.ceil(text.length / 4) * 4, '=')
}
