/** Whether a caller's `If-None-Match` holds this tag (RFC 9110 section 13.1.2): a list, compared weakly, or any. */
export function matches(header: string | string[] | undefined, etag: string): boolean {
  if (header === etag) return true
  if (typeof header !== 'string') return false
  const tags = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}
