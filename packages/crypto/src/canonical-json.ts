import canonicalize from 'canonicalize'
import { CryptoError } from './errors.ts'

/**
 * Writes a JSON value in the one form that RFC 8785 defines. Hashes and signatures of JSON are computed over this text.
 *
 * @param value a value from `JSON.parse`
 * @throws CryptoError `malformed_text` for a lone surrogate and for a value that JSON does not have.
 * @example canonicalJson({ b: 1, a: [2] }) // '{"a":[2],"b":1}'
 */
export function canonicalJson(value: unknown): string {
  let text: string | undefined
  try {
    text = canonicalize(value)
  } catch {
    throw new CryptoError('malformed_text', 'RFC 8785 has no form for it')
  }
  if (text === undefined) throw new CryptoError('malformed_text', 'it is no JSON value')
  return text
}
