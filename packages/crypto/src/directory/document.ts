import { type Bytes, decodeBase64url, encodeBase64url, encodeUtf8 } from '../base64url.ts'
import { sha256 } from '../digest.ts'
import { malformed } from './refusal.ts'
import { canonicalBytes, hash, list, object, parseCanonical, requireShape, signature64 } from './shape.ts'
import type { DirectorySigner } from './signing.ts'

/** A root, and a head. Another kind of document gets another prefix. */
type DocumentPrefix = 'or1' | 'od1'

interface DocumentSignature {
  /** RFC 7638 thumbprint of the key that signed. */
  kid: string
  /** 64 bytes in base64url. */
  sig: string
}

/** A document whose form was checked, but no signature. */
export interface ParsedDocument<Body = unknown> {
  prefix: DocumentPrefix
  body: Body
  /** SHA-256 of the body, base64url. Other documents and pins name this one by it. */
  hash: string
  /** The bytes that every signature covers: prefix, dot, body. */
  signed: Bytes
  signatures: readonly DocumentSignature[]
}

export const bodyBytesMax = 65_536
export const signaturesMax = 32

/** Longer than any valid document, so that a hostile answer is refused before it is decoded. */
const textCharactersMax = 100_000

const signaturesShape = list(object({ kid: hash, sig: signature64 }), 1, signaturesMax)

const signedBytes = (prefix: DocumentPrefix, body: Bytes): Bytes => {
  const start = encodeUtf8(`${prefix}.`)
  const signed = new Uint8Array(start.length + body.length)
  signed.set(start)
  signed.set(body, start.length)
  return signed
}

/**
 * Signs a body: `<prefix>.<base64url body>.<base64url signatures>`. The signatures are in the order of their kids.
 *
 * @throws CryptoError `directory_malformed` for no signer, too many, the same one twice, or a body that is too large.
 * @example const text = await signDocument('od1', headBody, [directorySigner])
 */
export async function signDocument(
  prefix: DocumentPrefix,
  body: unknown,
  signers: readonly DirectorySigner[],
): Promise<string> {
  const bytes = canonicalBytes(body)
  if (bytes.length > bodyBytesMax) throw malformed('its body is larger than 64 KiB')
  const signed = signedBytes(prefix, bytes)
  const signatures = await Promise.all(
    signers.map(async ({ kid, sign }) => ({ kid, sig: encodeBase64url(await sign(signed)) })),
  )
  return formatDocument(prefix, bytes, signatures)
}

/**
 * Adds the signature of another signer. The hash of the document stays. A second signature by the same signer replaces
 * the first one.
 *
 * @throws CryptoError `directory_malformed`.
 * @example const text = await addSignature('or1', rootText, directorySigner)
 */
export async function addSignature(prefix: DocumentPrefix, text: string, signer: DirectorySigner): Promise<string> {
  const { signed, signatures } = await parseDocument(prefix, text)
  const added = { kid: signer.kid, sig: encodeBase64url(await signer.sign(signed)) }
  const others = signatures.filter(({ kid }) => kid !== signer.kid)
  return formatDocument(prefix, signed.slice(prefix.length + 1), [...others, added])
}

function formatDocument(prefix: DocumentPrefix, body: Bytes, signatures: readonly DocumentSignature[]): string {
  const sorted = signatures.toSorted((one, other) => (one.kid < other.kid ? -1 : 1))
  requireSignatures(sorted)
  return `${prefix}.${encodeBase64url(body)}.${encodeBase64url(canonicalBytes(sorted))}`
}

/**
 * Parses a document and refuses every spelling but one. It checks no signature and no member of the body.
 *
 * @throws CryptoError `directory_malformed`.
 */
export async function parseDocument(prefix: DocumentPrefix, text: string): Promise<ParsedDocument> {
  if (typeof text !== 'string' || text.length > textCharactersMax) throw malformed('it is too long')
  const [start, bodyText, signatureText, ...more] = text.split('.')
  if (start !== prefix) throw malformed(`it does not start with ${prefix}`)
  if (!bodyText || !signatureText || more.length > 0) throw malformed('it does not have three parts')
  const bytes = decodeBase64url(bodyText, 'directory_malformed')
  if (bytes.length > bodyBytesMax) throw malformed('its body is larger than 64 KiB')
  const body = parseCanonical(bytes)
  const signatures = parseCanonical(decodeBase64url(signatureText, 'directory_malformed'))
  requireSignatures(signatures)
  return { prefix, body, hash: encodeBase64url(await sha256(bytes)), signed: signedBytes(prefix, bytes), signatures }
}

/** The order is fixed, so that a set of signatures has one spelling and no kid can be repeated. */
function requireSignatures(value: unknown): asserts value is DocumentSignature[] {
  requireShape('signatures', signaturesShape, value)
  const signatures = value as DocumentSignature[]
  for (const [index, { kid }] of signatures.entries())
    if (index > 0 && kid <= signatures[index - 1]!.kid)
      throw malformed('its signatures are not in the order of their kids')
}
