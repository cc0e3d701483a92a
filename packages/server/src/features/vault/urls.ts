import { isLoopback } from '@skerry/contract/loopback'
import { fail } from '../../kernel/errors.ts'

/** Accepts https, and for development on one machine http on the loopback interface. Refuses a URL with credentials. */
function readUrl(text: string, place: string): URL {
  const url = URL.parse(text)
  if (!url) throw fail('invalid_request', `${place}: is not a URL`)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname)))
    throw fail('invalid_request', `${place}: must start with https://`)
  if (url.username || url.password) throw fail('invalid_request', `${place}: has credentials in it`)
  return url
}

/** Accepts an origin without a path, and returns it in its canonical spelling. */
export function readOrigin(text: string, place: string): string {
  const url = readUrl(text, place)
  if (text !== url.origin && text !== `${url.origin}/`)
    throw fail('invalid_request', `${place}: is not an origin, such as https://app.example.com`)
  return url.origin
}

/** Checks the URL to which a person is sent back: its origin must be registered on the project. */
export function readReturnUrl(text: string, origins: readonly string[], place: string): string {
  const { origin, href } = readUrl(text, place)
  if (!origins.includes(origin)) throw fail('invalid_request', `${place}: its origin is not registered on the project`)
  return href
}

/** Checks a link that people are shown. */
export function checkHttps(text: string | undefined, place: string): void {
  if (text !== undefined && readUrl(text, place).protocol !== 'https:')
    throw fail('invalid_request', `${place}: must start with https://`)
}
