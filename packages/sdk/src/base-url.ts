import { invalid } from './errors.ts'

/**
 * Checks where requests will go and spells it in one way, without a slash at the end. Plain `http:` is for this machine
 * only, because anyone on the way could read the bearer.
 *
 * @throws SkerryError `invalid_request`.
 * @example parseBaseUrl('https://skerry.example.com/') // 'https://skerry.example.com'
 */
export function parseBaseUrl(baseUrl: string, options: { allowInsecure?: boolean } = {}): string {
  let url: URL
  try {
    url = new URL(baseUrl)
  } catch {
    throw invalid('baseUrl: an absolute URL expected')
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw invalid('baseUrl: https:// expected')
  if (url.username || url.password) throw invalid('baseUrl: no user or password belongs there')
  if (url.search || url.hash) throw invalid('baseUrl: no query or fragment belongs there')
  if (url.protocol === 'http:' && !options.allowInsecure && !isLoopback(url.hostname)) {
    throw invalid('baseUrl: http:// to another machine would show the credential; use https://, or allowInsecure')
  }
  return url.origin + url.pathname.replace(/\/+$/, '')
}

/** `localhost` and below never leave the machine (RFC 6761 section 6.3); the URL parser has normalized addresses. */
function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  )
}
