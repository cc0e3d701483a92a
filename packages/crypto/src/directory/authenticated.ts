import { type Bytes, decodeBase64url, encodeBase64url, encodeUtf8 } from '../base64url.ts'
import { CryptoError } from '../errors.ts'
import { hkdf } from '../hkdf.ts'
import { malformed } from './refusal.ts'
import { type Check, canonicalBytes, parseCanonical, requireShape } from './shape.ts'

const hmacSha256 = { name: 'HMAC', hash: 'SHA-256' } as const
const macLengthBytes = 32
const textCharactersMax = 8192

/** A kind of text that two holders of one secret exchange: `<prefix>.<base64url body>.<base64url HMAC-SHA256>`. */
export interface AuthenticatedKind {
  prefix: string
  /** The label under which the HMAC key is derived. Another label for each prefix, so that a text has one direction. */
  info: string
  shape: Check
}

const noSalt: Bytes = new Uint8Array(0)

async function hmacKey(secret: Bytes, info: string): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', await hkdf(secret, noSalt, info, 32), hmacSha256, false, ['sign', 'verify'])
}

const signedBytes = (prefix: string, body: Bytes): Bytes => Uint8Array.of(...encodeUtf8(`${prefix}.`), ...body)

/** @throws CryptoError `directory_malformed` for a body of another shape. */
export async function authenticate(
  { prefix, info, shape }: AuthenticatedKind,
  secret: Bytes,
  body: object,
): Promise<string> {
  requireShape(prefix, shape, body)
  const bytes = canonicalBytes(body)
  const key = await hmacKey(secret, info)
  const mac = new Uint8Array(await crypto.subtle.sign('HMAC', key, signedBytes(prefix, bytes)))
  return `${prefix}.${encodeBase64url(bytes)}.${encodeBase64url(mac)}`
}

/** @throws CryptoError `not_authentic`, `directory_malformed`, `directory_unsupported`. */
export async function openAuthenticated(
  { prefix, info, shape }: AuthenticatedKind,
  secret: Bytes,
  text: string,
): Promise<unknown> {
  if (typeof text !== 'string' || text.length > textCharactersMax) throw malformed('it is too long')
  const [start, bodyText, macText, ...more] = text.split('.')
  if (start !== prefix || !bodyText || !macText || more.length > 0)
    throw malformed(`it is not ${prefix} with a body and a code`)
  const bytes = decodeBase64url(bodyText, 'directory_malformed')
  const mac = decodeBase64url(macText, 'directory_malformed')
  if (mac.length !== macLengthBytes) throw malformed('its code must have 32 bytes')
  const key = await hmacKey(secret, info)
  if (!(await crypto.subtle.verify('HMAC', key, mac, signedBytes(prefix, bytes))))
    throw new CryptoError('not_authentic')
  const body = parseCanonical(bytes)
  if ((body as { v?: unknown } | null)?.v !== 1)
    throw new CryptoError('directory_unsupported', 'it has another version')
  requireShape(prefix, shape, body)
  return body
}
