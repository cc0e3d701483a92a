import canonicalize from 'canonicalize'

/**
 * The one spelling that RFC 8785 gives a JSON value. Hashes and signatures over JSON are over this text.
 *
 * @param value as `JSON.parse` gives it
 * @example canonicalJson({ b: 1, a: [2] }) // '{"a":[2],"b":1}'
 */
export const canonicalJson = (value: unknown): string => canonicalize(value) ?? ''
