/**
 * Whether the `If-None-Match` header of a caller matches this tag (RFC 9110 section 13.1.2). The header is `*` or a
 * list, which is compared weakly.
 */
export function matches(header: string | string[] | undefined, etag: string): boolean {
  if (header === etag) return true
  if (typeof header !== 'string') return false
  const tags = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}
