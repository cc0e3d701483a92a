import { isLoopback } from '@skerry/contract/loopback'
import { invalid } from './errors.ts'

/**
 * Checks a base URL and writes it in one way, without a slash at the end. Plain `http:` is allowed for this machine
 * only, because anyone on the network could read the bearer.
 *
 * @param options.setting the name of the setting in error messages. Default: `baseUrl`
 * @throws SkerryError `invalid_request` that names the setting.
 * @example parseBaseUrl('https://skerry.example.com/') // 'https://skerry.example.com'
 */
export function parseBaseUrl(baseUrl: string, options: { allowInsecure?: boolean; setting?: string } = {}): string {
  const { setting = 'baseUrl' } = options
  let url: URL
  try {
    url = new URL(baseUrl)
  } catch {
    throw invalid(`${setting}: must be an absolute URL, such as https://skerry.example.com`)
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw invalid(`${setting}: must start with https://`)
  if (url.username || url.password) throw invalid(`${setting}: must not contain a user name or password`)
  if (url.search || url.hash) throw invalid(`${setting}: must not contain a query (?) or a fragment (#)`)
  if (url.protocol === 'http:' && !options.allowInsecure && !isThisMachine(url.hostname)) {
    throw invalid(
      `${setting}: http:// would send the credential unencrypted to another machine; use https://, or set allowInsecure`,
    )
  }
  return url.origin + url.pathname.replace(/\/+$/, '')
}

/** Names below `localhost` count too: RFC 6761 section 6.3 keeps them on this machine. */
const isThisMachine = (hostname: string) => isLoopback(hostname) || hostname.endsWith('.localhost')
