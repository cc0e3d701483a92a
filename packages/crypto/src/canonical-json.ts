import canonicalize from 'canonicalize'

/**
 * Writes a JSON value in the one form that RFC 8785 defines. Hashes and signatures of JSON are computed over this text.
 *
 * @param value a value from `JSON.parse`
 * @example canonicalJson({ b: 1, a: [2] }) // '{"a":[2],"b":1}'
 */
export const canonicalJson = (value: unknown): string => canonicalize(value) ?? ''
